"""Google's Gemini API: the request. `gemini_answer` reads the answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING
from urllib.parse import quote

from jitchat.errors import NotAnAnswer, RequestRefused
from jitchat.providers.protocols.refusals import CHECK_URL, SAY_OTHERWISE, stopped
from jitchat.providers.protocols.registry import base_of
from jitchat.providers.protocols.requests import Run, credentials, filled, json_request, opened
from jitchat.providers.protocols.responses import (
    CountsSoFar,
    at,
    count,
    first,
    json_text,
    parsed,
    text_at,
)
from jitchat.providers.provider import (
    Delta,
    Endpoint,
    Finished,
    Options,
    Piece,
    Reasoning,
    ToolCall,
)
from jitchat.text.sanitize import shorten
from jitchat.values import Message, Role, Usage

if TYPE_CHECKING:
    import httpx


_NAMES = {
    "max_tokens": "maxOutputTokens",
    "top_p": "topP",
    "top_k": "topK",
    "effort": "thinkingConfig",
    "thinkingLevel": "thinkingConfig",
    "systemInstruction": "system",
}
"""Other names for what may be refused."""


class GeminiProtocol:
    """`POST {base_url}/models/MODEL:streamGenerateContent`, answered with server-sent events.

    The key is a header: an address with a key in it would show up in logs.
    """

    def request(
        self, endpoint: Endpoint, messages: Sequence[Message], options: Options
    ) -> httpx.Request:
        """Make the request; the body has the same bytes for the same window."""
        without = frozenset(_NAMES.get(name, name) for name in options.without)
        window = opened(messages, folding="system" in without)
        body = {
            "systemInstruction": {"parts": [{"text": window.system}]} if window.system else None,
            "contents": [_content(run) for run in window.runs],
            "generationConfig": _settings(options, without),
        }
        headers = {"Accept": "text/event-stream"} | credentials(endpoint, "gemini")
        base = base_of(endpoint.base_url, "gemini")
        url = f"{base}/{_path(endpoint.model)}:streamGenerateContent?alt=sse"
        return json_request(endpoint, url, headers, filled(body, without))

    def parser(self) -> GeminiParser:
        """Make what reads the answer."""
        return GeminiParser()


def _content(run: Run) -> dict[str, object]:
    role = "model" if run.role is Role.ASSISTANT else "user"
    return {"role": role, "parts": [{"text": text} for text in run.texts]}


def _settings(options: Options, without: frozenset[str]) -> dict[str, object]:
    """Write what the user set, and nothing else."""
    thinking = {"thinkingLevel": options.effort} if options.effort else None
    settings = {
        "maxOutputTokens": options.max_tokens,
        "temperature": options.temperature,
        "topP": options.top_p,
        "topK": options.top_k,
        "seed": options.seed,
        "thinkingConfig": thinking,
    }
    return filled(settings, without)


def _path(model: str) -> str:
    """Write the model's path, which its name in Google's list already is."""
    name = model.strip().strip("/")
    return quote(name if "/" in name else f"models/{name}", safe="/@", errors="replace")


class GeminiParser:
    """Reads one answer. Nothing tells that a stream is over but its end."""

    def __init__(self) -> None:
        self.over = False
        self._counts = CountsSoFar()
        self._told: dict[str, object] = {}
        self._last: Usage | None = None

    def parse(self, event: str, data: str) -> Iterator[Piece]:
        """Yield what one chunk says, or an array of them: a proxy may not stream."""
        if not data.startswith("{") and data.strip() in ("", "[DONE]"):
            self.over = bool(data.strip())
            return
        value = parsed(data)
        for chunk in value if isinstance(value, list) and value else [value]:
            yield from self._chunk(event, chunk)

    def end(self) -> Iterator[Piece]:
        """Hold nothing back."""
        return iter(())

    def _chunk(self, event: str, chunk: object) -> Iterator[Piece]:
        if not isinstance(chunk, dict):
            raise NotAnAnswer("The server sent an event that is not a JSON object.", CHECK_URL)
        if event == "error" or chunk.get("error"):
            raise stopped(chunk)
        candidate = first(chunk.get("candidates"))
        parts = at(candidate, "content", "parts")
        for part in parts if isinstance(parts, list) else ():
            yield from _part(part)
        yield from self._counted(chunk.get("usageMetadata"))
        if reason := text_at(candidate, "finishReason"):
            yield Finished(reason)
        if candidate is None and (blocked := text_at(chunk, "promptFeedback", "blockReason")):
            raise _blocked(blocked, text_at(chunk, "promptFeedback", "blockReasonMessage"))

    def _counted(self, usage: object) -> Iterator[Usage]:
        """Yield the counts where they changed; reasoning is counted beside the answer."""
        if not isinstance(usage, dict) or usage == self._told:
            return
        self._told = usage
        self._counts.take(
            sent=count(usage.get("promptTokenCount")),
            answered=count(usage.get("candidatesTokenCount")),
            cached=count(usage.get("cachedContentTokenCount")),
            reasoning=count(usage.get("thoughtsTokenCount")),
        )
        answered = self._counts.sum("answered", "reasoning")
        known = self._counts.usage(self._counts.get("sent"), answered)
        if known is not None and known != self._last:
            self._last = known
            yield known


def _part(part: object) -> Iterator[Piece]:
    if text := text_at(part, "text"):
        yield Reasoning(text) if at(part, "thought") is True else Delta(text)
    if name := text_at(part, "functionCall", "name"):
        yield ToolCall(name, json_text(at(part, "functionCall", "args") or {}))


def _blocked(reason: str, message: str) -> RequestRefused:
    said = f": {shorten(message, 200).rstrip('.')}" if message else ""
    return RequestRefused(
        f"The provider blocked the message ({shorten(reason, 60)}){said}.",
        SAY_OTHERWISE,
    )
