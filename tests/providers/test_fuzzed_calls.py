"""Thousands of streams with calls, complete and broken: the result can always be sent back."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING, Any

import pytest

from jitchat.errors import ProviderError
from jitchat.providers.answer import Answer
from jitchat.providers.http.decode import ResponseDecoder
from jitchat.providers.protocols.calls import CallNames, origin_of
from jitchat.providers.tools import arguments_of, problem_with
from jitchat.values import Message, Role, ToolResult
from tests.providers.dialects import DIALECTS, Dialect
from tests.providers.requested import requested
from tests.providers.streams import endpoint
from tests.providers.test_fuzzed_streams import chunked, mutated
from tests.providers.tool_windows import FIELDS, OFFERED
from tests.support import result_message

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

every_dialect = pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)
ASKED = (Message(Role.USER, "Weather?"),)
ARGUMENTS = (
    {},
    {"city": "Köln"},
    {"city": '漢字 😀\u2028\n"', "days": 2},
    {"deep": [{"a": [1.5, None, True]}]},
)
Call = tuple[str, str, dict[str, Any]]
"""Its id, its tool and its arguments."""


def pieces_of(text: str, rng: random.Random) -> list[str]:
    """Cut a text anywhere, into at most four pieces."""
    cuts = sorted(rng.randrange(len(text) + 1) for _ in range(rng.randrange(4)))
    return [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]


def by_turns(rows: Sequence[list[dict[str, Any]]], rng: random.Random) -> Iterator[dict[str, Any]]:
    """Mix the events of several calls, each call's in their order."""
    waiting = [list(row) for row in rows if row]
    while waiting:
        row = rng.choice(waiting)
        yield row.pop(0)
        waiting = [row for row in waiting if row]


def openai(calls: list[Call], rng: random.Random) -> Iterator[dict[str, Any]]:
    def chunk(**fragment: Any) -> dict[str, Any]:
        return {"choices": [{"index": 0, "delta": {"tool_calls": [fragment]}}]}

    yield {"choices": [{"index": 0, "delta": {"reasoning_content": "Hm."}}]}
    rows = []
    for number, (call_id, name, arguments) in enumerate(calls):
        head = chunk(index=number, id=call_id, function={"name": name, "arguments": ""})
        texts = pieces_of(json.dumps(arguments), rng)
        rest = [chunk(index=number, function={"arguments": text}) for text in texts]
        rows.append([head, *rest])
    yield from by_turns(rows, rng)


def responses(calls: list[Call], rng: random.Random) -> Iterator[dict[str, Any]]:
    done = "response.output_item.done"
    thought = {"type": "reasoning", "id": "rs", "summary": [], "encrypted_content": "gA"}
    yield {"type": done, "output_index": 0, "item": thought}
    rows = []
    for number, (call_id, name, arguments) in enumerate(calls, start=1):
        text = json.dumps(arguments)
        delta = {"type": "response.function_call_arguments.delta", "output_index": number}
        item = {"type": "function_call", "call_id": call_id, "name": name, "arguments": text}
        rows.append(
            [
                *(delta | {"delta": each} for each in pieces_of(text, rng)),
                {"type": done, "output_index": number, "item": item},
            ]
        )
    yield from by_turns(rows, rng)


def anthropic(calls: list[Call], rng: random.Random) -> Iterator[dict[str, Any]]:
    def block(index: int, **more: Any) -> dict[str, Any]:
        return {"type": "content_block_start", "index": index, "content_block": more}

    def delta(index: int, **more: Any) -> dict[str, Any]:
        return {"type": "content_block_delta", "index": index, "delta": more}

    yield block(0, type="thinking", thinking="Hm.", signature="")
    yield delta(0, type="signature_delta", signature="Eq")
    for number, (call_id, name, arguments) in enumerate(calls, start=1):
        yield block(number, type="tool_use", id=call_id, name=name, input={})
        for text in pieces_of(json.dumps(arguments), rng):
            yield delta(number, type="input_json_delta", partial_json=text)
        yield {"type": "content_block_stop", "index": number}


def gemini(calls: list[Call], _: random.Random) -> Iterator[dict[str, Any]]:
    for call_id, name, arguments in calls:
        call = {"functionCall": {"id": call_id, "name": name, "args": arguments}}
        part = call | {"thoughtSignature": "Cp"}
        yield {"candidates": [{"content": {"role": "model", "parts": [part]}}]}


