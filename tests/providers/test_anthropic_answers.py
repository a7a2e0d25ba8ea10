"""Anthropic's Messages: recorded answers, and unusual events."""

from __future__ import annotations

import json

import pytest

from jitchat.errors import ContextOverflow, KeyRefused, NotAnAnswer, ProviderError, RequestRefused
from jitchat.providers.protocols.anthropic import AnthropicProtocol
from jitchat.providers.provider import Finished, ReasoningDelta, ReplyDelta
from jitchat.values import Echo, ToolCall, Usage
from tests.providers.replay import Replayed, recorded_part, replay, require_same_at_every_byte
from tests.providers.streams import NO_OBJECTS

PROTOCOL = AnthropicProtocol()


RECORDED = {
    "anthropic_text.sse": Replayed(
        [
            Usage(9, None),
            ReplyDelta("Hél"),
            ReplyDelta("lo 😀\u2028"),
            Usage(9, 4),
            Finished("end_turn"),
        ]
    ),
    "anthropic_reasoning.sse": Replayed(
        [
            Usage(9, None),
            ReasoningDelta("Let me"),
            ReasoningDelta(" see."),
            ReplyDelta("Yes."),
            Usage(9, 15, reasoning_tokens=11),
            Finished("end_turn"),
        ]
    ),
    "anthropic_tool.sse": Replayed(
        [
            Usage(9, None),
            ReplyDelta("I look."),
            ToolCall("toolu_1", "weather", '{"city": "Köln"}'),
            Usage(9, 30),
            Finished("tool_use"),
        ]
    ),
    "anthropic_cache.sse": Replayed(
        [Usage(52, None, 31, 20), ReplyDelta("ok"), Usage(52, 2, 31, 20), Finished("end_turn")]
    ),
    "anthropic_late_usage.sse": Replayed([ReplyDelta("ok"), Usage(20, 2, 8), Finished("end_turn")]),
    "anthropic_length.sse": Replayed(
        [Usage(9, None), ReplyDelta("and so"), Usage(9, 4), Finished("max_tokens")]
    ),
    "anthropic_error.sse": Replayed(
        [Usage(9, None), ReplyDelta("Hel")], "The provider stopped: Overloaded."
    ),
    "anthropic_whole.json": Replayed(
        [
            ReasoningDelta("Hm."),
            ReplyDelta("Hello"),
            ToolCall("t", "f", '{"a": 1}'),
            Echo("anthropic:openai/m", recorded_part("anthropic_whole.json", "content")),
            Usage(9, 4),
            Finished("tool_use"),
        ]
    ),
}


def parsed(*values: object, event: str = "") -> list[object]:
    parser = PROTOCOL.parser()
    texts = (value if isinstance(value, str) else json.dumps(value) for value in values)
    return [piece for text in texts for piece in parser.parse(event, text)] + list(parser.end())


def refused(value: object, event: str = "") -> ProviderError:
    with pytest.raises(ProviderError) as failure:
        parsed(value, event=event)
    return failure.value


