"""OpenAI's chat completions API, for OpenAI and compatible servers."""

import hashlib
import re
from collections.abc import Iterator, Sequence
from itertools import zip_longest

import httpx

from jitchat.providers.protocols import calls, protocol
from jitchat.providers.protocols.addresses import base_of
from jitchat.providers.protocols.protocol import Item
from jitchat.providers.protocols.refusals import stopped
from jitchat.providers.provider import (
    UNREASONED,
    Endpoint,
    Finished,
    Options,
    Piece,
    ReasoningDelta,
)
from jitchat.text.json_values import amount, at, count, list_of, text_at, text_of
from jitchat.values import (
    Message,
    ToolCall,
    Usage,
)
from jitchat.writing.calls import arguments_text
from jitchat.writing.pieces import WritingRules

_THOUGHTS, _DETAILS = ("reasoning_content", "reasoning"), "reasoning_details"
"""Fields in which servers send reasoning; some require them back with a call."""
_STREAMED_FIELDS = ("text", "summary", "data")
_BESIDE = ("extra_content", "provider_specific_fields")
"""Fields in which Gemini's own endpoint and litellm put a call's signature."""
_CAPS = ("max_tokens", "max_completion_tokens")


def _cap(options: Options, *, by_openai: bool) -> str:
    """Return the parameter that limits the answer's length; the alternative if one is refused."""
    usual, other = reversed(_CAPS) if by_openai else _CAPS
    return other if usual in options.without else usual


class OpenAiParser(protocol.AnswerParser):
    """Parses one answer, chunk by chunk."""

    def __init__(self) -> None:
        super().__init__()
        self._thoughts = _Thoughts()
        self._calls = calls.ToolCalls(_BESIDE)

    def _read(self, _: str, chunk: dict[str, object]) -> Iterator[Piece]:
        choice = next(iter(list_of(chunk.get("choices"))), None)
        part = at(choice, "delta")
        yield from self._part(at(choice, "message") if part is None else part)
        if reason := text_at(choice, "finish_reason"):
            yield from self.end()
            if at(choice, "error"):
                raise stopped(choice)
            yield Finished(reason)
        yield from self._counted(chunk)

    def _part(self, part: object) -> Iterator[Piece]:
        content = at(part, "content")
        if thought := _thought(part, content):
            self._text.reasoned()
            yield ReasoningDelta(thought)
        if thought or (isinstance(part, dict) and _DETAILS in part):
            self._thoughts.take(part)
        for text in (content, at(part, "refusal")):
            if text:
                yield from self._text.text(text_of(text))
        self._calls.add(at(part, "tool_calls"))
        if call := at(part, "function_call"):
            self._calls.add([{"index": 0, "function": call}])

    def _echo(self) -> object:
        beside = self._calls.beside if any(self._calls.beside) else []
        return protocol.filled({**self._thoughts.whole(), "tool_calls": beside}) or None

    def _counted(self, chunk: dict[str, object]) -> Iterator[Usage]:
        usage = chunk.get("usage") or at(chunk.get("x_groq"), "usage")
        if not usage:
            return
        sent = count(at(usage, "prompt_tokens"))
        answered = count(at(usage, "completion_tokens"))
        reasoning = count(at(usage, "completion_tokens_details", "reasoning_tokens"))
        with_reasoning = (answered or 0) + (reasoning or 0)
        if reasoning and at(usage, "total_tokens") == (sent or 0) + with_reasoning:
            answered = with_reasoning  # xAI counts reasoning separately
        details = at(usage, "prompt_tokens_details")
        self._counts.take(
            sent=sent,
            answered=answered,
            cached=count(at(details, "cached_tokens"), at(usage, "prompt_cache_hit_tokens")),
            written=count(at(details, "cache_write_tokens"), at(usage, "cache_write_tokens")),
            reasoning=reasoning,
        )
        self._counts.cost = _charged(usage, self._counts.cost)
        if known := self._counts.usage(self._counts.sum("sent"), self._counts.sum("answered")):
            yield known


class _Thoughts:
    """Collects the reasoning of an answer under the field name in which it arrived."""

    def __init__(self) -> None:
        self._texts: dict[str, list[str]] = {}
        self._details: list[tuple[Item, dict[str, list[str]]]] = []
        """Each detail with its streamed fields."""

    def take(self, part: object) -> None:
        for name in _THOUGHTS:
            if text := text_at(part, name):
                self._texts.setdefault(name, []).append(text)
        for detail in list_of(at(part, _DETAILS)):
            if isinstance(detail, dict):
                self._add(detail)

    def whole(self) -> Item:
        """Return the reasoning under one field name, the most detailed one."""
        if self._details:
            joined = [
                detail | {name: "".join(texts) for name, texts in chunks.items()}
                for detail, chunks in self._details
            ]
            return {_DETAILS: joined}
        return {name: "".join(texts) for name, texts in list(self._texts.items())[:1]}

    def _add(self, detail: Item) -> None:
        """Add a detail, or extend the last one, whose texts are streamed."""
        kind = (detail.get("type"), detail.get("index"))
        last = self._details[-1][0] if self._details else {}
        if not last or (last.get("type"), last.get("index")) != kind:
            self._details.append(({}, {}))
        known, chunks = self._details[-1]
        known.update({name: each for name, each in detail.items() if each is not None})
        for name in _STREAMED_FIELDS:
            if name in detail:
                chunks.setdefault(name, []).append(text_at(detail, name))


