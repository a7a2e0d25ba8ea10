"""Anthropic's Messages."""

import json
import re
from collections.abc import Iterator, Sequence

import httpx

from jitchat.providers import provider
from jitchat.providers.protocols import protocol
from jitchat.providers.protocols.addresses import base_of
from jitchat.providers.protocols.json_values import at, count, list_of, text_at
from jitchat.text.sanitize import shorten
from jitchat.values import Message, Usage

_LONGEST_ANSWER = 16_384
"""More is never asked for unless the user does; reasoning counts as a part of it, and no more
than the model is known to give is asked for: older ones refuse that."""
_CAUTIOUS_ANSWER = 4_096
"""What every model takes; also where the room is unknown."""
_LAST_WITH_SAMPLING = (4, 6)
_CLAUDE = re.compile(r"claude-(?:[a-z]+-)?(\d{1,2})(?!\d)(?:[-.](\d{1,2})(?!\d))?", re.IGNORECASE)
_NEVER_SAMPLED = re.compile(r"claude-(?:fable|mythos)", re.IGNORECASE)

Block = dict[str, object]


def takes_sampling(model: str) -> bool:
    """Whether the model takes temperature, top_p and top_k.

    Claude does up to 4.6. Of a name that does not tell, nothing is known: it gets what the user
    set, and should it refuse that, the refusal is learnt from.
    """
    if _NEVER_SAMPLED.search(model):
        return False
    version = _CLAUDE.search(model)
    return version is None or (int(version[1]), int(version[2] or 0)) <= _LAST_WITH_SAMPLING


def _cap(options: provider.Options) -> int:
    """Limit the answer, for the protocol demands it; a refused limit was too high a one."""
    room = _CAUTIOUS_ANSWER if options.room is None else min(_LONGEST_ANSWER, options.room)
    cap = max(1, options.max_tokens or min(room, options.longest or room))
    return min(cap, _CAUTIOUS_ANSWER) if "max_tokens" in options.without else cap


def _format(schema: str | None) -> Block | None:
    """Ask for JSON of a schema, without a greatest length, which the protocol does not take."""
    if schema is None:
        return None
    kept = json.loads(
        schema, object_hook=lambda each: {k: v for k, v in each.items() if k != "maxItems"}
    )
    return {"type": "json_schema", "schema": kept}


def _block(text: str) -> Block:
    return {"type": "text", "text": text}


def _mark(blocks: Sequence[Block]) -> None:
    """Have everything up to the last of these blocks cached."""
    if blocks:
        blocks[-1]["cache_control"] = {"type": "ephemeral"}


_SHOWN = 300
"""Characters that are passed on of why a model refused."""


