"""OpenAI's Responses API, used without server state: each request contains the whole window."""

from collections.abc import Iterator, Mapping, Sequence
from operator import itemgetter

import httpx

from jitchat.providers.protocols import calls, protocol
from jitchat.providers.protocols.addresses import base_of
from jitchat.providers.protocols.protocol import Item
from jitchat.providers.protocols.refusals import stopped
from jitchat.providers.provider import (
    Endpoint,
    Finished,
    Options,
    Piece,
    ReasoningDelta,
    ReplyDelta,
)
from jitchat.text.json_values import at, count, list_of, text_at
from jitchat.values import Message, ToolCall, Usage
from jitchat.writing.calls import (
    arguments_text,
    schema_of,
)
from jitchat.writing.pieces import BETWEEN, WritingRules

_TEXTS = ("response.output_text.delta", "response.refusal.delta")
_THOUGHTS = ("response.reasoning_summary_text.delta", "response.reasoning_text.delta")
_ENDS = ("response.completed", "response.incomplete", "response.failed", "response.cancelled")


_COVERED_FIELDS = {
    "message": frozenset({"id", "type", "status", "role", "content"}),
    "function_call": frozenset({"id", "type", "status", "call_id", "name", "arguments"}),
}
"""By an item's type: the fields that text and calls fully represent."""


class ResponsesParser(protocol.AnswerParser):
    """Parses one answer, event by event, or a complete response."""

    def __init__(self) -> None:
        super().__init__()
        self._has_thought = False
        self._items: list[tuple[int, Item]] = []
        """The answer's items, with their output indexes, in the order of arrival."""

    def _read(self, event: str, chunk: dict[str, object]) -> Iterator[Piece]:
        kind = text_at(chunk, "type") or event
        text = text_at(chunk, "delta")
        if kind in _TEXTS and text:
            yield ReplyDelta(text)
        elif kind in _THOUGHTS and text:
            self._has_thought = True
            yield ReasoningDelta(text)
        elif kind == "response.reasoning_summary_part.added" and self._has_thought:
            yield ReasoningDelta(BETWEEN)
        elif kind == "response.output_item.done":
            self._take(chunk.get("item"), chunk.get("output_index"))
        elif kind in _ENDS:
            yield from self._end_of(chunk.get("response"))
        elif text_at(chunk, "object") == "response":
            yield from self._whole(chunk)

    def _take(self, item: object, index: object) -> None:
        """Add a complete item; it contains all of its deltas."""
        if isinstance(item, dict):
            place = index if isinstance(index, int) else len(self._items)
            known = {name: each for name, each in item.items() if each is not None}
            self._items.append((place, known))
        if text_at(item, "type") == "function_call":
            call_id = text_at(item, "call_id") or text_at(item, "id")
            function = {"name": at(item, "name"), "arguments": at(item, "arguments")}
            self._calls.add_whole([{"id": call_id, "function": function}])

    def _echo(self) -> object:
        """Return the items without unencrypted reasoning, which the server did not keep."""
        items = [
            item
            for _, item in sorted(self._items, key=itemgetter(0))
            if item.get("type") != "reasoning" or item.get("encrypted_content")
        ]
        known = (_COVERED_FIELDS.get(text_at(item, "type"), frozenset()) for item in items)
        has_more = any(item.keys() - covered for item, covered in zip(items, known, strict=True))
        return items if has_more else None

    def _whole(self, response: dict[str, object]) -> Iterator[Piece]:
        for index, item in enumerate(list_of(response.get("output"))):
            self._take(item, index)
            thought = BETWEEN.join(text_at(p, "text") for p in list_of(at(item, "summary")))
            if thought:
                yield ReasoningDelta(thought)
            parts = list_of(at(item, "content")) if text_at(item, "type") == "message" else ()
            for part in parts:
                if text := text_at(part, "text") or text_at(part, "refusal"):
                    yield ReplyDelta(text)
        yield from self._end_of(response)

    def _end_of(self, response: object) -> Iterator[Piece]:
        if not self._items:  # some servers send the items only at the end of the stream
            for index, item in enumerate(list_of(at(response, "output"))):
                self._take(item, index)
        yield from self.end()
        yield from self._counted({"usage": at(response, "usage")})
        if at(response, "error"):
            raise stopped(response)
        reason = text_at(response, "incomplete_details", "reason")
        yield Finished(reason or text_at(response, "status") or "completed")
        self.over = True

    def _counted(self, chunk: dict[str, object]) -> Iterator[Usage]:
        usage = chunk.get("usage")
        read, written = at(usage, "input_tokens_details"), at(usage, "output_tokens_details")
        self._counts.take(
            sent=count(at(usage, "input_tokens")),
            answered=count(at(usage, "output_tokens")),
            cached=count(at(read, "cached_tokens")),
            written=count(at(read, "cache_write_tokens")),
            reasoning=count(at(written, "reasoning_tokens")),
        )
        if known := self._counts.usage(self._counts.sum("sent"), self._counts.sum("answered")):
            yield known


