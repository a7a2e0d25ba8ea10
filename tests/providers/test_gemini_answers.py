"""Google's Gemini API: recorded answers, and unusual chunks."""

from __future__ import annotations

import json

import pytest

from jitchat.errors import ContextOverflow, NotAnAnswer, ProviderError, RequestRefused
from jitchat.providers.protocols.gemini import GeminiProtocol
from jitchat.providers.provider import Finished, ReasoningDelta, ReplyDelta
from jitchat.values import Echo, ToolCall, Usage
from tests.providers.replay import Replayed, replay, require_same_at_every_byte
from tests.providers.streams import NO_OBJECTS

PROTOCOL = GeminiProtocol()
SIGNED = json.dumps(
    [
        {
            "functionCall": {"name": "weather", "args": {"city": "Köln"}, "id": "c1"},
            "thoughtSignature": "CpQ",
        }
    ]
)
RECORDED = {
    "gemini_text.sse": Replayed(
        [
            ReplyDelta("Hél"),
            Usage(15, None),
            ReplyDelta("lo 😀\u2028"),
            Usage(15, 6),
            Finished("STOP"),
        ]
    ),
    "gemini_reasoning.sse": Replayed(
        [
            ReasoningDelta("Let me see."),
            Usage(15, 9, reasoning_tokens=9),
            ReplyDelta("Yes."),
            Usage(15, 15, reasoning_tokens=9),
            Finished("STOP"),
        ]
    ),
    "gemini_tool.sse": Replayed(
        [
            ToolCall("c1", "weather", '{"city": "Köln"}'),
            Usage(15, 6),
            Echo("gemini:openai/m", SIGNED),
            Finished("STOP"),
        ]
    ),
    "gemini_cache.sse": Replayed([ReplyDelta("ok"), Usage(15, 6, 12), Finished("STOP")]),
    "gemini_length.sse": Replayed([ReplyDelta("and so"), Usage(15, 6), Finished("MAX_TOKENS")]),
    "gemini_empty.sse": Replayed([Usage(15, None), Finished("STOP")]),
    "gemini_blocked.sse": Replayed([Usage(15, None)], "The provider blocked the message (SAFETY)."),
    "gemini_error.sse": Replayed(
        [ReplyDelta("Hel")], "The provider stopped: The model is overloaded."
    ),
    "gemini_array.json": Replayed(
        [ReplyDelta("Hel"), ReplyDelta("lo"), Usage(15, 6), Finished("STOP")]
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


def chunk(*parts: object, **more: object) -> dict[str, object]:
    return {"candidates": [{"content": {"role": "model", "parts": list(parts)}} | more]}


@pytest.mark.parametrize("file", RECORDED)
async def test_a_recorded_answer_says_the_same_wherever_it_is_split(file):
    assert await replay(PROTOCOL, file) == RECORDED[file]
    await require_same_at_every_byte(PROTOCOL, file)


SILENT = [
    {},
    {"candidates": None},
    {"candidates": []},
    {"candidates": [None]},
    {"candidates": [{}]},
    {"candidates": [{"content": None}]},
    {"candidates": [{"content": {"role": "model"}}]},
    {"candidates": [{"content": {"parts": None}, "finishReason": None}]},
    {"candidates": {"content": []}},
    chunk(),
    chunk(None, 7, {}, {"text": ""}, {"text": None}, {"text": 7}),
    chunk({"inlineData": {"mimeType": "image/png", "data": "x"}}),
    chunk({"functionCall": {"args": {}}}),
    {"usageMetadata": None},
    {"usageMetadata": {"promptTokenCount": None, "trafficType": "ON_DEMAND"}},
    {"promptFeedback": None},
    {"promptFeedback": {"safetyRatings": []}},
    {"error": None},
    [{}],
    "",
    " \n",
]


def test_a_chunk_that_says_nothing_says_nothing():
    for value in SILENT:
        assert parsed(value) == [], value


@pytest.mark.parametrize(
    "reason",
    [
        "STOP",
        "MAX_TOKENS",
        "SAFETY",
        "RECITATION",
        "LANGUAGE",
        "BLOCKLIST",
        "PROHIBITED_CONTENT",
        "SPII",
        "MALFORMED_FUNCTION_CALL",
        "MISSING_THOUGHT_SIGNATURE",
        "MALFORMED_RESPONSE",
        "IMAGE_SAFETY",
        "OTHER",
        "FUNCTION_CALL",
    ],
)
def test_a_reason_is_passed_on_as_it_is(reason):
    (finished,) = parsed(chunk(finishReason=reason))
    assert finished == Finished(reason)
    assert finished.is_whole is (reason == "STOP")
    assert finished.is_by_length is (reason == "MAX_TOKENS")


def test_reasoning_and_text_may_come_in_one_chunk():
    parts = ({"text": "hm", "thought": True}, {"text": "yes"}, {"text": "!", "thought": False})
    assert parsed(chunk(*parts)) == [ReasoningDelta("hm"), ReplyDelta("yes"), ReplyDelta("!")]


@pytest.mark.parametrize(
    ("args", "written"),
    [({"a": [1]}, '{"a": [1]}'), ({}, "{}"), (None, "{}"), ('{"a":', '{"a":'), ([1], "[1]")],
)
def test_a_call_is_whole_whatever_its_arguments_are(args, written):
    call = {"functionCall": {"name": "f", "args": args}}
    assert parsed(chunk(call)) == [ToolCall("", "f", written)]


def test_of_the_counts_the_last_stand_and_are_told_where_they_change():
    counts = {"promptTokenCount": 9, "candidatesTokenCount": 2, "thoughtsTokenCount": 3}
    assert parsed(
        {"usageMetadata": counts},
        {"usageMetadata": counts},
        {"usageMetadata": {"promptTokenCount": 9, "candidatesTokenCount": 5}},
        {"usageMetadata": {"cachedContentTokenCount": 4}},
    ) == [
        Usage(9, 5, reasoning_tokens=3),
        Usage(9, 8, reasoning_tokens=3),
        Usage(9, 8, 4, reasoning_tokens=3),
    ]


def test_zeros_of_a_proxy_are_no_report():
    assert parsed({"usageMetadata": {"promptTokenCount": 0, "candidatesTokenCount": 0}}) == []


@pytest.mark.parametrize("reason", ["SAFETY", "BLOCKLIST", "PROHIBITED_CONTENT", "OTHER"])
def test_a_blocked_message_is_told_with_what_to_do(reason):
    failure = refused({"promptFeedback": {"blockReason": reason}})
    assert isinstance(failure, RequestRefused)
    assert failure.what == f"The provider blocked the message ({reason})."
    assert "Rephrase" in failure.remedy


def test_a_block_is_explained_where_the_provider_does():
    feedback = {"blockReason": "OTHER\x1b", "blockReasonMessage": "Against\nthe terms."}
    assert refused({"promptFeedback": feedback}).what == (
        "The provider blocked the message (OTHER\x1b): Against the terms."
    )


@pytest.mark.parametrize(
    ("value", "event"),
    [
        ({"error": {"code": 500, "message": "said", "status": "INTERNAL"}}, ""),
        ([{"error": {"code": 500, "message": "said"}}], ""),
        ({"error": "said"}, ""),
        ({"message": "said"}, "error"),
    ],
)
def test_an_error_in_the_stream_is_told_in_the_providers_words(value, event):
    assert refused(value, event).what == "The provider stopped: said."


def test_an_overflow_in_the_stream_is_one():
    message = "The input token count (1200293) exceeds the maximum number of tokens allowed (7)."
    assert isinstance(refused([{"error": {"code": 400, "message": message}}]), ContextOverflow)


def test_what_came_ahead_of_an_error_in_an_array_is_kept():
    parser = PROTOCOL.parser()
    pieces = parser.parse("", json.dumps([chunk({"text": "Hel"}), {"error": {"message": "x"}}]))
    assert next(pieces) == ReplyDelta("Hel")
    with pytest.raises(RequestRefused):
        next(pieces)


def test_a_proxys_last_event_ends_an_answer():
    parser = PROTOCOL.parser()
    assert list(parser.parse("", "[DONE]")) == []
    assert parser.over


@pytest.mark.parametrize("number", range(len(NO_OBJECTS)))
def test_what_is_no_json_object_is_no_answer(number):
    assert isinstance(refused(NO_OBJECTS[number]), NotAnAnswer)


@pytest.mark.parametrize("depth", range(940, 1_000, 7))
def test_arguments_nested_to_hurt_are_told_or_refused(depth):
    call = '{"functionCall":{"name":"f","args":{"a":' + "[" * depth + "]" * depth + "}}}"
    try:
        (told,) = parsed('{"candidates":[{"content":{"parts":[' + call + "]}}]}")
    except NotAnAnswer:
        return
    assert isinstance(told, ToolCall)


def test_a_call_that_is_none_is_no_call_of_a_tool_that_was_not_offered():
    finished = Finished("MALFORMED_FUNCTION_CALL")
    assert finished.why == "the model's tool call is malformed"
    assert finished.remedy == "Send again."
    assert not finished.is_whole
