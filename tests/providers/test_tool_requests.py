"""Requests that offer tools and send back calls and results, in every protocol."""

from __future__ import annotations

import itertools
import json
import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jitchat.providers.protocols.protocol import protocol_named, protocol_names
from jitchat.providers.provider import Options, SentRequest, request_fields, request_from
from jitchat.values import Echo, Message, Role, ToolCall, ToolResult, ToolUse
from tests.examples import examples
from tests.providers.golden import WINDOW, require_golden
from tests.providers.requested import requested
from tests.providers.streams import endpoint
from tests.providers.test_fuzzed_calls import ids_of
from tests.providers.tool_windows import (
    CLOCK,
    ENCRYPTED,
    FIELDS,
    FIRST,
    OFFERED,
    THOUGHT,
    WEATHER,
    echo_of,
    sent,
    sent_messages,
    turn_with_tools,
)
from tests.support import result_message

every_protocol = pytest.mark.parametrize("name", protocol_names)
ASKED = (Message(Role.SYSTEM, "Be brief."), Message(Role.USER, "Weather?"))


def result(call_id: str, content: str = "ok", name: str = "weather", **more: bool) -> Message:
    return result_message(ToolResult(ToolCall(call_id, name, "{}"), content, **more))


def calling(*calls: ToolCall, text: str = "", echo: Echo | None = None) -> Message:
    return Message(Role.ASSISTANT, text, None, ToolUse(calls, echo))


@every_protocol
def test_the_whole_request_is_the_one_on_file(name):
    protocol = protocol_named(name)
    require_golden(f"{name}_tools", protocol, endpoint(), OFFERED, turn_with_tools(name))


@every_protocol
def test_the_order_in_which_tools_are_offered_changes_nothing(name):
    protocol, window = protocol_named(name), turn_with_tools(name)
    first, second = (
        requested(protocol, endpoint(), window, Options(tools=tools)).content
        for tools in ((WEATHER, CLOCK), (CLOCK, WEATHER))
    )
    assert first == second
    assert first.index(b'"clock"') < first.index(b'"weather"')


ARGUMENTS = st.sampled_from(
    [
        *("", "null", "{}", '{"b": 1.0, "a": [null, {"é": "\\ud800"}]}', '{"a":1, "a": 2}'),
        *('{"a": ', "[1]", "7", "NaN", '{"a": 1e999}', "{} {}", "[" * 999, "\u2028"),
    ]
)
CALLS = st.lists(
    st.tuples(st.sampled_from(["weather", "clock"]), ARGUMENTS), min_size=1, max_size=3
)
STEPS = st.lists(
    st.tuples(st.text(), CALLS, st.text(), st.booleans(), st.booleans()), min_size=2, max_size=5
)


@every_protocol
@examples(40)
@given(drawn=STEPS)
def test_each_request_of_a_turn_begins_with_the_bytes_of_the_one_before(name, drawn):
    protocol, window = protocol_named(name), list(WINDOW)
    before = b""
    for number, (text, calls, content, is_error, has_echo) in enumerate(drawn):
        request = requested(protocol, endpoint(), window, OFFERED).content
        begin = json.dumps(json.loads(request)[FIELDS[name]]).encode()
        start = request.index(begin)
        assert request.startswith(before)
        before = request[: start + len(begin) - 1]
        made = tuple(
            ToolCall(f"call{number:02}{place:03}", *call) for place, call in enumerate(calls)
        )
        window.append(calling(*made, text=text, echo=echo_of(name, made) if has_echo else None))
        window += [result(call.id, content, call.name, is_error=is_error) for call in made]
    assert requested(protocol, endpoint(), window, OFFERED).content.startswith(before)


@every_protocol
def test_without_tools_calls_and_results_go_out_as_text(name):
    body = json.dumps(sent(name, turn_with_tools(name), Options()), ensure_ascii=False)
    assert "toolu_01" not in body
    assert "tools" not in body
    texts = (
        '<call>\\nweather {\\"city\\": \\"Köln\\"}\\n</call>\\nIt returned:\\n21 °C',
        "<call>\\nclock {}\\n</call>\\nIt failed:\\nNo clock here.",
    )
    assert all(text in body for text in texts)


@every_protocol
def test_a_model_that_takes_no_tools_is_asked_as_if_there_were_none(name):
    window = turn_with_tools(name)
    refused = replace(OFFERED, without=frozenset({"tools"}))
    assert sent(name, window, refused) == sent(name, window, Options())