class AnthropicParser(protocol.AnswerParser):
    """Reads one answer, event by event, or a whole message."""

    def __init__(self) -> None:
        super().__init__()
        self._called: set[object] = set()
        """The indexes of the blocks that are calls; the server calls tools of its own by itself."""

    def _read(self, event: str, chunk: dict[str, object]) -> Iterator[provider.Piece]:
        match text_at(chunk, "type") or event:
            case "content_block_delta":
                yield from self._delta(chunk.get("delta"), chunk.get("index"))
            case "content_block_start":
                yield from self._block(chunk.get("content_block"), chunk.get("index"))
            case "content_block_stop":
                yield from self._calls.taken()
            case "message_start":
                self._take_counts(at(chunk, "message", "usage"))
                yield from self._known(None)  # what it says of the output is no count of it yet
            case "message_delta":
                yield from self._counted(chunk)
                yield from _finished(chunk.get("delta"))
            case "message_stop":
                yield from self.end()
                self.over = True
            case "message" | "":
                yield from self._message(chunk)

    def _delta(self, delta: object, index: object) -> Iterator[provider.Piece]:
        yield from _words(delta)
        arguments = text_at(delta, "partial_json")
        if arguments and index in self._called:
            self._calls.add([{"index": index, "function": {"arguments": arguments}}])

    def _block(self, block: object, index: object) -> Iterator[provider.Piece]:
        """Read the beginning of a block, which in a whole message is all of it."""
        yield from _words(block)
        if text_at(block, "type") == "tool_use":
            self._called.add(index if isinstance(index, int) else None)
            function = {"name": at(block, "name"), "arguments": at(block, "input") or ""}
            self._calls.add([{"index": index, "id": at(block, "id"), "function": function}])

    def _message(self, message: dict[str, object]) -> Iterator[provider.Piece]:
        for index, block in enumerate(list_of(message.get("content"))):
            yield from self._block(block, index)
        yield from self.end()
        yield from self._counted(message)
        yield from _finished(message)

    def _counted(self, chunk: dict[str, object]) -> Iterator[Usage]:
        if self._take_counts(chunk.get("usage")):
            yield from self._known(self._counts.sum("answered"))

    def _take_counts(self, usage: object) -> bool:
        details = at(usage, "output_tokens_details")
        return self._counts.take(
            uncached=count(at(usage, "input_tokens")),
            written=_written(usage),
            cached=count(at(usage, "cache_read_input_tokens")),
            answered=count(at(usage, "output_tokens")),
            reasoning=count(at(details, "thinking_tokens"), at(details, "reasoning_tokens")),
        )

    def _known(self, answered: int | None) -> Iterator[Usage]:
        if usage := self._counts.usage(self._counts.sum("uncached", "cached", "written"), answered):
            yield usage


def _written(usage: object) -> int | None:
    """Count what was put into the cache, of which some say only for how long it stays."""
    total = count(at(usage, "cache_creation_input_tokens"))
    if total is not None:
        return total
    kept = at(usage, "cache_creation")
    parts = [count(value) for value in kept.values()] if isinstance(kept, dict) else []
    return sum(part or 0 for part in parts) if parts else None


def _words(part: object) -> Iterator[provider.Piece]:
    if text := text_at(part, "text"):
        yield provider.ReplyDelta(text)
    if thought := text_at(part, "thinking"):
        yield provider.ReasoningDelta(thought)


def _finished(message: object) -> Iterator[provider.Piece]:
    if reason := text_at(message, "stop_reason"):
        stop = at(message, "stop_details")
        details = (text_at(stop, "category"), text_at(stop, "explanation"))
        yield provider.Finished(reason, shorten(": ".join(filter(None, details)), _SHOWN))


class AnthropicProtocol:
    """`POST {base_url}/messages`, answered with named server-sent events."""

    parser = AnthropicParser

    def request(
        self, endpoint: provider.Endpoint, messages: Sequence[Message], options: provider.Options
    ) -> httpx.Request:
        """Make the request.

        Two breakpoints tell what is to be cached: behind the system's text, and ahead of the
        final message, which changes with every request.
        """
        without = options.without
        window = protocol.dialogue(messages, folding="system" in without, user_first=True)
        turns = [(run.role.value, [_block(text) for text in run.texts]) for run in window.runs]
        system = [_block(window.system)] if window.system else []
        if "cache_control" not in without:
            _mark(system)
            _mark([block for _, blocks in turns for block in blocks][:-1])
        sampled = takes_sampling(endpoint.model)
        optional = {
            "temperature": options.temperature if sampled else None,
            "top_p": options.top_p if sampled else None,
            "top_k": options.top_k if sampled else None,
            "system": system,
            "output_config": protocol.filled(
                {"effort": options.effort, "format": _format(options.schema)}, without
            ),
        }
        body = {
            "model": endpoint.model,
            "max_tokens": _cap(options),
            **protocol.filled(optional, without),
            "messages": [{"role": role, "content": blocks} for role, blocks in turns],
            "stream": True,
        }
        url = f"{base_of(endpoint.base_url, 'anthropic')}/messages"
        return protocol.json_request(endpoint, "anthropic", url, body)
