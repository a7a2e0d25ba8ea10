"""Chat completions: every variant of a chunk and a usage that servers send."""

from __future__ import annotations

import json

import pytest

from jitchat.errors import NotAnAnswer, ProviderError, RequestRefused
from jitchat.providers.protocols.openai import OpenAiProtocol
from jitchat.providers.provider import Finished, ReasoningDelta, ReplyDelta
from jitchat.values import Usage
from tests.providers.streams import NO_OBJECTS, delta

PROTOCOL = OpenAiProtocol()


def parsed(value: object, event: str = "") -> list[object]:
    """What one chunk says, and what it left to be said at the end."""
    parser = PROTOCOL.parser()
    text = value if isinstance(value, str) else json.dumps(value)
    return [*parser.parse(event, text), *parser.end()]


def parsed_in_turn(*values: object) -> list[object]:
    parser = PROTOCOL.parser()
    pieces = [piece for value in values for piece in parser.parse("", json.dumps(value))]
    return [*pieces, *parser.end()]


# pieces of an answer


SILENT = [
    {},
    {"choices": None},
    {"choices": []},
    {"choices": [None]},
    {"choices": "x"},
    {"choices": [{}]},
    {"choices": [{"delta": None}]},
    {"choices": [{"delta": []}]},
    {"choices": [{"index": 0, "delta": {}}]},
    {"choices": [{"delta": {"role": "assistant", "content": ""}, "finish_reason": None}]},
    {"choices": [{"delta": {"content": None, "reasoning_content": ""}}]},
    {"choices": [{"delta": {"reasoning": None, "reasoning_details": []}}]},
    {"choices": [{"delta": {"content": [], "refusal": None, "tool_calls": None}}]},
    {"choices": [{"delta": {"content": [None, 7, {"type": "image_url"}]}}]},
    {"choices": [{"delta": {"tool_calls": "x", "function_call": 7}}]},
    {"choices": [{"delta": {"reasoning_details": [{"type": "reasoning.encrypted"}]}}]},
    {"choices": [{"delta": {"content": 7}}]},
    {"choices": [{"delta": {"tool_calls": [{"function": {"name": None}}]}}]},
    {"choices": [{"delta": {}, "finish_reason": ""}]},
    {"choices": [{"delta": {}, "finish_reason": 7}]},
    {"obfuscation": "xxxx", "choices": []},
    {"error": None, "choices": []},
    {"usage": None},
    {"usage": {}},
    {"usage": {"prompt_tokens": None}},
    {"usage": {"prompt_tokens": True}},
    {"usage": 7},
    {"x_groq": {"id": "r"}},
    [{}],
]


def test_a_chunk_that_says_nothing_says_nothing():
    for chunk in SILENT:
        assert parsed(chunk) == [], chunk


@pytest.mark.parametrize("blank", ["", " ", "\n"])
def test_a_blank_event_says_nothing(blank):
    assert parsed(blank) == []


def test_text_and_reason_may_come_in_one_chunk():
    assert parsed(delta("end", finish_reason="length")) == [ReplyDelta("end"), Finished("length")]


def test_a_whole_message_is_read_like_a_piece():
    message = {"message": {"role": "assistant", "content": "hi"}, "finish_reason": "stop"}
    assert parsed({"choices": [message]}) == [ReplyDelta("hi"), Finished("stop")]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ([{"type": "text", "text": "Hel"}, {"type": "text", "text": "lo"}], [ReplyDelta("Hello")]),
        (["Hel", "lo"], [ReplyDelta("Hello")]),
        (
            [
                {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]},
                {"type": "text", "text": "Yes."},
            ],
            [ReasoningDelta("hm"), ReplyDelta("Yes.")],
        ),
        ([{"type": "image_url", "image_url": {"url": "x"}}], []),
    ],
)
def test_a_text_may_come_in_parts(content, said):
    assert parsed({"choices": [{"delta": {"content": content}}]}) == said


