"""Google's Gemini API."""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from urllib.parse import quote

import httpx

from jitchat.attachments import Picture
from jitchat.errors import RequestRefused
from jitchat.providers import provider
from jitchat.providers.protocols import calls, protocol
from jitchat.providers.protocols.addresses import base_of
from jitchat.providers.protocols.protocol import Item
from jitchat.providers.protocols.refusals import REPHRASE, with_words
from jitchat.text.json_values import at, count, first, list_of, text_at
from jitchat.text.sanitize import shorten
from jitchat.values import Message, Role, Tool, ToolCall, Usage
from jitchat.writing.calls import (
    arguments_object,
    given_id,
    schema_of,
)
from jitchat.writing.pieces import WritingRules

_NAMES = {
    "max_tokens": "maxOutputTokens",
    "top_p": "topP",
    "top_k": "topK",
    "effort": "thinkingConfig",
    "thinkingLevel": "thinkingConfig",
    "systemInstruction": "system",
    "tool_choice": "toolConfig",
    "functionCallingConfig": "toolConfig",
}
"""Aliases of refused parts."""


_SIGNATURE = "thoughtSignature"
_UNSIGNED = "skip_thought_signature_validator"
"""Documented by Google as the signature for a call that another model made."""
_WANTS_SIGNATURES = re.compile(r"gemini-(?:[3-9]|[1-9]\d)(?!\d)|gemini-[a-z-]+-latest")


def _path(model: str) -> str:
    """Return the model's path; names in Google's list are paths already."""
    name = model.strip().strip("/")
    return quote(name if "/" in name else f"models/{name}", safe="/@", errors="replace")


class GeminiParser(protocol.AnswerParser):
    """Parses one answer. Only the end of the stream shows that it is complete."""

    def __init__(self) -> None:
        super().__init__()
        self._last: Usage | None = None
        self._parts: list[Item] = []
        """The answer's parts in order, without summaries of reasoning."""
        self._text_so_far: list[str] = []
        """Chunks of the current part of plain text."""

    def _read(self, _: str, chunk: dict[str, object]) -> Iterator[provider.Piece]:
        candidate = first(chunk.get("candidates"))
        for part in list_of(at(candidate, "content", "parts")):
            if text := text_at(part, "text"):
                is_thought = at(part, "thought") is True
                yield provider.ReasoningDelta(text) if is_thought else provider.ReplyDelta(text)
            if isinstance(part, dict):
                self._take(part)
        yield from self._calls.taken()
        yield from self._counted(chunk)
        if reason := text_at(candidate, "finishReason"):
            yield from self.end()
            yield provider.Finished(reason)
        if candidate is None and (blocked := text_at(chunk, "promptFeedback", "blockReason")):
            words = shorten(text_at(chunk, "promptFeedback", "blockReasonMessage"), 200)
            what = f"The provider blocked the message ({shorten(blocked, 60)})"
            raise RequestRefused(with_words(what, words), REPHRASE)

    def _take(self, part: Item) -> None:
        call = part.get("functionCall")
        if text_at(call, "name"):
            function = {"name": at(call, "name"), "arguments": at(call, "args") or {}}
            self._calls.add_whole([{"id": at(call, "id"), "function": function}])
        is_thought, is_signed = part.get("thought") is True, _SIGNATURE in part
        if is_thought and not is_signed:
            return
        if part.keys() == {"text"}:
            self._text_so_far.append(text_at(part, "text"))
        else:
            self._end_text()
            self._parts.append(part)

    def _end_text(self) -> None:
        if text := "".join(self._text_so_far):
            self._parts.append({"text": text})
        self._text_so_far = []

    def _echo(self) -> object:
        self._end_text()
        return self._parts if any(_SIGNATURE in part for part in self._parts) else None

    def _counted(self, chunk: dict[str, object]) -> Iterator[Usage]:
        """Yield the counts if they changed; reasoning is counted separately from the answer."""
        usage = chunk.get("usageMetadata")
        self._counts.take(
            sent=count(at(usage, "promptTokenCount")),
            tools=count(at(usage, "toolUsePromptTokenCount")),
            answered=count(at(usage, "candidatesTokenCount")),
            cached=count(at(usage, "cachedContentTokenCount")),
            reasoning=count(at(usage, "thoughtsTokenCount")),
        )
        answered = self._counts.sum("answered", "reasoning")
        known = self._counts.usage(self._counts.sum("sent", "tools"), answered)
        if known is not None and known != self._last:
            self._last = known
            yield known


