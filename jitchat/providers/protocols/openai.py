"""OpenAI's chat completions, as OpenAI and everything compatible with it speaks them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import httpx

from jitchat.errors import NotAnAnswer
from jitchat.providers.protocol import Endpoint
from jitchat.providers.protocols.refusals import CHECK_URL, stopped
from jitchat.providers.protocols.values import at, count, parsed
from jitchat.providers.provider import Delta, Finished, Options, Piece
from jitchat.turn import Message, Usage


class OpenAiProtocol:
    """`POST {base_url}/chat/completions`, answered with server-sent events."""

    def request(
        self, endpoint: Endpoint, messages: Sequence[Message], options: Options
    ) -> httpx.Request:
        """Make the request; the body has the same bytes for the same window."""
        body: dict[str, Any] = {
            "model": endpoint.model,
            "messages": [{"role": m.role.value, "content": m.content} for m in messages],
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        if options.temperature is not None:
            body["temperature"] = options.temperature
        headers = {"Accept": "text/event-stream", "Content-Type": "application/json"}
        url = f"{endpoint.base_url.strip().rstrip('/')}/chat/completions"
        request = httpx.Request("POST", url, headers=headers, content=json.dumps(body).encode())
        if endpoint.key:
            request.headers["Authorization"] = f"Bearer {endpoint.key}"
        return request

    def parser(self) -> OpenAiParser:
        """Make what reads the answer."""
        return OpenAiParser()


class OpenAiParser:
    """Reads one answer; a chunk of which nothing is known says nothing."""

    def __init__(self) -> None:
        self.over = False

    def parse(self, event: str, data: str) -> Iterator[Piece]:
        """Yield what one chunk says."""
        if data.strip() == "[DONE]":
            self.over = True
            return
        if not data.strip():
            return
        chunk = parsed(data)
        if isinstance(chunk, list) and chunk:
            chunk = chunk[0]
        if not isinstance(chunk, dict):
            raise NotAnAnswer("The server sent an event that is not a JSON object.", CHECK_URL)
        if event == "error" or chunk.get("error") or chunk.get("object") == "error":
            raise stopped(chunk)
        choices = chunk.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else None
        if isinstance(choice, dict):
            yield from _choice(choice)
        yield from _usage(chunk)

    def end(self) -> Iterator[Piece]:
        """Hold nothing back."""
        return iter(())


def _choice(choice: Mapping[str, Any]) -> Iterator[Piece]:
    part = choice.get("delta") or choice.get("message") or {}
    text = part.get("content") if isinstance(part, dict) else None
    if isinstance(text, str) and text:
        yield Delta(text)
    reason = choice.get("finish_reason")
    if isinstance(reason, str) and reason:
        yield Finished(reason)


def _usage(chunk: Mapping[str, Any]) -> Iterator[Usage]:
    """Yield the usage of a chunk, if it has one; Groq has it under a name of its own."""
    usage = chunk.get("usage") or at(chunk.get("x_groq"), "usage")
    sent, answered = count(at(usage, "prompt_tokens")), count(at(usage, "completion_tokens"))
    if sent is not None or answered is not None:
        cached = count(at(usage, "prompt_tokens_details", "cached_tokens"))
        yield Usage(sent or 0, answered or 0, cached or 0)
