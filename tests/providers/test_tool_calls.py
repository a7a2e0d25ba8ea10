"""Tool calls in the fragments in which servers send them."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from jitchat.providers.protocols.openai import OpenAiProtocol
from jitchat.providers.provider import Finished, ReplyDelta
from jitchat.values import ToolCall


def fragment(name: str | None = None, arguments: object = None, **more: Any) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "arguments": arguments}} | more


def calls(*fragments: Any) -> list[object]:
    """What comes of one chunk for each of them, and of the end of the stream."""
    parser = OpenAiProtocol().parser()
    chunks = (json.dumps({"choices": [{"delta": {"tool_calls": [each]}}]}) for each in fragments)
    pieces = [piece for chunk in chunks for piece in parser.parse("", chunk)]
    assert pieces == []
    return list(parser.end())


F, G = ToolCall("", "f", '{"a":1}'), ToolCall("", "g", "{}")
F1, G2 = replace(F, id="1"), replace(G, id="2")


@pytest.mark.parametrize(
    ("fragments", "expected"),
    [
        pytest.param(
            [
                fragment("f", "", index=0, id="1"),
                fragment(None, '{"a"', index=0),
                fragment(None, ":1}", index=0),
                fragment("g", "{}", index=1, id="2"),
            ],
            [F1, G2],
            id="by the book",
        ),
        pytest.param(
            [
                fragment("f", "", index=0, id="1"),
                fragment("g", "", index=1, id="2"),
                fragment(None, "{}", index=1),
                fragment(None, '{"a":1}', index=0),
            ],
            [F1, G2],
            id="by turns",
        ),
        pytest.param(
            [fragment("f", '{"a":1}', index=0, id="1"), fragment("g", "{}", index=0, id="2")],
            [F1, G2],
            id="all are number 0",
        ),
        pytest.param(
            [
                fragment("f", "", index=0, id="1"),
                fragment("", '{"a"', index=0, id=""),
                fragment("f", ":1}", index=0, id="1"),
            ],
            [F1],
            id="the id and the name are repeated",
        ),
        pytest.param(
            [
                fragment("f", '{"a"', id="1"),
                fragment(None, ":1}"),
                fragment("g", "{}", id="2"),
            ],
            [F1, G2],
            id="no number",
        ),
        pytest.param(
            [fragment("f", '{"a":1}'), fragment("g", "{}")], [F, G], id="no number and no id"
        ),
        pytest.param(
            [fragment("f", '{"a":1}'), fragment("f", '{"a":1}')], [F, F], id="one twice, by itself"
        ),
        pytest.param(
            [fragment("f", '{"a"'), fragment("f", ":1}"), fragment("f", "")],
            [F],
            id="the name is repeated, and there is no id",
        ),
        pytest.param(
            [fragment("f", '{"a":1}', index=0), fragment("g", "{}", index=0)],
            [F, G],
            id="all are number 0, and there is no id",
        ),
        pytest.param(
            [
                fragment("f", "", index=0, id="1"),
                fragment(None, '{"a"', index=0, id="7"),
                fragment(None, ":1}", index=0, id="8"),
            ],
            [F1],
            id="each fragment has an id of its own",
        ),
        pytest.param(
            [
                fragment("f", "", id="1"),
                fragment("g", "", id="2"),
                fragment(None, '{"a":1}', id="1"),
                fragment(None, "{}", id="2"),
            ],
            [F1, G2],
            id="by turns, and no number",
        ),
        pytest.param(
            [
                fragment("f", "", index=0, id="1"),
                fragment("g", "", index=0, id="2"),
                fragment(None, '{"a"', index=0, id="1"),
                fragment(None, ":1}", index=0),
                fragment(None, "{}", index=0, id="2"),
            ],
            [F1, G2],
            id="by turns, and all are number 0",
        ),
        pytest.param(
            [fragment("f", "{}", index=0), fragment(None, '{"a":1}', index=0)],
            [F],
            id="an empty object stands ahead",
        ),
        pytest.param(
            [fragment("f", {"a": "é"}, index=0)], [ToolCall("", "f", '{"a": "é"}')], id="json"
        ),
        pytest.param([fragment("f", '{"a":', index=0)], [ToolCall("", "f", '{"a":')], id="broken"),
        pytest.param([fragment("f", None, index=0)], [ToolCall("", "f", "")], id="no arguments"),
        pytest.param([fragment(None, "{}", index=0)], [ToolCall("", "", "{}")], id="no name"),
        pytest.param([fragment(), {}, {"function": None}, 7, None], [], id="nothing"),
        pytest.param([fragment("f", '{"a":1}', index="0", id=7)], [F], id="odd types"),
    ],
)
def test_fragments_become_calls(fragments, expected):
    assert calls(*fragments) == expected


def test_the_calls_come_ahead_of_the_reason():
    whole = fragment("f", '{"a":1}', index=0, id="1")
    choice = {
        "delta": {"content": "One moment.", "tool_calls": [whole]},
        "finish_reason": "tool_calls",
    }
    parser = OpenAiProtocol().parser()
    assert list(parser.parse("", json.dumps({"choices": [choice]}))) == [
        ReplyDelta("One moment."),
        F1,
        Finished("tool_calls"),
    ]
    assert list(parser.end()) == []


def test_the_calls_come_ahead_of_a_last_event_without_a_reason():
    parser = OpenAiProtocol().parser()
    chunk = {"choices": [{"delta": {"tool_calls": [fragment("g", "{}")]}}]}
    assert list(parser.parse("", json.dumps(chunk))) == []
    assert list(parser.parse("", "[DONE]")) == [G]
    assert parser.over


def test_a_call_by_its_former_name_is_one():
    parser = OpenAiProtocol().parser()
    chunks = [{"function_call": {"name": "f"}}, {"function_call": {"arguments": '{"a":1}'}}]
    for delta in chunks:
        assert list(parser.parse("", json.dumps({"choices": [{"delta": delta}]}))) == []
    assert list(parser.end()) == [F]


def test_what_stands_beside_a_call_is_handed_back_with_that_call():
    """Gemini's own endpoint may number every call 0, and leave out the number."""
    parser = OpenAiProtocol().parser()
    signed = {"extra_content": {"google": {"thought_signature": "CpQB"}}}
    fragments = [{}, fragment("f", "{}"), fragment("g", "{}", **signed), fragment("g", "{}")]
    for each in fragments:
        chunk = {"choices": [{"delta": {"tool_calls": [each | {"index": 0}]}}]}
        assert list(parser.parse("", json.dumps(chunk))) == []
    *found, echo = parser.end()
    assert [call.name for call in found] == ["f", "g", "g"]
    assert json.loads(echo.value) == {"tool_calls": [{}, signed, {}]}
