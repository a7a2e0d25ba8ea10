"""Anthropic's Messages: the request. `anthropic_answer` reads the answer."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from jitchat.errors import NotAnAnswer
from jitchat.providers.protocols.refusals import CHECK_URL, stopped
from jitchat.providers.protocols.registry import base_of
from jitchat.providers.protocols.requests import Run, credentials, filled, json_request, opened
from jitchat.providers.protocols.responses import (
    CountsSoFar,
    ToolCalls,
    at,
    count,
    first,
    first_count,
    parsed,
    text_at,
)
from jitchat.providers.provider import Delta, Endpoint, Finished, Options, Piece, Reasoning
from jitchat.text.sanitize import shorten
from jitchat.values import Message, Usage

if TYPE_CHECKING:
    import httpx


_LONGEST_ANSWER = 16_384
"""More is never asked for unless the user does; reasoning counts as a part of it, and no more
than the model is known to give is asked for: older ones refuse that."""
_CAUTIOUS_ANSWER = 4_096
"""What every model takes; also where the room is unknown."""
_LAST_WITH_SAMPLING = (4, 6)
_CLAUDE = re.compile(r"claude-(?:[a-z]+-)?(\d{1,2})(?!\d)(?:[-.](\d{1,2})(?!\d))?", re.IGNORECASE)
_NEVER_SAMPLED = re.compile(r"claude-(?:fable|mythos)", re.IGNORECASE)

Block = dict[str, object]


class AnthropicProtocol:
    """`POST {base_url}/messages`, answered with named server-sent events."""

    def request(
        self, endpoint: Endpoint, messages: Sequence[Message], options: Options
    ) -> httpx.Request:
        """Make the request; the body has the same bytes for the same window.

        Two breakpoints tell what is to be cached: behind the system's text, and ahead of the
        final message, which changes with every request.
        """
        window = opened(messages, folding="system" in options.without)
        turns = _turns(window.runs)
        system = [_block(window.system)] if window.system else []
        if "cache_control" not in options.without:
            _mark(system)
            _mark(_stable(turns))
        optional = _sampling(endpoint.model, options) | {
            "system": system,
            "output_config": filled({"effort": options.effort}, options.without),
        }
        body = {
            "model": endpoint.model,
            "max_tokens": _cap(options),
            **filled(optional, options.without),
            "messages": [{"role": role, "content": blocks} for role, blocks in turns],
            "stream": True,
        }
        headers = {"Accept": "text/event-stream"} | credentials(endpoint, "anthropic")
        return json_request(
            endpoint, f"{base_of(endpoint.base_url, 'anthropic')}/messages", headers, body
        )

    def parser(self) -> AnthropicParser:
        """Make what reads the answer."""
        return AnthropicParser()


def takes_sampling(model: str) -> bool:
    """Whether the model takes temperature, top_p and top_k.

    Claude does up to 4.6. Of a name that does not tell, nothing is known: it gets what the user
    set, and should it refuse that, the refusal is learnt from.
    """
    if _NEVER_SAMPLED.search(model):
        return False
    found = _CLAUDE.search(model)
    return found is None or (int(found[1]), int(found[2] or 0)) <= _LAST_WITH_SAMPLING


def _sampling(model: str, options: Options) -> dict[str, object]:
    if not takes_sampling(model):
        return {}
    return {
        "temperature": options.temperature,
        "top_p": options.top_p,
        "top_k": options.top_k,
    }


def _cap(options: Options) -> int:
    """Limit the answer, for the protocol demands it; a refused limit was too high a one."""
    room = _CAUTIOUS_ANSWER if options.room is None else min(_LONGEST_ANSWER, options.room)
    cap = max(1, options.max_tokens or min(room, options.longest or room))
    return min(cap, _CAUTIOUS_ANSWER) if "max_tokens" in options.without else cap


def _turns(runs: Sequence[Run]) -> list[tuple[str, list[Block]]]:
    return [(run.role.value, [_block(text) for text in run.texts]) for run in runs]


def _block(text: str) -> Block:
    return {"type": "text", "text": text}


def _stable(turns: Sequence[tuple[str, list[Block]]]) -> list[Block]:
    """List every block ahead of the final one."""
    return [block for _, blocks in turns for block in blocks][:-1]


def _mark(blocks: Sequence[Block]) -> None:
    """Have everything up to the last of these blocks cached."""
    if blocks:
        blocks[-1]["cache_control"] = {"type": "ephemeral"}


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
        yield Finished(reason, shorten(": ".join(filter(None, details)), _SHOWN))
