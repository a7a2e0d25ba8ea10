"""Anthropic's Messages API."""

import json
import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import itemgetter

import httpx

from jitchat.attachments import Picture
from jitchat.providers import provider
from jitchat.providers.protocols import calls, protocol
from jitchat.providers.protocols.addresses import base_of
from jitchat.text.json_values import at, count, list_of, text_at
from jitchat.text.sanitize import shorten
from jitchat.values import Message, Role, ToolCall, Usage
from jitchat.writing.calls import (
    arguments_object,
    schema_of,
)
from jitchat.writing.pieces import WritingRules

_LONGEST_ANSWER = 16_384
"""Default maximum for an answer in tokens, reasoning included. A model's known maximum lowers it,
because older models refuse a higher value."""
_CAUTIOUS_ANSWER = 4_096
"""A maximum that every model accepts; also used if the room is unknown."""
_LAST_WITH_SAMPLING = (4, 6)
_CLAUDE = re.compile(r"claude-(?:[a-z]+-)?(\d{1,2})(?!\d)(?:[-.](\d{1,2})(?!\d))?", re.IGNORECASE)
_NEVER_SAMPLED = re.compile(r"claude-(?:fable|mythos)", re.IGNORECASE)

Block = dict[str, object]
_CACHED = {"type": "ephemeral"}


def takes_sampling(model: str) -> bool:
    """Whether the model accepts temperature, top_p and top_k.

    Claude does up to version 4.6. For a name without a version this is true: if the model refuses
    a parameter, that is learnt.
    """
    if _NEVER_SAMPLED.search(model):
        return False
    version = _CLAUDE.search(model)
    return version is None or (int(version[1]), int(version[2] or 0)) <= _LAST_WITH_SAMPLING


def _cap(options: provider.Options) -> int:
    """Return the required limit of the answer; a lower one if the last was refused."""
    room = _CAUTIOUS_ANSWER if options.room is None else min(_LONGEST_ANSWER, options.room)
    cap = max(1, options.max_tokens or min(room, options.longest or room))
    return min(cap, _CAUTIOUS_ANSWER) if "max_tokens" in options.without else cap


def _format(schema: str | None) -> Block | None:
    """Return the output format for a schema, without `maxItems`, which is not supported."""
    if schema is None:
        return None
    kept = json.loads(
        schema, object_hook=lambda each: {k: v for k, v in each.items() if k != "maxItems"}
    )
    return {"type": "json_schema", "schema": kept}


def _block(text: str) -> Block:
    return {"type": "text", "text": text}


def _mark(blocks: Sequence[Block]) -> None:
    """Set a cache breakpoint at the last of these blocks."""
    if blocks:
        blocks[-1]["cache_control"] = _CACHED


_NO_ID = re.compile("[^a-zA-Z0-9_-]")
"""Characters in ids of other servers that this protocol refuses."""


def _id(call_id: str) -> str:
    return _NO_ID.sub("_", call_id)


def _blocks(message: Message) -> list[Block]:
    """Encode a message as content blocks; an echo is sent as it was received."""
    if message.use.answers is not None:
        return [_result(message, message.use.answers)]
    echo = protocol.echo_of(message)
    if isinstance(echo, list):
        return echo
    images = [_image_block(picture) for picture in message.pictures]
    text = [_block(message.content)] if message.content else []
    calls_made: list[Block] = [
        {
            "type": "tool_use",
            "id": _id(call.id),
            "name": call.name,
            "input": arguments_object(call),
        }
        for call in message.use.calls
    ]
    return [*images, *text, *calls_made]


def _result(message: Message, call: ToolCall) -> Block:
    block: Block = {"type": "tool_result", "tool_use_id": _id(call.id)}
    if message.content:
        block["content"] = message.content
    return block | {"is_error": True} if message.use.is_error else block


def _image_block(picture: Picture) -> Block:
    data = protocol.encoded(picture)
    source = {"type": "base64", "media_type": picture.media_type, "data": data}
    return {"type": "image", "source": source}


def _role(message: Message) -> str:
    return "assistant" if message.role is Role.ASSISTANT else "user"


def _in_first_request(messages: Sequence[Message]) -> int:
    """Count the messages of the turn's first request, without the calls and results since."""
    sizes = range(len(messages), 0, -1)
    return next((size for size in sizes if not messages[size - 1].use), 0)


_SHOWN = 300
"""Maximum characters of a model's explanation of a refusal."""


_GROWING = frozenset({"text", "thinking", "signature", "partial_json"})
"""Streamed fields of a block; `partial_json` is the `input` of a call."""
_THINKING = frozenset({"thinking", "redacted_thinking"})


class _Blocks:
    """Collects the blocks of an answer as received."""

    def __init__(self) -> None:
        self._started: dict[int | None, Block] = {}
        self._deltas: dict[int | None, dict[str, list[str]]] = {}

    def begin(self, index: int | None, block: Block) -> None:
        self._started[index] = {name: each for name, each in block.items() if each is not None}

    def extend(self, index: int | None, delta: object) -> None:
        for name, text in delta.items() if isinstance(delta, dict) else ():
            if name in _GROWING and isinstance(text, str):
                self._deltas.setdefault(index, {}).setdefault(name, []).append(text)

    def signed(self) -> list[Block] | None:
        """Return the blocks if they include signed reasoning; otherwise None.

        Blank text blocks are omitted, because the server refuses them.
        """
        whole = [self._whole(index) for index in self._started]
        kept = [b for b in whole if b.get("type") != "text" or text_at(b, "text").strip()]
        kinds = (text_at(block, "type") for block in kept)
        return kept if _THINKING.intersection(kinds) else None

    def _whole(self, index: int | None) -> Block:
        block, deltas = self._started[index], self._deltas.get(index, {})
        joined = {name: text_at(block, name) + "".join(texts) for name, texts in deltas.items()}
        arguments = joined.pop("partial_json", "")
        called = {"input": arguments_object(ToolCall("", "", arguments))} if arguments else {}
        return block | joined | called


