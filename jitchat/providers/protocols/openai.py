"""OpenAI's chat completions, as OpenAI and everything compatible with it speaks them."""

from collections.abc import Iterator, Sequence

import httpx

from jitchat.providers.protocols import protocol
from jitchat.providers.protocols.addresses import base_of
from jitchat.providers.protocols.json_values import amount, at, count, list_of, text_at, text_of
from jitchat.providers.protocols.refusals import stopped
from jitchat.providers.provider import Endpoint, Finished, Options, Piece, ReasoningDelta
from jitchat.values import Message, Usage

_CAPS = ("max_tokens", "max_completion_tokens")


def _cap(options: Options, *, by_openai: bool) -> str:
    """Name the parameter that limits an answer's length: the other one where one is refused."""
    usual, other = reversed(_CAPS) if by_openai else _CAPS
    return other if usual in options.without else usual


class OpenAiParser(protocol.AnswerParser):
    """Reads one answer, chunk by chunk."""

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
        for text in (content, at(part, "refusal")):
            if text:
                yield from self._text.text(text_of(text))
        self._calls.add(at(part, "tool_calls"))
        if call := at(part, "function_call"):
            self._calls.add([{"index": 0, "function": call}])

    def _counted(self, chunk: dict[str, object]) -> Iterator[Usage]:
        usage = chunk.get("usage") or at(chunk.get("x_groq"), "usage")
        if not usage:
            return
        sent = count(at(usage, "prompt_tokens"))
        answered = count(at(usage, "completion_tokens"))
        reasoning = count(at(usage, "completion_tokens_details", "reasoning_tokens"))
        with_reasoning = (answered or 0) + (reasoning or 0)
        if reasoning and at(usage, "total_tokens") == (sent or 0) + with_reasoning:
            answered = with_reasoning  # as at xAI, which counts it apart
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


def _thought(part: object, content: object) -> str:
    """Read a chunk's reasoning, once, however many fields repeat it."""
    for name in ("reasoning_content", "reasoning"):
        if text := text_at(part, name):
            return text
    details = at(part, "reasoning_details")
    if isinstance(details, list):
        return "".join(text_at(item, "text") or text_at(item, "summary") for item in details)
    if isinstance(content, list):  # Mistral's
        return "".join(text_of(at(item, "thinking")) for item in content)
    return ""


def _charged(usage: object, before: float | None) -> float | None:
    """Read what OpenRouter and litellm say that the request costs; `before` where they do not.

    OpenRouter's 0 is one; without its details, 0 is a proxy that knows no price. With a key of
    one's own, what the vendor charges comes on top of OpenRouter's part.
    """
    cost = amount(at(usage, "cost"))
    details = at(usage, "cost_details")
    if cost is None or not (cost or details):
        return before
    upstream = amount(at(details, "upstream_inference_cost"))
    return cost + (upstream or 0.0) if at(usage, "is_byok") is True else cost


class OpenAiProtocol:
    """`POST {base_url}/chat/completions`, answered with server-sent events."""

    parser = OpenAiParser

    def request(
        self, endpoint: Endpoint, messages: Sequence[Message], options: Options
    ) -> httpx.Request:
        url = httpx.URL(f"{base_of(endpoint.base_url, 'openai')}/chat/completions")
        by_openai, without = url.host == "api.openai.com", options.without
        schema = protocol.named_schema(options)
        window = protocol.dialogue(messages, merging=not by_openai, folding="system" in without)
        body = {
            "model": endpoint.model,
            "messages": window.as_objects(),
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