@pytest.mark.parametrize(
    "part",
    [
        {"reasoning_content": "hm"},
        {"reasoning": "hm"},
        {"reasoning_content": "hm", "reasoning": "hm"},
        {"reasoning": "hm", "reasoning_details": [{"type": "reasoning.text", "text": "hm"}]},
        {"reasoning_details": [{"type": "reasoning.text", "text": "hm"}]},
        {"reasoning_details": [{"type": "reasoning.summary", "summary": "hm"}]},
        {"reasoning": None, "reasoning_details": [{"text": "h"}, None, 7, {"summary": "m"}]},
    ],
)
def test_reasoning_is_read_wherever_it_is_and_once(part):
    assert parsed({"choices": [{"delta": part | {"content": "Yes."}}]}) == [
        ReasoningDelta("hm"),
        ReplyDelta("Yes."),
    ]


def test_chunks_may_come_in_a_list():
    assert parsed([delta("Hel"), delta("lo", finish_reason="stop")]) == [
        ReplyDelta("Hel"),
        ReplyDelta("lo"),
        Finished("stop"),
    ]


def test_a_refusal_of_the_model_is_its_answer():
    assert parsed({"choices": [{"delta": {"content": None, "refusal": "No."}}]}) == [
        ReplyDelta("No.")
    ]


def test_a_message_beside_a_piece_does_not_repeat_it():
    choice = {"delta": {"content": "lo"}, "message": {"content": "Hello"}}
    assert parsed({"choices": [choice]}) == [ReplyDelta("lo")]
    assert parsed({"choices": [choice | {"delta": {}}]}) == []


def test_control_characters_and_surrogates_in_a_chunk_are_read():
    assert parsed('{"choices":[{"delta":{"content":"a\x01\\ud800"}}]}') == [
        ReplyDelta("a\x01\ud800")
    ]


@pytest.mark.parametrize(
    ("reason", "whole"),
    [
        ("stop", True),
        ("EOS", True),
        ("length", False),
        ("content_filter", False),
        ("insufficient_system_resource", False),
        ("tool_calls", False),
    ],
)
def test_only_a_model_that_came_to_an_end_is_whole(reason, whole):
    (finished,) = parsed(delta(None, finish_reason=reason))
    assert finished == Finished(reason)
    assert finished.is_whole is whole


COUNTS = {"prompt_tokens": 9, "completion_tokens": 4, "total_tokens": 13}


@pytest.mark.parametrize(
    "chunk",
    [
        {"choices": [], "usage": COUNTS},
        {"choices": [{"index": 0, "delta": {}}], "usage": COUNTS},
        {"choices": None, "usage": COUNTS},
        {"usage": COUNTS},
        {"usage": COUNTS | {"prompt_tokens_details": None}},
        {"usage": COUNTS | {"prompt_tokens_details": {"cached_tokens": None}}},
        {"usage": COUNTS | {"prompt_tokens_details": {}, "completion_tokens_details": {}}},
        {"usage": {"prompt_tokens": 9.0, "completion_tokens": 4.0}},
        {"x_groq": {"usage": COUNTS}},
    ],
)
def test_usage_is_read_wherever_it_is(chunk):
    assert parsed(chunk) == [Usage(9, 4, 0)]


def test_usage_on_the_last_chunk_of_text_comes_behind_it():
    assert parsed(delta("x", finish_reason="stop") | {"usage": COUNTS}) == [
        ReplyDelta("x"),
        Finished("stop"),
        Usage(9, 4),
    ]


@pytest.mark.parametrize(
    ("more", "usage"),
    [
        ({"prompt_tokens_details": {"cached_tokens": 6}}, Usage(9, 4, 6)),
        ({"prompt_cache_hit_tokens": 6, "prompt_cache_miss_tokens": 3}, Usage(9, 4, 6)),
        (
            {"prompt_tokens_details": {"cached_tokens": 2, "cache_write_tokens": 5}},
            Usage(9, 4, 2, 5),
        ),
        ({"completion_tokens_details": {"reasoning_tokens": 3}}, Usage(9, 4, 0, 0, 3)),
    ],
)
def test_what_the_counts_are_made_of_is_read(more, usage):
    assert parsed({"usage": COUNTS | more}) == [usage]


def test_reasoning_that_is_counted_apart_is_output_too():
    counts = {"prompt_tokens": 32, "completion_tokens": 9, "total_tokens": 135}
    details = {"completion_tokens_details": {"reasoning_tokens": 94}}
    assert parsed({"usage": counts | details}) == [Usage(32, 103, reasoning_tokens=94)]


