"""Anthropic's Messages: the answer, as a stream of named events or as one message."""

from __future__ import annotations

from collections.abc import Iterator

from jitchat.errors import NotAnAnswer
from jitchat.providers.protocols.refusals import CHECK_URL, stopped
from jitchat.providers.protocols.tool_calls import ToolCalls
from jitchat.providers.protocols.usage import CountsSoFar
from jitchat.providers.protocols.values import at, count, first, first_count, parsed, text_at
from jitchat.providers.provider import Delta, Finished, Piece, Reasoning
from jitchat.text.safe import shortened
from jitchat.turn import Usage

_SHOWN = 300
"""Characters that are passed on of why a model refused."""


class AnthropicParser:
    """Reads one answer; an event of which nothing is known says nothing."""

    def __init__(self) -> None:
        self.over = False
        self._calls = ToolCalls()
        self._called: set[object] = set()
        """The indexes of the blocks that are calls; the server calls tools of its own by itself."""
        self._counts = CountsSoFar()

    def parse(self, event: str, data: str) -> Iterator[Piece]:
        """Yield what one event says."""
        if data.strip() in ("", "[DONE]"):
            self.over = bool(data.strip())
            return
        value = first(parsed(data))
        if not isinstance(value, dict):
            raise NotAnAnswer("The server sent an event that is not a JSON object.", CHECK_URL)
        kind = text_at(value, "type") or event
        if "error" in (kind, event) or value.get("error"):
            raise stopped(value)
        yield from self._event(kind, value)

    def end(self) -> Iterator[Piece]:
        """Yield the tool calls that were cut in their middle."""
        yield from self._calls.taken()

    def _event(self, kind: str, value: dict[str, object]) -> Iterator[Piece]:
        match kind:
            case "content_block_delta":
                yield from self._delta(value)
            case "content_block_start":
                yield from self._block(value.get("content_block"), value.get("index"))
            case "content_block_stop":
                yield from self._calls.taken()
            case "message_start":
                yield from self._counted(at(value, "message", "usage"), final=False)
            case "message_delta":
                yield from self._counted(value.get("usage"))
                yield from _finished(value.get("delta"))
            case "message_stop":
                yield from self.end()
                self.over = True
            case "message" | "":
                yield from self._message(value)

    def _delta(self, value: dict[str, object]) -> Iterator[Piece]:
        delta = value.get("delta")
        yield from _said(delta)
        arguments = text_at(delta, "partial_json")
        if arguments and value.get("index") in self._called:
            fragment = {"index": value.get("index"), "function": {"arguments": arguments}}
            self._calls.add([fragment])

    def _block(self, block: object, index: object) -> Iterator[Piece]:
        """Read the beginning of a block, which in a whole message is all of it."""
        yield from _said(block)
        if text_at(block, "type") == "tool_use":
            self._called.add(index if isinstance(index, int) else None)
            function = {"name": at(block, "name"), "arguments": at(block, "input") or ""}
            self._calls.add([{"index": index, "id": at(block, "id"), "function": function}])

    def _message(self, message: dict[str, object]) -> Iterator[Piece]:
        content = message.get("content")
        for index, block in enumerate(content if isinstance(content, list) else ()):
            yield from self._block(block, index)
        yield from self.end()
        yield from self._counted(message.get("usage"))
        yield from _finished(message)

    def _counted(self, usage: object, *, final: bool = True) -> Iterator[Usage]:
        """Yield the counts. What the first event says of the output is no count of it yet."""
        details = at(usage, "output_tokens_details")
        told = self._counts.take(
            uncached=count(at(usage, "input_tokens")),
            written=_written(usage),
            cached=count(at(usage, "cache_read_input_tokens")),
            answered=count(at(usage, "output_tokens")),
            reasoning=first_count(at(details, "thinking_tokens"), at(details, "reasoning_tokens")),
        )
        sent = self._counts.sum("uncached", "cached", "written")
        known = self._counts.usage(sent, self._counts.get("answered") if final else None)
        if told and known is not None:
            yield known


def _written(usage: object) -> int | None:
    """Count what was put into the cache, of which some say only for how long it stays."""
    total = count(at(usage, "cache_creation_input_tokens"))
    if total is not None:
        return total
    kept = at(usage, "cache_creation")
    parts = [count(value) for value in kept.values()] if isinstance(kept, dict) else []
    return sum(part or 0 for part in parts) if parts else None


def _said(part: object) -> Iterator[Piece]:
    if text := text_at(part, "text"):
        yield Delta(text)
    if thought := text_at(part, "thinking"):
        yield Reasoning(thought)


def _finished(message: object) -> Iterator[Piece]:
    if reason := text_at(message, "stop_reason"):
        told = at(message, "stop_details")
        details = (text_at(told, "category"), text_at(told, "explanation"))
        yield Finished(reason, shortened(": ".join(filter(None, details)), _SHOWN))