def stop(reason: object, **usage: object) -> dict[str, object]:
    return {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": usage}


@pytest.mark.parametrize("file", RECORDED)
async def test_a_recorded_answer_says_the_same_wherever_it_is_split(file):
    assert await replay(PROTOCOL, file) == RECORDED[file]
    await require_same_at_every_byte(PROTOCOL, file)


# events


SILENT = [
    {"type": "ping"},
    {"type": "a_new_event", "delta": {"text": "unknown"}},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    {"type": "content_block_start", "content_block": None},
    {"type": "content_block_start", "content_block": {"type": "server_tool_use", "name": "x"}},
    {"type": "content_block_delta", "delta": {"type": "signature_delta", "signature": "s"}},
    {"type": "content_block_delta", "delta": {"type": "citations_delta", "citation": {}}},
    {"type": "content_block_delta", "delta": {"type": "text_delta", "text": None}},
    {"type": "content_block_delta", "delta": [7]},
    {"type": "content_block_delta"},
    {"type": "content_block_stop", "index": 7},
    {"type": "message_start"},
    {"type": "message_start", "message": {"usage": None}},
    {"type": "message_start", "message": {"usage": {"input_tokens": True}}},
    {"type": "message_delta"},
    {"type": "message_delta", "delta": None, "usage": {}},
    {"type": "message_delta", "delta": {"stop_reason": None}},
    {"type": "message_delta", "delta": {"stop_reason": 7}},
    {"type": "message", "content": "text"},
    {"type": "message", "content": [None, 7, {}]},
    {"type": 7},
    {},
    [{"type": "ping"}],
    "",
    " \n",
]


def test_an_event_that_says_nothing_says_nothing():
    for value in SILENT:
        assert parsed(value) == [], value


def test_an_event_may_have_its_name_only_ahead_of_it():
    value = {"index": 0, "delta": {"type": "text_delta", "text": "Hi"}}
    assert parsed(value, event="content_block_delta") == [ReplyDelta("Hi")]


@pytest.mark.parametrize("last", ['{"type":"message_stop"}', "[DONE]"])
def test_the_last_event_ends_an_answer(last):
    parser = PROTOCOL.parser()
    assert list(parser.parse("", last)) == []
    assert parser.over


@pytest.mark.parametrize(
    ("reason", "whole"),
    [
        ("end_turn", True),
        ("stop_sequence", True),
        ("max_tokens", False),
        ("tool_use", False),
        ("pause_turn", False),
        ("refusal", False),
        ("model_context_window_exceeded", False),
        ("A new one", False),
    ],
)
def test_a_reason_is_passed_on_as_it_is(reason, whole):
    (finished,) = parsed(stop(reason))
    assert finished == Finished(reason)
    assert finished.is_whole is whole


def test_a_call_that_was_cut_in_its_middle_is_told():
    block = {"type": "tool_use", "id": "t", "name": "f", "input": {}}
    delta = {"type": "input_json_delta", "partial_json": '{"ci'}
    assert parsed(
        {"type": "content_block_start", "index": 1, "content_block": block},
        {"type": "content_block_delta", "index": 1, "delta": delta},
    ) == [ToolCall("t", "f", '{"ci')]


# usage


@pytest.mark.parametrize(
    ("first", "last", "known"),
    [
        ({"input_tokens": 5}, {"output_tokens": 3}, Usage(5, 3)),
        ({"input_tokens": 5, "output_tokens": 7}, {}, Usage(5, None)),
        ({"input_tokens": 5}, {"input_tokens": 6, "output_tokens": 3}, Usage(6, 3)),
        ({"input_tokens": 5}, {"input_tokens": None, "output_tokens": 3}, Usage(5, 3)),
        (
            {"input_tokens": 1, "cache_read_input_tokens": 31},
            {"input_tokens": 1, "output_tokens": 3},
            Usage(32, 3, 31),
        ),
        (
            {"cache_creation": {"ephemeral_5m_input_tokens": 4, "ephemeral_1h_input_tokens": 6}},
            {"output_tokens": 3},
            Usage(10, 3, 0, 10),
        ),
        ({}, {"output_tokens": 3}, Usage(None, 3)),
        (
            {"input_tokens": 0, "output_tokens": 0},
            {"input_tokens": 5, "output_tokens": 3},
            Usage(5, 3),
        ),
        (
            {"input_tokens": 5},
            {"output_tokens": 9, "output_tokens_details": {"reasoning_tokens": 4}},
            Usage(5, 9, reasoning_tokens=4),
        ),
    ],
)
def test_of_each_count_the_latest_that_was_told_stands(first, last, known):
    start = {"type": "message_start", "message": {"usage": first}}
    assert parsed(start, stop(None, **last))[-1] == known


def test_zeros_of_a_proxy_are_no_report():
    assert parsed(stop(None, input_tokens=0, output_tokens=0)) == []


def test_a_refusal_is_passed_on_with_what_is_told_of_it():
    delta = {
        "stop_reason": "refusal",
        "stop_details": {"type": "refusal", "category": "cyber", "explanation": "It harms."},
    }
    assert parsed({"type": "message_delta", "delta": delta}) == [
        Finished("refusal", "cyber: It harms.")
    ]


def test_tools_that_the_server_uses_by_itself_are_no_calls():
    block = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}
    piece = {"type": "input_json_delta", "partial_json": '{"query":"x"}'}
    assert (
        parsed(
            {"type": "content_block_start", "index": 1, "content_block": block},
            {"type": "content_block_delta", "index": 1, "delta": piece},
            {"type": "content_block_stop", "index": 1},
        )
        == []
    )


# errors


@pytest.mark.parametrize(
    ("kind", "error"),
    [
        ("overloaded_error", RequestRefused),
        ("api_error", RequestRefused),
        ("rate_limit_error", RequestRefused),
        ("authentication_error", KeyRefused),
        ("permission_error", KeyRefused),
    ],
)
def test_an_error_in_the_stream_is_told_by_its_kind(kind, error):
    failure = refused({"type": "error", "error": {"type": kind, "message": "said"}})
    assert type(failure) is error
    assert failure.what == "The provider stopped: said."


def test_an_overflow_in_the_stream_is_one():
    message = "prompt is too long: 208310 tokens > 200000 maximum"
    failure = refused({"error": {"type": "invalid_request_error", "message": message}}, "error")
    assert isinstance(failure, ContextOverflow)
    assert (failure.needed, failure.limit) == (208_310, 200_000)


@pytest.mark.parametrize("number", range(len(NO_OBJECTS)))
def test_what_is_no_json_object_is_no_answer(number):
    assert isinstance(refused(NO_OBJECTS[number]), NotAnAnswer)


@pytest.mark.parametrize("depth", range(940, 1_000, 7))
def test_arguments_nested_to_hurt_are_told_or_refused(depth):
    block = '{"type":"tool_use","name":"f","input":{"a":' + "[" * depth + "]" * depth + "}}"
    try:
        (call,) = parsed('{"type":"message","content":[' + block + "]}")
    except NotAnAnswer:
        return
    assert isinstance(call, ToolCall)