@every_protocol
def test_what_one_model_wants_back_is_not_sent_to_another(name):
    def written(origin: str, calls: tuple[ToolCall, ...] = FIRST) -> str:
        echo = replace(echo_of(name), origin=origin)
        return json.dumps(sent_messages(name, [*ASKED, calling(*calls, echo=echo)]))

    secret = ENCRYPTED.get(name, THOUGHT)
    assert secret in written(f"{name}:openai/m")
    for origin in (f"{name}:openai/m2", f"{name}:other/m", "another:openai/m", ""):
        assert secret not in written(origin)


@pytest.mark.parametrize("name", ["responses", "anthropic", "gemini"])
def test_what_does_not_hold_the_very_calls_is_not_handed_back(name):
    changed = calling(*FIRST[:1], echo=echo_of(name))
    assert sent_messages(name, [*ASKED, changed]) == sent_messages(
        name, [*ASKED, calling(*FIRST[:1])]
    )


def test_anthropic_has_all_the_results_of_an_answer_in_one_message():
    calls = ToolCall("t1", "weather", "{}"), ToolCall("t2", "clock", "{}")
    last = sent_messages("anthropic", [*ASKED, calling(*calls), result("t2"), result("t1")])[-1]
    assert last["role"] == "user"
    assert [block["tool_use_id"] for block in last["content"]] == ["t1", "t2"]
    assert {block["type"] for block in last["content"]} == {"tool_result"}


@every_protocol
def test_what_is_said_to_results_that_were_never_answered_comes_behind_an_end(name):
    stopped = [*ASKED, calling(ToolCall("t1", "weather", "{}")), result("t1")]
    written = sent_messages(name, [*stopped, Message(Role.USER, "Go on.")])
    assert written[:-2] == sent_messages(name, stopped)
    assert [item["role"] for item in written[-2:]] in (["assistant", "user"], ["model", "user"])
    assert "stopped here" in json.dumps(written[-2])


@pytest.mark.parametrize(
    ("name", "chosen"),
    [
        ("openai", {"tool_choice": "none"}),
        ("responses", {"tool_choice": "none"}),
        ("anthropic", {"tool_choice": {"type": "none"}}),
        ("gemini", {"toolConfig": {"functionCallingConfig": {"mode": "NONE"}}}),
        ("ollama", {}),
    ],
)
def test_for_the_last_step_the_tools_stay_and_are_not_to_be_called(name, chosen):
    last = replace(OFFERED, tool_choice="none")
    assert sent(name, ASKED, last) == sent(name, ASKED) | chosen
    assert sent(name, ASKED, replace(last, tools=())) == sent(name, ASKED, Options())
    refused = replace(last, without=frozenset({"tool_choice"}))
    assert sent(name, ASKED, refused) == sent(name, ASKED)


def test_anthropic_caches_by_itself_what_calls_append_and_no_block_is_marked_anew():
    def marks(messages: tuple[Message, ...]) -> list[tuple[int, int]]:
        return [
            (place, number)
            for place, message in enumerate(sent_messages("anthropic", messages))
            for number, block in enumerate(message["content"])
            if "cache_control" in block
        ]

    assert sent("anthropic", WINDOW)["cache_control"] == {"type": "ephemeral"}
    assert "cache_control" not in sent("anthropic", WINDOW, Options())
    assert marks(WINDOW) == marks(turn_with_tools("anthropic")) != []
    refused = replace(OFFERED, without=frozenset({"cache_control"}))
    assert "cache_control" not in json.dumps(sent("anthropic", WINDOW, refused))


@pytest.mark.parametrize("name", ["openai", "anthropic", "gemini", "ollama"])
def test_an_answer_behind_another_is_one_message_with_it_where_roles_alternate(name):
    """A message of the user's between them was left out."""
    window = [*ASKED, Message(Role.ASSISTANT, "Sunny."), calling(ToolCall("t1", "weather", "{}"))]
    written = sent_messages(name, [*window, result("t1")])
    roles = [item.get("role") for item in written if item.get("role") != "system"]
    assert all(first != second for first, second in itertools.pairwise(roles))
    assert "Sunny." in json.dumps(written)
    openai = endpoint(base_url="https://api.openai.com/v1")
    kept = json.loads(requested(protocol_named("openai"), openai, window, OFFERED).content)
    assert [item["content"] for item in kept["messages"][-3:-1]] == ["Sunny.", None]


