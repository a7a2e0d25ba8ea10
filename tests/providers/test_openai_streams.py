"""Chat completions: recorded streams, whole and split at every byte."""

from __future__ import annotations

import pytest

from jitchat.providers.protocols.openai import OpenAiProtocol
from jitchat.providers.provider import (
    Finished,
    ReasoningDelta,
    ReasoningFound,
    ReplyDelta,
)
from jitchat.values import ToolCall, Usage
from tests.providers.replay import RECORDED, Replayed, replay, require_same_at_every_byte

THOUGHT = [ReasoningDelta("Let me "), ReasoningDelta("see."), ReplyDelta("Yes."), Finished("stop")]
STREAMS = {
    "openai_text.sse": [
        ReplyDelta("Hel"),
        ReplyDelta("lo, 漢字 "),
        ReplyDelta("😀\n"),
        Finished("stop"),
        Usage(9, 4),
    ],
    "openai_reasoning.sse": [*THOUGHT, Usage(9, 14, reasoning_tokens=10)],
    "openai_openrouter.sse": [*THOUGHT, Usage(9, 14, cost=0.00014)],
    "openai_think_tags.sse": [
        ReasoningDelta("Let "),
        ReasoningDelta("me see.\n"),
        ReplyDelta("Yes."),
        Finished("stop"),
    ],
    "openai_think_tag_in_template.sse": [
        ReplyDelta("Let me see.\n"),
        ReasoningFound(),
        ReplyDelta("Yes."),
        Finished("stop"),
    ],
    "openai_tool_call.sse": [
        ToolCall("call_1", "weather", '{"city":"Bonn"}'),
        ToolCall("call_2", "time", "{}"),
        Finished("tool_calls"),
    ],
    "openai_cached.sse": [ReplyDelta("Yes."), Finished("stop"), Usage(90, 2, 64)],
    "openai_cache_written.sse": [ReplyDelta("Yes."), Finished("stop"), Usage(90, 2, 16, 64)],
    "openai_groq.sse": [ReplyDelta("Yes."), Finished("stop"), Usage(9, 2)],
    "openai_vllm.sse": [
        Usage(9, 0),
        ReplyDelta("Ye"),
        Usage(9, 1),
        ReplyDelta("s."),
        Usage(9, 2),
        Finished("stop"),
        Usage(9, 3),
    ],
    "openai_length.sse": [ReplyDelta("Once upon"), Finished("length")],
    "openai_filtered.sse": [
        ReplyDelta("I can't "),
        ReplyDelta("help."),
        Finished("content_filter"),
    ],
    "openai_whole.json": [
        ReasoningDelta("Let me see."),
        ReplyDelta("Yes."),
        Finished("stop"),
        Usage(9, 14),
    ],
}
BROKEN = {
    "openai_error.sse": "Provider disconnected.",
    "openai_error_event.sse": "the initial prompt is greater than the context length.",
}


@pytest.mark.parametrize("file", STREAMS)
async def test_a_recorded_stream_says_what_it_said(file):
    assert await replay(OpenAiProtocol(), file) == Replayed(STREAMS[file])


@pytest.mark.parametrize("file", BROKEN)
async def test_an_error_after_the_answer_began_keeps_what_came(file):
    replayed = await replay(OpenAiProtocol(), file)
    assert replayed.pieces == [ReplyDelta("Once upon")]
    assert replayed.error.endswith(BROKEN[file])


@pytest.mark.parametrize("file", [*STREAMS, *BROKEN])
async def test_a_recorded_stream_says_the_same_wherever_it_is_split(file):
    await require_same_at_every_byte(OpenAiProtocol(), file)


def test_every_recorded_stream_is_replayed():
    assert {path.name for path in RECORDED.glob("openai_*")} == {*STREAMS, *BROKEN}
