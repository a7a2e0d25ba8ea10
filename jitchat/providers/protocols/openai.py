"""OpenAI's chat completions, as OpenAI and everything compatible with it speaks them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import httpx

from jitchat.errors import NotAnAnswer
from jitchat.providers.protocols.refusals import CHECK_URL, stopped
from jitchat.providers.protocols.registry import base_of
from jitchat.providers.protocols.requests import as_objects, credentials, filled, json_request
from jitchat.providers.protocols.responses import (
    CountsSoFar,
    ToolCalls,
    amount,
    at,
    count,
    first_count,
    parsed,
    text_at,
    text_of,
)
from jitchat.providers.protocols.thinking import ThinkTags
from jitchat.providers.provider import Endpoint, Finished, Options, Piece, ReasoningDelta
from jitchat.values import Message, Usage

_CAPS = ("max_tokens", "max_completion_tokens")


class OpenAiProtocol:
    """`POST {base_url}/chat/completions`, answered with server-sent events."""

    def request(
        self, endpoint: Endpoint, messages: Sequence[Message], options: Options
    ) -> httpx.Request:
        """Make the request; the body has the same bytes for the same window."""
        url = httpx.URL(f"{base_of(endpoint.base_url, 'openai')}/chat/completions")
        by_openai = url.host == "api.openai.com"
        body = {
            "model": endpoint.model,
            "messages": as_objects(
                messages, merging=not by_openai, folding="system" in options.without
            ),
            "stream": True,
            "stream_options": {"include_usage": True},
            _cap(options, by_openai=by_openai): options.max_tokens,
            "temperature": options.temperature,
            "top_p": options.top_p,
            "top_k": None if by_openai else options.top_k,
            "seed": options.seed,
            "reasoning_effort": options.effort,
        }
        headers = {"Accept": "text/event-stream"} | credentials(endpoint, "openai")
        return json_request(endpoint, url, headers, filled(body, options.without))

    def parser(self) -> OpenAiParser:
        """Make what reads the answer."""
        return OpenAiParser()


class OpenAiParser:
    """Reads one answer; a chunk of which nothing is known says nothing."""

    def __init__(self) -> None:
        self.over = False
        self._text = ThinkTags()
        self._calls = ToolCalls()
        self._counts = CountsSoFar()

    def parse(self, event: str, data: str) -> Iterator[Piece]:
        """Yield what one chunk says, or each of several in a list."""
        if not data.startswith("{"):
            data = data.strip()
            if data == "[DONE]":
                yield from self.end()
                self.over = True
            if data in ("", "[DONE]"):
                return
        value = parsed(data)
        for chunk in value if isinstance(value, list) and value else (value,):
            yield from self._chunk(event, chunk)

    def end(self) -> Iterator[Piece]:
        """Yield what was held back: text that might have become a tag, and tool calls."""
        yield from self._text.end()
        yield from self._calls.taken()

    def _chunk(self, event: str, chunk: object) -> Iterator[Piece]:
        if not isinstance(chunk, dict):
            yield from self._text.end()
            raise NotAnAnswer("The server sent an event that is not a JSON object.", CHECK_URL)
        usage = chunk.get("usage") or at(chunk.get("x_groq"), "usage")
        if event == "error" or chunk.get("error") or chunk.get("object") == "error":
            yield from self._text.end()
            yield from self._counted(usage)
            raise stopped(chunk)
        choices = chunk.get("choices")
        if isinstance(choices, list) and choices and isinstance(choices[0], dict):
            yield from self._choice(choices[0])
        if usage:
            yield from self._counted(usage)

    def _choice(self, choice: dict[str, object]) -> Iterator[Piece]:
        part = choice.get("delta")
        if part is None:
            part = choice.get("message")
        if isinstance(part, dict):
            yield from self._said(part)
        reason = choice.get("finish_reason")
        if isinstance(reason, str) and reason:
            yield from self.end()
            if choice.get("error"):
                raise stopped(choice)
            yield Finished(reason)

    def _said(self, part: dict[str, object]) -> list[Piece]:
        content = part.get("content")
        said: list[Piece] = []
        if thought := _thought(part, content):
            self._text.reasoned()
            said.append(ReasoningDelta(thought))
        for text in (content, part.get("refusal")):
            if text:
                said += self._text.text(text if isinstance(text, str) else text_of(text))
        if "tool_calls" in part:
            self._calls.add(part["tool_calls"])
        if "function_call" in part:
            self._calls.add([{"index": 0, "function": part["function_call"]}])
        return said

    def _counted(self, usage: object) -> Iterator[Usage]:
        sent = count(at(usage, "prompt_tokens"))
        answered = count(at(usage, "completion_tokens"))
        reasoning = count(at(usage, "completion_tokens_details", "reasoning_tokens"))
        if _counts_reasoning_apart(at(usage, "total_tokens"), sent, answered, reasoning):
            answered = (answered or 0) + (reasoning or 0)
        details = at(usage, "prompt_tokens_details")
        self._counts.take(
            sent=sent,
            answered=answered,
            cached=first_count(at(details, "cached_tokens"), at(usage, "prompt_cache_hit_tokens")),
            written=first_count(at(details, "cache_write_tokens"), at(usage, "cache_write_tokens")),
            reasoning=reasoning,
        )
        self._counts.cost = _charged(usage, self._counts.cost)
        known = self._counts.usage(self._counts.get("sent"), self._counts.get("answered"))
        if known is not None:
            yield known


def _cap(options: Options, *, by_openai: bool) -> str:
    """Name the parameter that limits an answer's length: the other one where one is refused."""
    usual, other = reversed(_CAPS) if by_openai else _CAPS
    return other if usual in options.without else usual


def _thought(part: dict[str, object], content: object) -> str:
    """Read a chunk's reasoning, once, however many fields repeat it."""
    for name in ("reasoning_content", "reasoning"):
        if (text := part.get(name)) and isinstance(text, str):
            return text
    details = part.get("reasoning_details")
    if isinstance(details, list):
        return "".join(text_at(each, "text") or text_at(each, "summary") for each in details)
    if isinstance(content, list):  # Mistral's
        return "".join(text_of(at(each, "thinking")) for each in content)
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


def _counts_reasoning_apart(
    total: object, sent: int | None, answered: int | None, reasoning: int | None
) -> bool:
    """Whether the total is reached only with the reasoning on top of the answer, as at xAI."""
    return bool(reasoning) and total == (sent or 0) + (answered or 0) + (reasoning or 0)