def _declared(tool: Tool) -> Item:
    """Declare a tool, omitting a schema without properties."""
    schema = schema_of(tool)
    parameters = schema if schema["properties"] else None
    return protocol.filled(
        {
            "name": tool.name,
            "description": tool.description,
            "parametersJsonSchema": parameters,
        }
    )


def _choosing(choice: str | None) -> Item | None:
    return {"functionCallingConfig": {"mode": choice.upper()}} if choice else None


def _role(message: Message) -> str:
    return "model" if message.role is Role.ASSISTANT else "user"


def _image_part(picture: Picture) -> Item:
    data = protocol.encoded(picture)
    return {"inlineData": {"mimeType": picture.media_type, "data": data}}


def _parts(message: Message, unsigned: Item) -> list[object]:
    """Return the parts of a message; `unsigned` is added to a call without a signature."""
    if (answered := message.use.answers) is not None:
        response = {"error" if message.use.is_error else "output": message.content}
        return [{"functionResponse": _identity(answered) | {"response": response}}]
    echo = protocol.echo_of(message)
    if isinstance(echo, list):
        return echo
    parts: list[object] = [_image_part(picture) for picture in message.pictures]
    if message.content:
        parts.append({"text": message.content})
    for number, call in enumerate(message.use.calls):
        called = {"functionCall": _identity(call) | {"args": arguments_object(call)}}
        parts.append(called if number else called | unsigned)
    return parts


def _identity(call: ToolCall) -> Item:
    return protocol.filled({"id": given_id(call.id), "name": call.name})


def _names_of(refused: Iterable[str]) -> frozenset[str]:
    return frozenset(_NAMES.get(name, name) for name in refused)


class GeminiProtocol:
    """`POST {base_url}/models/MODEL:streamGenerateContent`, answered with server-sent events.

    The key is sent in a header, because a key in the URL would show up in logs.
    """

    name = "gemini"
    parser = GeminiParser

    def rules(self, endpoint: provider.Endpoint, options: provider.Options) -> WritingRules:
        requires = WritingRules(user_first=True, alternates=True, names_results=True)
        known = replace(options, without=_names_of(options.without))
        return calls.rules_for(endpoint, self.name, known, requires)

    def request(
        self, endpoint: provider.Endpoint, messages: Sequence[Message], options: provider.Options
    ) -> httpx.Request:
        without = _names_of(options.without)
        tools = calls.offered(options)
        system = [{"text": each.content} for each in messages if each.role is Role.SYSTEM]
        sent = [message for message in messages if message.role is not Role.SYSTEM]
        unsigned: Item = {_SIGNATURE: _UNSIGNED} if _WANTS_SIGNATURES.search(endpoint.model) else {}
        settings = {
            "maxOutputTokens": options.max_tokens,
            "temperature": options.temperature,
            "topP": options.top_p,
            "topK": options.top_k,
            "seed": options.seed,
            "thinkingConfig": {"thinkingLevel": options.effort} if options.effort else None,
            "responseMimeType": "application/json" if options.schema else None,
            "responseJsonSchema": json.loads(options.schema) if options.schema else None,
        }
        body = {
            "systemInstruction": {"parts": system} if system else None,
            "tools": [{"functionDeclarations": list(map(_declared, tools))}] if tools else None,
            "toolConfig": _choosing(options.tool_choice) if tools else None,
            "contents": [
                {"role": role, "parts": [part for each in group for part in _parts(each, unsigned)]}
                for role, group in groupby(sent, key=_role)
            ],
            "generationConfig": protocol.filled(settings, without),
        }
        base = base_of(endpoint.base_url, "gemini")
        url = f"{base}/{_path(endpoint.model)}:streamGenerateContent?alt=sse"
        return protocol.json_request(endpoint, "gemini", url, protocol.filled(body, without))