@pytest.mark.parametrize(
    ("counts", "usage"),
    [({"prompt_tokens": 9}, Usage(9, None)), ({"completion_tokens": 4}, Usage(None, 4))],
)
def test_a_count_that_is_not_told_is_not_known(counts, usage):
    assert parsed({"usage": counts}) == [usage]


def test_a_later_report_takes_the_place_of_what_it_tells():
    first = {"prompt_tokens": 9, "completion_tokens": 1, "prompt_cache_hit_tokens": 6}
    second = {"prompt_tokens": None, "completion_tokens": 4}
    assert parsed_in_turn({"usage": first}, {"usage": second})[-1] == Usage(9, 4, 6)


@pytest.mark.parametrize("number", ["-1", "1e400", "-1e400", "NaN", "1e16", "0"])
def test_a_count_that_counts_nothing_is_none(number):
    assert parsed(f'{{"usage":{{"prompt_tokens":{number},"completion_tokens":4}}}}') == [
        Usage(None, 4)
    ]


def test_zeros_of_a_proxy_are_no_report():
    assert parsed({"usage": {"prompt_tokens": 0, "completion_tokens": 0}}) == []
    assert parsed({"usage": {"prompt_tokens": 9, "completion_tokens": 0}}) == [Usage(9, 0)]


# what it cost

COUNTS = {"prompt_tokens": 9, "completion_tokens": 4}


@pytest.mark.parametrize(
    ("told", "cost"),
    [
        ({"cost": 0.00014}, 0.00014),
        ({"cost": 0, "cost_details": {"upstream_inference_cost": None}}, 0.0),
        ({"cost": 0}, None),
        ({"cost": -1}, None),
        ({"cost": True}, None),
        ({"cost": "free"}, None),
        ({"cost": 1, "is_byok": True, "cost_details": {"upstream_inference_cost": 19}}, 20.0),
        ({"cost": 1, "is_byok": False, "cost_details": {"upstream_inference_cost": 1}}, 1.0),
    ],
)
def test_what_the_provider_says_that_it_charges_is_read(told, cost):
    assert parsed({"usage": COUNTS | told}) == [Usage(9, 4, cost=cost)]


# errors within a stream


def test_what_was_counted_ahead_of_an_error_is_read():
    pieces = PROTOCOL.parser().parse("", json.dumps({"error": {"code": 502}, "usage": COUNTS}))
    assert next(pieces) == Usage(9, 4)
    with pytest.raises(RequestRefused):
        next(pieces)


@pytest.mark.parametrize(
    ("chunk", "event", "said"),
    [
        ({"error": {"message": "Overloaded", "code": 502}}, "", "Overloaded."),
        ({"error": {"message": "Too long!", "type": "x"}, "choices": []}, "", "Too long!"),
        ({"error": "model crashed"}, "", "model crashed."),
        ({"error": {"message": "The number of tokens to keep"}}, "error", "tokens to keep."),
        ({"message": "flat"}, "error", "flat."),
        ({"object": "error", "message": "vLLM's", "code": 400}, "", "vLLM's."),
        ([{"error": {"message": "in a list"}}], "", "in a list."),
        ({"error": {"type": "overloaded_error"}}, "", "overloaded_error."),
        ({"choices": [{"finish_reason": "error", "error": {"message": "lost"}}]}, "", "lost."),
        ({"error": {"code": 7}}, "", "The provider stopped."),
        ({"error": True}, "", "The provider stopped."),
    ],
)
def test_an_error_in_the_stream_is_told_in_the_providers_words(chunk, event, said):
    with pytest.raises(RequestRefused) as refusal:
        parsed(chunk, event)
    assert refusal.value.what.endswith(said)


@pytest.mark.parametrize("broken", ['{"error":{"message":"x"}}', "7", "{"])
def test_text_that_was_held_back_comes_ahead_of_an_error(broken):
    parser = PROTOCOL.parser()
    assert list(parser.parse("", json.dumps(delta("<thi")))) == []
    pieces = parser.parse("", broken)
    assert next(pieces) == ReplyDelta("<thi")
    with pytest.raises(ProviderError):
        next(pieces)


@pytest.mark.parametrize("number", range(len(NO_OBJECTS)))
def test_what_is_no_json_object_is_no_answer(number):
    with pytest.raises(NotAnAnswer):
        parsed(NO_OBJECTS[number])