@every_protocol
def test_an_id_that_comes_again_in_a_later_answer_is_another_one(name):
    def turn(city: str) -> list[Message]:
        calls = tuple(ToolCall(f"x:{n}", "weather", json.dumps({"city": city})) for n in range(2))
        return [calling(*calls), *(result(call.id, city) for call in calls)]

    window = [*ASKED, *turn("Bonn"), Message(Role.USER, "And?"), *turn("Köln"), *turn("Ulm")]
    called, returned = ids_of(sent_messages(name, window))
    assert called == returned
    assert len(set(called)) == 6


@pytest.mark.parametrize("name", ["gemini", "ollama"])
def test_ids_that_were_made_here_and_come_again_are_still_not_sent(name):
    made = ToolCall("call00001", "weather", "{}")
    window = [*ASKED, calling(made), result(made.id), calling(made), result(made.id)]
    assert "call0" not in json.dumps(sent(name, window))


@every_protocol
@pytest.mark.parametrize(
    ("called", "goes_out"),
    [
        ("weather<|channel|>commentary", "weather__channel__commentary"),
        ("functions.weather", "functions_weather"),
        ("x" * 99, "x" * 64),
        ("", "unnamed"),
    ],
)
def test_a_name_that_a_model_made_up_goes_back_as_one_that_servers_take(name, called, goes_out):
    call = ToolCall("t1", called, '{"a": 1}')
    echo = echo_of(name, (call,))
    window = [*ASKED, calling(call, echo=echo), result("t1", name=called, is_error=True)]
    written = json.dumps(sent_messages(name, window))
    names = re.findall(r'"(?:tool_)?name": "([^"]*)"', written)
    assert names
    assert set(names) == {goes_out}


def test_anthropic_gets_ids_that_it_takes():
    call = ToolCall("functions.weather:0", "weather", "{}")
    first, second = sent_messages("anthropic", [*ASKED, calling(call), result(call.id)])[-2:]
    assert first["content"][0]["id"] == second["content"][0]["tool_use_id"]
    assert first["content"][0]["id"] == "functions_weather_0"


def test_mistral_gets_ids_that_it_takes_and_its_own_as_they_are():
    def ids(call_id: str) -> list[str]:
        call = ToolCall(call_id, "weather", "{}")
        where = endpoint(base_url="https://api.mistral.ai/v1")
        window = [*ASKED, calling(call), result(call_id)]
        request = requested(protocol_named("openai"), where, window, OFFERED)
        first, second = json.loads(request.content)["messages"][-2:]
        return [first["tool_calls"][0]["id"], second["tool_call_id"]]

    assert ids("aB3dE6gH9") == ["aB3dE6gH9"] * 2
    first, second = ids("call_4f6e1c0a9b8d7e6f5a4b3c2d")
    assert first == second
    assert len(first) == 9
    assert first.isalnum()


@pytest.mark.parametrize("name", ["gemini", "ollama"])
def test_an_id_that_the_server_did_not_give_is_not_sent_to_it(name):
    window = [*ASKED, calling(ToolCall("call00001", "weather", "{}")), result("call00001")]
    assert "call00001" not in json.dumps(sent(name, window))
    window = [*ASKED, calling(ToolCall("abc", "weather", "{}")), result("abc")]
    assert json.dumps(sent(name, window)).count('"abc"') == 2


def test_gemini_declares_a_tool_without_arguments_without_a_schema():
    declared = sent("gemini", ASKED)["tools"][0]["functionDeclarations"]
    assert ["parametersJsonSchema" in tool for tool in declared] == [False, True]


def test_responses_asks_for_encrypted_reasoning_only_with_tools_and_until_it_is_refused():
    assert sent("responses", ASKED)["include"] == ["reasoning.encrypted_content"]
    assert "include" not in sent("responses", ASKED, Options())
    refused = replace(OFFERED, without=frozenset({"include"}))
    assert "include" not in sent("responses", ASKED, refused)


def test_reasoning_that_a_server_refuses_is_not_handed_back():
    refused = replace(OFFERED, without=frozenset({"reasoning_content"}))
    assert "reasoning_content" in json.dumps(sent("openai", turn_with_tools("openai")))
    assert "reasoning_content" not in json.dumps(sent("openai", turn_with_tools("openai"), refused))


@every_protocol
def test_a_schema_without_properties_has_none(name):
    body = json.dumps(sent(name, ASKED, Options(tools=(replace(CLOCK, schema=""),))))
    assert "clock" in body
    assert name == "gemini" or '{"type": "object", "properties": {}}' in body


def test_what_is_kept_of_a_request_leaves_out_its_tools():
    request = SentRequest("openai", "http://models.test", replace(OFFERED, seed=7), "00")
    kept = json.loads(json.dumps(request_fields(request)))
    assert request_from(kept) == replace(request, options=Options(seed=7))