class AnthropicParser(protocol.AnswerParser):
    """Parses one answer, event by event, or a complete message."""

    def __init__(self) -> None:
        super().__init__()
        self._called: set[int | None] = set()
        """The indexes of blocks that are calls for jitchat, not calls of server-side tools."""
        self._blocks = _Blocks()

    def _read(self, event: str, chunk: dict[str, object]) -> Iterator[provider.Piece]:
        index = chunk.get("index")
        place = index if isinstance(index, int) else None
        match text_at(chunk, "type") or event:
            case "content_block_delta":
                yield from self._delta(chunk.get("delta"), place)
            case "content_block_start":
                yield from self._block(chunk.get("content_block"), place)
            case "content_block_stop":
                yield from self._calls.taken()
            case "message_start":
                self._take_counts(at(chunk, "message", "usage"))
                yield from self._known(None)  # its output count is not final
            case "message_delta":
                yield from self._counted(chunk)
                yield from _finished(chunk.get("delta"))
            case "message_stop":
                yield from self.end()
                self.over = True
            case "message" | "":
                yield from self._message(chunk)

    def _delta(self, delta: object, index: int | None) -> Iterator[provider.Piece]:
        yield from _words(delta)
        self._blocks.extend(index, delta)
        arguments = text_at(delta, "partial_json")
        if arguments and index in self._called:
            self._calls.add([{"index": index, "function": {"arguments": arguments}}])

    def _block(self, block: object, index: int | None) -> Iterator[provider.Piece]:
        """Read the start of a block, which in a complete message is the whole block."""
        yield from _words(block)
        if isinstance(block, dict):
            self._blocks.begin(index, block)
        if text_at(block, "type") == "tool_use":
            self._called.add(index)
            function = {"name": at(block, "name"), "arguments": at(block, "input") or ""}
            self._calls.add([{"index": index, "id": at(block, "id"), "function": function}])

    def _echo(self) -> object:
        return self._blocks.signed()

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
            written=_cache_writes(usage),
            cached=count(at(usage, "cache_read_input_tokens")),
            answered=count(at(usage, "output_tokens")),
            reasoning=count(at(details, "thinking_tokens"), at(details, "reasoning_tokens")),
        )

    def _known(self, answered: int | None) -> Iterator[Usage]:
        if usage := self._counts.usage(self._counts.sum("uncached", "cached", "written"), answered):
            yield usage


def _cache_writes(usage: object) -> int | None:
    """Count the tokens written to the cache; some servers report them only by lifetime."""
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

    name = "anthropic"
    parser = AnthropicParser

    def rules(self, endpoint: provider.Endpoint, options: provider.Options) -> WritingRules:
        requires = WritingRules(user_first=True, alternates=True)
        return calls.rules_for(endpoint, self.name, options, requires)

    def request(
        self, endpoint: provider.Endpoint, messages: Sequence[Message], options: provider.Options
    ) -> httpx.Request:
        """Make the request.

        Two cache breakpoints are set: after the system text, and before the final message, which
        changes with every request. If tools are offered, a third one is set outside the messages;
        the server moves it forward, so that the messages need not be rewritten.
        """
        without, tools = options.without, calls.offered(options)
        system = [_block(each.content) for each in messages if each.role is Role.SYSTEM]
        sent = [message for message in messages if message.role is not Role.SYSTEM]
        turns = [(_role(message), _blocks(message)) for message in sent]
        if "cache_control" not in without:
            _mark(system)
            first = turns[: _in_first_request(sent)]
            _mark([block for _, blocks in first for block in blocks][:-1])
        sampled = takes_sampling(endpoint.model)
        optional = {
            "temperature": options.temperature if sampled else None,
            "top_p": options.top_p if sampled else None,
            "top_k": options.top_k if sampled else None,
            "cache_control": _CACHED if tools else None,
            "tool_choice": protocol.filled({"type": options.tool_choice}) if tools else None,
            "tools": [
                {
                    "name": tool.name,
                    "description": tool.description,
                    "input_schema": schema_of(tool),
                }
                for tool in tools
            ],
            "system": system,
            "output_config": protocol.filled(
                {"effort": options.effort, "format": _format(options.schema)}, without
            ),
        }
        body = {
            "model": endpoint.model,
            "max_tokens": _cap(options),
            **protocol.filled(optional, without),
            "messages": [
                {"role": role, "content": [block for _, blocks in group for block in blocks]}
                for role, group in groupby(turns, key=itemgetter(0))
            ],
            "stream": True,
        }
        url = f"{base_of(endpoint.base_url, 'anthropic')}/messages"
        return protocol.json_request(endpoint, "anthropic", url, body)
