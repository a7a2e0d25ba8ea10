"""OpenAI's chat completions, as OpenAI and everything compatible with it speaks them."""

from __future__ import annotations

import json
import re
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
_ABOUT_THE_KEY = re.compile(
    r"\b(?:api[ _-]?key|no connected db|authentication|invalid (?:proxy )?token)\b", re.IGNORECASE
)
"""Some servers refuse a key with 400: litellm, Gemini."""


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

    def parse(self, event: str, data: str) -> Iterator[Piece]:
        """Yield what one chunk says; a chunk of which nothing is known says nothing."""
        if not data.strip():
            return
        chunk = _json(data)
        if isinstance(chunk, list) and chunk:
            chunk = chunk[0]
        if not isinstance(chunk, dict):
            raise NotAnAnswer("The server sent an event that is not a JSON object.", _CHECK_URL)
        if event == "error" or chunk.get("error") or chunk.get("object") == "error":
            raise RequestRefused(_told("The provider stopped", _message(chunk)), "Send again.")
        choices = chunk.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else None
        if isinstance(choice, dict):
            yield from _choice(choice)
        yield from _usage(chunk)

    def is_last(self, data: str) -> bool:
        """Whether this is `[DONE]`."""
        return data.strip() == "[DONE]"

    def refusal(self, status: int, body: str) -> ProviderError:
        """Say what status and body mean, in the provider's own words where it has some."""
        said = _message(_json(body))
        if status in (401, 403) or (status == 400 and _ABOUT_THE_KEY.search(said)):
            what = "access" if status == 403 else "the key"
            return KeyRefused(
                _told(f"The provider refused {what} (HTTP {status})", said),
                "Check OPENAI_API_KEY, or provider.api_key in the configuration.",
            )
        if not said:
            return NotAnAnswer(
                f"The server answered HTTP {status} with something that is not this protocol.",
                _REMEDIES.get(status, _CHECK_URL),
            )
        remedy = _REMEDIES.get(status, "Check provider.model and provider.base_url.")
        return RequestRefused(
            _told(f"The provider refused the request (HTTP {status})", said), remedy
        )


_CHECK_URL = "Check provider.base_url (it usually ends in /v1), and that no login page is between."
_LATER = "Send again in a while."
_REMEDIES = {
    402: "The account has no credit left.",
    404: "Check provider.model, and that provider.base_url ends in /v1.",
    408: "Send again.",
    413: "The window is too large for it: lower provider.limit, or switch the mode.",
    429: "It is asked too often, or the quota is used up. Wait, and send again.",
} | dict.fromkeys((500, 502, 503, 504, 529), _LATER)


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
    usage = chunk.get("usage") or _at(chunk.get("x_groq"), "usage")
    sent, answered = _count(_at(usage, "prompt_tokens")), _count(_at(usage, "completion_tokens"))
    if sent is not None or answered is not None:
        cached = _count(_at(_at(usage, "prompt_tokens_details"), "cached_tokens"))
        yield Usage(sent or 0, answered or 0, cached or 0)


def _at(value: object, key: str) -> object:
    return value.get(key) if isinstance(value, dict) else None


def _count(value: object) -> int | None:
    """Read a count; None for what is no number, 0 for one that counts nothing."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return int(value) if 0 <= value < 1 << 53 else 0


def _json(text: str) -> object:
    """Parse the value; None for what is not JSON, or is nested or numbered to hurt."""
    try:
        return json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return None


def _message(body: object) -> str:
    """Find the text of an error in any of the shapes that are seen; empty if there is none."""
    while isinstance(body, list) and body:
        body = body[0]
    error = _at(body, "error") or body
    for found in (_at(error, "message"), _at(error, "detail"), _at(error, "type"), error):
        if isinstance(found, str) and found.strip():
            return shortened(found, _SHOWN)
    return ""


def _told(what: str, said: str) -> str:
    """Make a sentence that ends with the provider's own words."""
    if not said:
        return f"{what}."
    return f"{what}: {said}" if said[-1] in ".!?…" else f"{what}: {said}."
