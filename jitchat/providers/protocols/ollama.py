"""Ollama's own chat API, the only one that can set the context size and report an overflow.

By default Ollama chooses the context size itself and silently drops the oldest messages.
"""

import json
from collections.abc import Iterator, Sequence

import httpx

from jitchat.providers.protocols import calls, protocol
from jitchat.providers.protocols.addresses import root_of
from jitchat.providers.protocols.protocol import Item
from jitchat.providers.provider import Endpoint, Finished, Options, Piece, ReasoningDelta
from jitchat.text.json_values import at, count, text_at
from jitchat.values import Message, Usage
from jitchat.writing.calls import arguments_object, given_id
from jitchat.writing.pieces import WritingRules

_SWITCHES = {"on": True, "true": True, "off": False, "false": False, "none": False}
"""Efforts for models without levels of effort."""


class OllamaParser(protocol.AnswerParser):
    """Parses one answer, line by line; the last line has `done` and the token counts."""

    def __init__(self) -> None:
        super().__init__()
        self._thoughts: list[str] = []

    def _read(self, _: str, chunk: dict[str, object]) -> Iterator[Piece]:
        if thought := text_at(chunk, "message", "thinking"):
            self._text.reasoned()
            self._thoughts.append(thought)
            yield ReasoningDelta(thought)
        if text := text_at(chunk, "message", "content"):
            yield from self._text.text(text)
        self._calls.add_whole(at(chunk, "message", "tool_calls"))
        if chunk.get("done") is True:
            yield from self.end()
            if reason := text_at(chunk, "done_reason"):
                yield Finished(reason)
            yield from self._counted(chunk)
            self.over = True

    def _echo(self) -> object:
        return {"thinking": "".join(self._thoughts)} if self._thoughts else None

    def _counted(self, chunk: dict[str, object]) -> Iterator[Usage]:
        """Yield the counts; old servers omit the prompt's if all of it was cached."""
        self._counts.take(cached=count(chunk.get("prompt_eval_cached_count")))
        sent, answered = count(chunk.get("prompt_eval_count")), count(chunk.get("eval_count"))
        if known := self._counts.usage(sent, answered):
            yield known


def _item(message: Message) -> Item:
    if (call := message.use.answers) is not None:
        return (
            protocol.filled({"role": "tool", "tool_name": call.name})
            | {"content": message.content}
            | protocol.filled({"tool_call_id": given_id(call.id)})
        )
    item: Item = {"role": message.role.value, "content": message.content}
    if message.pictures:
        item["images"] = [protocol.encoded(picture) for picture in message.pictures]
    item |= protocol.filled({"thinking": text_at(protocol.echo_of(message), "thinking")})
    if message.use.calls:
        item["tool_calls"] = [
            protocol.filled({"id": given_id(call.id)})
            | {"function": {"name": call.name, "arguments": arguments_object(call)}}
            for call in message.use.calls
        ]
    return item


class OllamaProtocol:
    """`POST {base_url}/api/chat`, answered with one JSON document per line."""

    name = "ollama"
    parser = OllamaParser

    def rules(self, endpoint: Endpoint, options: Options) -> WritingRules:
        requires = WritingRules(joins=True, alternates=True, marks_errors=True, names_results=True)
        return calls.rules_for(endpoint, self.name, options, requires)

    def request(
        self, endpoint: Endpoint, messages: Sequence[Message], options: Options
    ) -> httpx.Request:
        settings = {
            "num_ctx": options.context,
            "num_predict": options.max_tokens,
            "temperature": options.temperature,
            "top_p": options.top_p,
            "top_k": options.top_k,
            "seed": options.seed,
        }
        effort, without = options.effort, options.without
        tools = calls.functions(options)
        body = {
            "model": endpoint.model,
            "tools": tools,
            "messages": [_item(message) for message in messages],
            "stream": True,
            "think": None if effort is None else _SWITCHES.get(effort, effort),
            "format": json.loads(options.schema) if options.schema else None,
            "options": protocol.filled(settings, without),
            "truncate": False,
            "shift": False,
        }
        url = f"{root_of(endpoint.base_url)}/api/chat"
        sent = protocol.filled(body, without)
        return protocol.json_request(endpoint, "ollama", url, sent, "application/x-ndjson")
