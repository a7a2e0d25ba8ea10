"""Google's Gemini API: the answer, as a stream of chunks or as one array of them."""

from __future__ import annotations

from collections.abc import Iterator

from jitchat.errors import NotAnAnswer, RequestRefused
from jitchat.providers.protocols.refusals import CHECK_URL, SAY_OTHERWISE, stopped
from jitchat.providers.protocols.usage import CountsSoFar
from jitchat.providers.protocols.values import at, count, first, json_text, parsed, text_at
from jitchat.providers.provider import Delta, Finished, Piece, Reasoning, ToolCall
from jitchat.text.safe import shortened
from jitchat.turn import Usage


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
    said = f": {shortened(message, 200).rstrip('.')}" if message else ""
    return RequestRefused(
        f"The provider blocked the message ({shortened(reason, 60)}){said}.",
        SAY_OTHERWISE,
    )