def _thought(part: object, content: object) -> str:
    """Return a chunk's reasoning once, even if several fields repeat it."""
    for name in _THOUGHTS:
        if text := text_at(part, name):
            return text
    details = at(part, _DETAILS)
    if isinstance(details, list):
        return "".join(text_at(item, "text") or text_at(item, "summary") for item in details)
    if isinstance(content, list):  # Mistral's
        return "".join(text_of(at(item, "thinking")) for item in content)
    return ""


def _charged(usage: object, before: float | None) -> float | None:
    """Return the cost that OpenRouter or litellm reports; `before` if none is reported.

    OpenRouter's 0 means free; without its details, 0 comes from a proxy that does not know the
    price. With a key of the user's own, the vendor's charge is added to OpenRouter's.
    """
    cost = amount(at(usage, "cost"))
    details = at(usage, "cost_details")
    if cost is None or not (cost or details):
        return before
    upstream = amount(at(details, "upstream_inference_cost"))
    return cost + (upstream or 0.0) if at(usage, "is_byok") is True else cost


_MISTRAL_ID = re.compile("[a-zA-Z0-9]{9}")


def _call_id(call_id: str, host: str) -> str:
    """Return an id that the server accepts; Mistral refuses those of other servers."""
    if host != "api.mistral.ai" or _MISTRAL_ID.fullmatch(call_id):
        return call_id
    return hashlib.sha256(call_id.encode()).hexdigest()[:9]


def _item(message: Message, host: str) -> Item:
    if message.use.answers is not None:
        call_id = _call_id(message.use.answers.id, host)
        return {"role": "tool", "tool_call_id": call_id, "content": message.content}
    item: Item = {"role": message.role.value, "content": message.content}
    if message.pictures:
        urls = [{"url": protocol.data_url(picture)} for picture in message.pictures]
        images = [{"type": "image_url", "image_url": url} for url in urls]
        item["content"] = [*images, {"type": "text", "text": message.content}]
    echo = protocol.echo_of(message)
    fields = echo if isinstance(echo, dict) else {}
    item |= {name: fields[name] for name in (*_THOUGHTS, _DETAILS) if name in fields}
    if message.use.calls:
        item["content"] = message.content or None
        item["tool_calls"] = _call_items(message.use.calls, list_of(fields.get("tool_calls")), host)
    return item


def _call_items(calls: Sequence[ToolCall], beside: Sequence[object], host: str) -> list[Item]:
    """Encode calls; `beside` has further fields of each, as received."""
    return [
        {
            "id": _call_id(call.id, host),
            "type": "function",
            "function": {"name": call.name, "arguments": arguments_text(call)},
            **(more if isinstance(more, dict) else {}),
        }
        for call, more in zip_longest(calls, beside[: len(calls)])
    ]


def _url(endpoint: Endpoint) -> httpx.URL:
    return httpx.URL(f"{base_of(endpoint.base_url, 'openai')}/chat/completions")


def _is_openai(endpoint: Endpoint) -> bool:
    try:
        return _url(endpoint).host == "api.openai.com"
    except httpx.InvalidURL:  # making the request reports it
        return False


class OpenAiProtocol:
    """`POST {base_url}/chat/completions`, answered with server-sent events."""

    name = "openai"
    parser = OpenAiParser

    def rules(self, endpoint: Endpoint, options: Options) -> WritingRules:
        requires = WritingRules(
            joins=not _is_openai(endpoint),
            alternates=True,
            marks_errors=True,
            blank_reasoning=UNREASONED in options.without,
        )
        return calls.rules_for(endpoint, self.name, options, requires)

    def request(
        self, endpoint: Endpoint, messages: Sequence[Message], options: Options
    ) -> httpx.Request:
        url = _url(endpoint)
        by_openai, without = url.host == "api.openai.com", options.without
        schema = protocol.named_schema(options)
        tools = calls.functions(options)
        body: dict[str, object] = {
            "model": endpoint.model,
            "tools": tools,
            "tool_choice": options.tool_choice if tools else None,
            "messages": [_item(message, url.host) for message in messages],
            "stream": True,
            "stream_options": {"include_usage": True},
            _cap(options, by_openai=by_openai): options.max_tokens,
            "temperature": options.temperature,
            "top_p": options.top_p,
            "top_k": None if by_openai else options.top_k,
            "seed": options.seed,
            "reasoning_effort": options.effort,
            "response_format": schema and {"type": "json_schema", "json_schema": schema},
        }
        return protocol.json_request(endpoint, "openai", url, protocol.filled(body, without))
