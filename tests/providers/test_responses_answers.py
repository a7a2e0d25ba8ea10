"""OpenAI's Responses: recorded streams, whole and split at every byte."""

from __future__ import annotations

import pytest

from jitchat.providers.protocols.responses import ResponsesProtocol
from jitchat.providers.provider import Finished, ReasoningDelta, ReplyDelta
from jitchat.values import Echo, ToolCall, Usage
from tests.providers.replay import (
    RECORDED,
    Replayed,
    recorded_part,
    replay,
    require_same_at_every_byte,
)

END = [Usage(11, 18), Finished("completed")]


STREAMS = {
    "responses_text.sse": [
        ReplyDelta("Hel"),
        ReplyDelta("lo, 漢字 "),
        ReplyDelta("😀\u2028\n"),
        *END,
    ],
    "responses_reasoning.sse": [
        ReasoningDelta("Let me"),
        ReasoningDelta(" see."),
        ReasoningDelta("\n\n"),
        ReasoningDelta("It is "),
        ReasoningDelta("there."),
        ReplyDelta("Yes."),
        Usage(1_200, 70, 1_024, reasoning_tokens=64),
        Finished("completed"),
    ],
    "responses_tool.sse": [
        ToolCall("call_0", "weather", '{"city": "Köln"}'),
        ToolCall("call_1", "time", "{}"),
        *END,
    ],
    "responses_length.sse": [
        ReplyDelta("Once upon"),
        Usage(11, 2),
        Finished("max_output_tokens"),
    ],
    "responses_refusal.sse": [
        ReplyDelta("I cannot "),
        ReplyDelta("help."),
        Usage(11, 5),
        Finished("completed"),
    ],
    "responses_whole.json": [
        ReasoningDelta("Let me see."),
        ReplyDelta("Yes."),
        ToolCall("call_1", "time", "{}"),
        Echo("responses:openai/m", recorded_part("responses_whole.json", "output")),
        Usage(11, 18, reasoning_tokens=9),
        Finished("completed"),
    ],
}
BROKEN = {
    "responses_failed.sse": ([ReplyDelta("Once upon")], "The model had a hiccup"),
    "responses_error.sse": ([], "Too many tokens were asked for"),
}


@pytest.mark.parametrize("file", STREAMS)
async def test_a_recorded_stream_says_what_it_said(file):
    assert await replay(ResponsesProtocol(), file) == Replayed(STREAMS[file])


@pytest.mark.parametrize("file", BROKEN)
async def test_an_error_after_the_answer_began_keeps_what_came(file):
    pieces, words = BROKEN[file]
    replayed = await replay(ResponsesProtocol(), file)
    assert replayed.pieces == pieces
    assert words in replayed.error


@pytest.mark.parametrize("file", [*STREAMS, *BROKEN])
async def test_a_recorded_stream_says_the_same_wherever_it_is_split(file):
    await require_same_at_every_byte(ResponsesProtocol(), file)


def test_an_answer_at_its_limit_and_one_that_is_whole_are_told_apart():
    assert Finished("completed").is_whole
    assert Finished("max_output_tokens").is_by_length


def test_every_recorded_stream_is_replayed():
    assert {path.name for path in RECORDED.glob("responses_*")} == {*STREAMS, *BROKEN}
