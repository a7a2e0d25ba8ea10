"""Google's Gemini API."""

import json
from collections.abc import Iterator, Sequence
from urllib.parse import quote

import httpx

from jitchat.errors import RequestRefused
from jitchat.providers import provider
from jitchat.providers.protocols import protocol
from jitchat.providers.protocols.addresses import base_of
from jitchat.providers.protocols.json_values import at, count, first, json_text, list_of, text_at
from jitchat.providers.protocols.refusals import SAY_OTHERWISE, with_words
from jitchat.text.sanitize import shorten
from jitchat.values import Message, Role, Usage

_NAMES = {
    "max_tokens": "maxOutputTokens",
    "top_p": "topP",
    "top_k": "topK",
    "effort": "thinkingConfig",
    "thinkingLevel": "thinkingConfig",
    "systemInstruction": "system",
}
"""Other names for what may be refused."""


_ROLES = {Role.USER: "user", Role.ASSISTANT: "model"}


def _path(model: str) -> str:
    """Write the model's path, which its name in Google's list already is."""
    name = model.strip().strip("/")
    return quote(name if "/" in name else f"models/{name}", safe="/@", errors="replace")


class GeminiParser(protocol.AnswerParser):
    """Reads one answer. Nothing tells that a stream is over but its end."""

    def __init__(self) -> None:
        super().__init__()
        self._last: Usage | None = None

    def _read(self, _: str, chunk: dict[str, object]) -> Iterator[provider.Piece]:
        candidate = first(chunk.get("candidates"))
        for part in list_of(at(candidate, "content", "parts")):
            if text := text_at(part, "text"):
                is_thought = at(part, "thought") is True
                yield provider.ReasoningDelta(text) if is_thought else provider.ReplyDelta(text)
            if name := text_at(part, "functionCall", "name"):
                arguments = json_text(at(part, "functionCall", "args") or {})
                yield provider.ToolCall(name, arguments)
        yield from self._counted(chunk)
        if reason := text_at(candidate, "finishReason"):
            yield provider.Finished(reason)
        if candidate is None and (blocked := text_at(chunk, "promptFeedback", "blockReason")):
            said = shorten(text_at(chunk, "promptFeedback", "blockReasonMessage"), 200)
            what = f"The provider blocked the message ({shorten(blocked, 60)})"
            raise RequestRefused(with_words(what, said), SAY_OTHERWISE)

    def _counted(self, chunk: dict[str, object]) -> Iterator[Usage]:
        """Yield the counts where they changed; reasoning is counted beside the answer."""
        usage = chunk.get("usageMetadata")
        self._counts.take(
            sent=count(at(usage, "promptTokenCount")),
            answered=count(at(usage, "candidatesTokenCount")),
            cached=count(at(usage, "cachedContentTokenCount")),
            reasoning=count(at(usage, "thoughtsTokenCount")),
        )
        answered = self._counts.sum("answered", "reasoning")
        known = self._counts.usage(self._counts.sum("sent"), answered)
        if known is not None and known != self._last:
            self._last = known
            yield known


class GeminiProtocol:
    """`POST {base_url}/models/MODEL:streamGenerateContent`, answered with server-sent events.

    The key is a header: an address with a key in it would show up in logs.
    """

    parser = GeminiParser

    def request(
        self, endpoint: provider.Endpoint, messages: Sequence[Message], options: provider.Options
    ) -> httpx.Request:
        without = frozenset(_NAMES.get(name, name) for name in options.without)
        window = protocol.dialogue(messages, folding="system" in without, user_first=True)
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
            "systemInstruction": {"parts": [{"text": window.system}]} if window.system else None,
            "contents": [
                {"role": _ROLES[run.role], "parts": [{"text": text} for text in run.texts]}
                for run in window.runs
            ],
            "generationConfig": protocol.filled(settings, without),
        }
        base = base_of(endpoint.base_url, "gemini")
        url = f"{base}/{_path(endpoint.model)}:streamGenerateContent?alt=sse"
        return protocol.json_request(endpoint, "gemini", url, protocol.filled(body, without))