def ollama(calls: list[Call], _: random.Random) -> Iterator[dict[str, Any]]:
    for call_id, name, arguments in calls:
        call = {"id": call_id, "function": {"name": name, "arguments": arguments}}
        message = {"role": "assistant", "content": "", "thinking": "Hm.", "tool_calls": [call]}
        yield {"model": "m", "message": message, "done": False}


WRITERS = {each.__name__: each for each in (openai, responses, anthropic, gemini, ollama)}


def drawn_calls(rng: random.Random) -> list[Call]:
    count = rng.randrange(1, 4)
    names = rng.choices(["weather", "clock"], k=count)
    return [(f"id{n}", name, rng.choice(ARGUMENTS)) for n, name in enumerate(names)]


def stream_of(dialect: Dialect, calls: list[Call], rng: random.Random) -> bytes:
    events = [*WRITERS[dialect.name](calls, rng), *rng.choice(dialect.ends)]
    return "".join(dialect.written(event) for event in events).encode()


def answered(dialect: Dialect, data: bytes, rng: random.Random) -> tuple[Answer, bool]:
    """Read a stream; whether it ended without an error."""
    decoder = ResponseDecoder(dialect.protocol.parser(), dialect.media)
    names = CallNames(ASKED, origin_of(endpoint(), dialect.name))
    answer, is_whole = Answer(), True
    try:
        for chunk in chunked(data, rng):
            for piece in decoder.feed(chunk):
                answer.take(names.named(piece))
        for piece in decoder.end():
            answer.take(names.named(piece))
    except ProviderError:
        is_whole = False
        for piece in decoder.held():
            answer.take(names.named(piece))
    return answer, is_whole


def handed_back(dialect: Dialect, answer: Answer) -> list[Any]:
    """The messages of the next request, with a result for each call."""
    results = [result_message(ToolResult(call, "ok")) for call in answer.calls]
    window = (*ASKED, answer.message(), *results)
    request = requested(dialect.protocol, endpoint(), window, OFFERED)
    return json.loads(request.content)[FIELDS[dialect.name]]


def objects_in(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
    for inner in value.values() if isinstance(value, dict) else value:
        if isinstance(inner, dict | list):
            yield from objects_in(inner)


def ids_of(messages: list[Any]) -> tuple[list[str], list[str]]:
    """The ids, or where there are none the names, of calls and of results, in any protocol."""
    called, returned = [], []
    for each in objects_in(messages):
        kind = each.get("type")
        if kind == "tool_use":
            called.append(each.get("id"))
        elif kind == "function_call":
            called.append(each.get("call_id") or each.get("id"))
        elif calls := each.get("tool_calls"):
            called += [call.get("id") or call["function"]["name"] for call in calls]
        elif call := each.get("functionCall"):
            called.append(call.get("id") or call.get("name"))
        elif kind in ("tool_result", "function_call_output") or each.get("role") == "tool":
            keys = ("tool_use_id", "call_id", "tool_call_id", "tool_name")
            returned.append(next((each[key] for key in keys if key in each), ""))
        elif result := each.get("functionResponse"):
            returned.append(result.get("id") or result.get("name"))
    return sorted(filter(None, called)), sorted(filter(None, returned))


@every_dialect
def test_calls_are_read_whole_however_they_are_split_and_mixed(dialect, rounds):
    for seed in range(rounds(80, 4_000)):
        rng = random.Random(seed)
        calls = drawn_calls(rng)
        answer, is_whole = answered(dialect, stream_of(dialect, calls, rng), rng)
        read = [(call.id, call.name, arguments_of(call)) for call in answer.calls]
        assert sorted(read, key=repr) == sorted(calls, key=repr), seed
        assert is_whole, seed
        assert answer.echo is not None, seed
        called, returned = ids_of(handed_back(dialect, answer))
        assert called == returned == sorted(call_id for call_id, _, _ in calls), seed
        assert all(problem_with(call, OFFERED.tools) is None for call in answer.calls), seed


@every_dialect
def test_whatever_came_of_a_broken_stream_can_be_handed_back(dialect, rounds):
    outcomes = set()
    for seed in range(rounds(150, 10_000)):
        rng = random.Random(seed)
        data = mutated(stream_of(dialect, drawn_calls(rng), rng), rng)
        answer, is_whole = answered(dialect, data, rng)
        outcomes.add((is_whole, bool(answer.calls)))
        called, returned = ids_of(handed_back(dialect, answer))
        assert called == returned, seed
        for call in answer.calls:
            problem = problem_with(call, OFFERED.tools)
            assert problem is None or (problem.is_error and problem.call == call), seed
    assert {(True, True), (False, True), (False, False)} <= outcomes
