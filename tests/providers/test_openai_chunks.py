"""OpenAI's chat completions: every variant of a chunk and a usage that servers send."""

from __future__ import annotations

import json

import pytest

from jitchat.errors import NotAnAnswer, RequestRefused
from jitchat.providers.protocols.openai import OpenAiProtocol
from jitchat.providers.provider import Delta, Finished, Options
from jitchat.turn import Message, Role, Usage
from tests.providers.streams import ASKED, KEY, delta, endpoint

PROTOCOL = OpenAiProtocol()


def parsed(value: object, event: str = "") -> list[object]:
    return list(
        PROTOCOL.parser().parse(event, value if isinstance(value, str) else json.dumps(value))
    )


# the request


def test_a_request_carries_the_messages_and_nothing_that_was_not_asked_for():
    request = PROTOCOL.request(endpoint(), ASKED, Options())
    assert (request.method, str(request.url)) == ("POST", "http://models.test/v1/chat/completions")
    assert json.loads(request.content) == {
        "model": "m",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "hello"},
        ],
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    assert request.headers["authorization"] == f"Bearer {KEY}"


def test_a_temperature_is_sent_only_where_the_user_set_one():
    request = PROTOCOL.request(endpoint(), ASKED, Options(temperature=0.0))
    assert json.loads(request.content)["temperature"] == 0.0


def test_a_server_without_a_key_gets_no_authorization():
    assert "authorization" not in PROTOCOL.request(endpoint(key=""), ASKED, Options()).headers


@pytest.mark.parametrize("base", ["http://h/v1", "http://h/v1/", " http://h/v1// "])
def test_an_address_may_end_in_slashes(base):
    request = PROTOCOL.request(endpoint(base_url=base), ASKED, Options())
    assert str(request.url) == "http://h/v1/chat/completions"


def test_the_same_window_makes_the_same_bytes_whatever_is_in_it():
    odd = (Message(Role.USER, "\u2028 \ud800 é\x00"),)
    first, second = (PROTOCOL.request(endpoint(), odd, Options()).content for _ in range(2))
    assert first == second
    assert json.loads(first)["messages"][0]["content"] == "\u2028 \ud800 é\x00"


# pieces of an answer


@pytest.mark.parametrize(
    "chunk",
    [
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
    ],
)
def test_a_chunk_that_says_nothing_says_nothing(chunk):
    assert parsed(chunk) == []


@pytest.mark.parametrize("blank", ["", " ", "\n"])
def test_a_blank_event_says_nothing(blank):
    assert parsed(blank) == []


def test_text_and_reason_may_come_in_one_chunk():
    assert parsed(delta("end", finish_reason="length")) == [Delta("end"), Finished("length")]


def test_a_whole_message_is_read_like_a_piece():
    message = {"message": {"role": "assistant", "content": "hi"}, "finish_reason": "stop"}
    assert parsed({"choices": [message]}) == [Delta("hi"), Finished("stop")]


def test_control_characters_and_surrogates_in_a_chunk_are_read():
    assert parsed('{"choices":[{"delta":{"content":"a\x01\\ud800"}}]}') == [Delta("a\x01\ud800")]


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
        Delta("x"),
        Finished("stop"),
        Usage(9, 4),
    ]


def test_what_came_from_the_providers_cache_is_read():
    details = {"prompt_tokens_details": {"cached_tokens": 6, "cache_write_tokens": 0}}
    assert parsed({"usage": COUNTS | details}) == [Usage(9, 4, 6)]


@pytest.mark.parametrize("number", ["-1", "1e400", "-1e400", "NaN", "1e16", "0"])
def test_a_count_that_counts_nothing_is_none(number):
    assert parsed(f'{{"usage":{{"prompt_tokens":{number},"completion_tokens":4}}}}') == [
        Usage(0, 4)
    ]


# errors within a stream


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
        ({"error": {"code": 7}}, "", "The provider stopped."),
        ({"error": True}, "", "The provider stopped."),
    ],
)
def test_an_error_in_the_stream_is_told_in_the_providers_words(chunk, event, said):
    with pytest.raises(RequestRefused) as refusal:
        parsed(chunk, event)
    assert refusal.value.what.endswith(said)


NO_OBJECTS = (
    "hello",
    "7",
    '"text"',
    "null",
    "true",
    "[]",
    "[7]",
    "{",
    '{"a":',
    "<html>",
    "[" * 100_000,
    "9" * 5_000,
    '{"choices":' + "[" * 5_000,
)


@pytest.mark.parametrize("number", range(len(NO_OBJECTS)))
def test_what_is_no_json_object_is_no_answer(number):
    with pytest.raises(NotAnAnswer):
        parsed(NO_OBJECTS[number])