def _tools(options: Options) -> list[Item]:
    """Declare the tools, not as strict: a strict tool must list every argument as required."""
    return [
        {
            "type": "function",
            "name": tool.name,
            "description": tool.description,
            "parameters": schema_of(tool),
            "strict": False,
        }
        for tool in calls.offered(options)
    ]


def _called_id(item: object) -> str:
    """Return the id by which a result refers to a call; empty if the item is not a call."""
    if text_at(item, "type") != "function_call":
        return ""
    return text_at(item, "call_id") or text_at(item, "id")


def _with_whole_arguments(item: object, calls: Mapping[str, ToolCall]) -> Item:
    """Return the item to send back, with valid JSON arguments even if the call was cut."""
    fields = item if isinstance(item, dict) else {}
    call = calls.get(_called_id(item))
    return fields if call is None else fields | {"arguments": arguments_text(call)}


def _items(message: Message) -> list[Item]:
    """Encode a message. OpenAI documents its `type` as optional, but llama.cpp requires it."""
    if (call := message.use.answers) is not None:
        return [{"type": "function_call_output", "call_id": call.id, "output": message.content}]
    echo = protocol.echo_of(message)
    if isinstance(echo, list):
        by_id = {call.id: call for call in message.use.calls}
        return [{"type": "message"} | _with_whole_arguments(item, by_id) for item in echo]
    said: Item = {"type": "message", "role": message.role.value, "content": message.content}
    if message.pictures:
        urls = [protocol.data_url(picture) for picture in message.pictures]
        images = [{"type": "input_image", "image_url": url} for url in urls]
        said["content"] = [*images, {"type": "input_text", "text": message.content}]
    has_text = bool(message.content) or not message.use.calls
    return [said] * has_text + [
        {
            "type": "function_call",
            "call_id": call.id,
            "name": call.name,
            "arguments": arguments_text(call),
        }
        for call in message.use.calls
    ]


class ResponsesProtocol:
    """`POST {base_url}/responses`, answered with server-sent events."""

    name = "responses"
    parser = ResponsesParser

    def rules(self, endpoint: Endpoint, options: Options) -> WritingRules:
        requires = WritingRules(alternates=True, marks_errors=True)
        return calls.rules_for(endpoint, self.name, options, requires)

    def request(
        self, endpoint: Endpoint, messages: Sequence[Message], options: Options
    ) -> httpx.Request:
        """Make the request, asking for a reasoning summary until the model refuses that.

        Reasoning to send back with calls is requested in encrypted form, because the server stores
        nothing.
        """
        without, schema = options.without, protocol.named_schema(options)
        form = schema and {"type": "json_schema", **schema}
        tools = _tools(options)
        body = {
            "model": endpoint.model,
            "tools": tools,
            "tool_choice": options.tool_choice if tools else None,
            "input": [item for message in messages for item in _items(message)],
            "stream": True,
            "max_output_tokens": options.max_tokens,
            "temperature": options.temperature,
            "top_p": options.top_p,
            "reasoning": protocol.filled({"effort": options.effort, "summary": "auto"}, without),
            "text": protocol.filled({"format": form}, without),
            "include": ["reasoning.encrypted_content"] if tools else None,
        }
        kept = protocol.filled(body, without) | {"store": False}
        url = f"{base_of(endpoint.base_url, 'openai')}/responses"
        return protocol.json_request(endpoint, "openai", url, kept)
