"""OpenAI's chat completions, as OpenAI and everything compatible with it speaks them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import httpx

from jitchat.errors import KeyRefused, NotAnAnswer, ProviderError, RequestRefused
from jitchat.providers.protocol import Endpoint
from jitchat.providers.provider import Delta, Finished, Options, Piece
from jitchat.text.safe import shortened
from jitchat.turn import Message, Usage

_SHOWN = 300
"""Characters of a provider's own error text that are passed on."""


class OpenAiProtocol:
    """`POST {base_url}/chat/completions`, answered with server-sent events."""

    def request(
        self, endpoint: Endpoint, messages: Sequence[Message], options: Options
    ) -> httpx.Request:
        """The request; the body has the same bytes for the same window."""
        body: dict[str, Any] = {
            "model": endpoint.model,
            "messages": [{"role": m.role.value, "content": m.content} for m in messages],
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        if options.temperature is not None:
            body["temperature"] = options.temperature
        headers = {"Accept": "text/event-stream", "Content-Type": "application/json"}
        if endpoint.key:
            headers["Authorization"] = f"Bearer {endpoint.key}"
        url = f"{endpoint.base_url.rstrip('/')}/chat/completions"
        return httpx.Request("POST", url, headers=headers, content=json.dumps(body).encode())

    def parse(self, event: str, data: str) -> Iterator[Piece]:
        """One chunk; `[DONE]` and what is not known say nothing."""
        if data.strip() == "[DONE]":
            return
        chunk = _json(data)
        if not isinstance(chunk, dict):
            raise NotAnAnswer("The server sent an event that is not a JSON object.", _CHECK_URL)
        if event == "error" or chunk.get("error"):
            raise RequestRefused(f"The provider stopped: {_message(chunk)}", "Send again.")
        choices = chunk.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else None
        if isinstance(choice, dict):
            yield from _choice(choice)
        usage = chunk.get("usage")
        if isinstance(usage, dict):
            yield _usage(usage)

    def refusal(self, status: int, body: str) -> ProviderError:
        """What the status and the body mean, in the provider's own words where it has some."""
        said = _message(_json(body))
        if status in (401, 403):
            return KeyRefused(
                f"The provider refused the key (HTTP {status}): {said}",
                "Check OPENAI_API_KEY, or provider.api_key in the configuration.",
            )
        if not said:
            return NotAnAnswer(
                f"The server answered HTTP {status} with something that is not this protocol.",
                _CHECK_URL,
            )
        remedy = _REMEDIES.get(status, "Check provider.model and provider.base_url.")
        return RequestRefused(f"The provider refused the request (HTTP {status}): {said}", remedy)


_CHECK_URL = "Check provider.base_url (it usually ends in /v1), and that no login page is between."
_REMEDIES = {
    402: "The account has no credit left.",
    404: "Check provider.model, and that provider.base_url ends in /v1.",
    408: "Send again.",
    413: "The window is too large for it: lower provider.limit, or switch the mode.",
    429: "It is asked too often, or the quota is used up. Wait, and send again.",
    500: "Send again in a while.",
    502: "Send again in a while.",
    503: "Send again in a while.",
    529: "Send again in a while.",
}


def _choice(choice: Mapping[str, Any]) -> Iterator[Piece]:
    part = choice.get("delta") or choice.get("message") or {}
    text = part.get("content") if isinstance(part, dict) else None
    if isinstance(text, str) and text:
        yield Delta(text)
    if choice.get("finish_reason"):
        yield Finished(str(choice["finish_reason"]))


def _usage(usage: Mapping[str, Any]) -> Usage:
    details = usage.get("prompt_tokens_details")
    cached = details.get("cached_tokens") if isinstance(details, dict) else 0
    return Usage(
        input_tokens=_whole(usage.get("prompt_tokens")),
        output_tokens=_whole(usage.get("completion_tokens")),
        cached_tokens=_whole(cached),
    )


def _whole(value: object) -> int:
    return int(value) if isinstance(value, int | float) and 0 <= value < 1 << 53 else 0


def _json(text: str) -> object:
    """The value, or None for what is not JSON (or is nested to hurt)."""
    try:
        return json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return None


def _message(body: object) -> str:
    """The text of an error in any of the shapes that are seen; empty if there is none."""
    if isinstance(body, list) and body:
        return _message(body[0])
    if not isinstance(body, dict):
        return ""
    error = body.get("error", body)
    found = error.get("message") or error.get("detail") if isinstance(error, dict) else error
    return shortened(str(found), _SHOWN) if found else ""
