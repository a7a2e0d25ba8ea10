"""Each call is followed by its result; errors in a call are reported to the model."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jitchat.providers.protocols.protocol import protocol_names
from jitchat.providers.tools import arguments_of, problem_with
from jitchat.values import Message, Role, ToolCall, ToolResult, ToolUse
from jitchat.writing.calls import (
    arguments_object,
    arguments_text,
)
from jitchat.writing.pieces import PLAIN
from jitchat.writing.write import write_messages
from tests.examples import examples
from tests.providers.tool_windows import CLOCK, WEATHER, sent_messages
from tests.support import result_message

ASKED = Message(Role.USER, "Weather?")


def calling(*ids: str, text: str = "") -> Message:
    calls = tuple(ToolCall(each, "weather", "{}") for each in ids)
    return Message(Role.ASSISTANT, text, None, ToolUse(calls))


def result(call_id: str, content: str = "ok") -> Message:
    return result_message(ToolResult(ToolCall(call_id, "weather", "{}"), content))


def written(window: Sequence[Message]) -> tuple[Message, ...]:
    return write_messages(window, PLAIN)


def test_messages_without_tools_stay_as_they_are():
    window = (ASKED, Message(Role.ASSISTANT, "Rain."), Message(Role.USER, "an old one"))
    assert written(window) == window


def test_results_stand_in_the_order_of_their_calls():
    window = [ASKED, calling("a", "b"), result("b"), result("a")]
    assert written(window) == (ASKED, calling("a", "b"), result("a"), result("b"))


def test_a_result_that_comes_late_stands_behind_its_call():
    later = Message(Role.USER, "And?")
    window = [ASKED, calling("a"), later, result("a")]
    assert written(window) == (ASKED, calling("a"), result("a"), later)


def test_a_call_without_a_result_gets_one_that_says_so():
    missing = written([ASKED, calling("a", "b"), result("a")])[-1]
    assert missing.use == ToolUse(answers=ToolCall("b", "weather", "{}"), is_error=True)
    assert missing.content.startswith("No result: the call was interrupted")


def test_a_result_without_a_call_is_the_users_with_the_call_quoted():
    stray, *others = written([result("x", "21 °C"), calling("a"), result("a")])
    assert stray == Message(Role.USER, "<call>\nweather {}\n</call>\nIt returned:\n21 °C")
    assert others == [calling("a"), result("a")]


def test_an_id_that_comes_again_is_the_later_answers():
    window = [ASKED, calling("a"), result("a", "1"), calling("a"), result("a", "2")]
    _, first, _, second, after = written(window)
    assert (first.use.calls[0].id, second.use.calls[0].id) == ("a", "a_2")
    assert after.use.answers == second.use.calls[0]
    _, _, interrupted, _, after = written([ASKED, calling("a"), calling("a"), result("a", "2")])
    assert interrupted.use.is_error
    assert after.content == "2"


IDS = st.sampled_from(["a", "b", "c"])
WINDOWS = st.lists(
    st.lists(IDS, max_size=3).map(lambda ids: calling(*ids, text="hm"))
    | IDS.map(result)
    | st.just(ASKED)
)


@examples(100)
@given(window=WINDOWS)
def test_whatever_is_missing_each_call_is_followed_by_its_results_and_nothing_else(window):
    messages = written(window)
    waiting: list[ToolCall] = []
    for message in messages:
        if message.use.answers:
            assert message.use.answers == waiting.pop(0)
        else:
            assert waiting == []
            waiting = list(message.use.calls)
    assert waiting == []
    assert [m.content for m in messages if m.role is Role.ASSISTANT] == [
        m.content for m in window if m.role is Role.ASSISTANT
    ]
    assert written(messages) == messages


@pytest.mark.parametrize("name", protocol_names)
def test_a_request_after_a_kill_between_call_and_result_is_complete(name):
    window = [ASKED, calling("a", "b"), result("b"), Message(Role.USER, "Go on.")]
    written = json.dumps(sent_messages(name, window))
    assert written.count("No result: the call was interrupted") == 1
    assert "Go on." in written


@pytest.mark.parametrize(
    ("arguments", "read"),
    [
        ('{"a": 1}', {"a": 1}),
        ("", {}),
        (" null ", {}),
        ('{"a": "x\ny"}', {"a": "x\ny"}),
        ('{"a": 1', None),
        ("[1]", None),
        ('"x"', None),
        ('{"a": 1e999}', None),
        ('{"a": NaN}', None),
        ('{"a":' * 99 + "1" + "}" * 99, None),
        ("[" * 99_999, None),
        ('{"a": ' + "9" * 9_999 + "}", None),
    ],
)
def test_arguments_are_an_object_or_nothing(arguments, read):
    call = ToolCall("1", "weather", arguments)
    assert arguments_of(call) == read
    assert arguments_object(call) == ({"INVALID_JSON": arguments} if read is None else read)
    assert json.loads(arguments_text(call), strict=False) == arguments_object(call)


@examples(50)
@given(text=st.text())
def test_whatever_a_model_writes_for_arguments_can_be_sent_back(text):
    call = ToolCall("1", "weather", text)
    assert json.loads(arguments_text(call), strict=False) == arguments_object(call)


def test_whole_arguments_go_back_as_they_were_written():
    assert arguments_text(ToolCall("1", "weather", '{"b":1,  "a":2.0}')) == '{"b":1,  "a":2.0}'


def test_a_call_that_can_be_run_has_no_problem():
    assert problem_with(ToolCall("1", "clock", ""), [WEATHER, CLOCK]) is None


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("wether", "{}", "There is no tool 'wether'. There are: clock, weather."),
        ("clock", "[1]", "The arguments are not a JSON object (type list). Nothing was run."),
        ("clock", '{"a"', "The arguments are not a JSON object (Expecting ':'"),
    ],
)
def test_what_is_wrong_with_a_call_is_a_result_for_the_model(name, arguments, said):
    told = problem_with(ToolCall("1", name, arguments), [WEATHER, CLOCK])
    assert told is not None
    assert (told.call.id, told.call.name, told.is_error) == ("1", name, True)
    assert told.content.startswith(said)


def test_without_tools_a_call_is_told_that_there_are_none():
    told = problem_with(ToolCall("1", "clock", ""), [])
    assert told is not None
    assert told.content == "There is no tool 'clock'. There are none."
