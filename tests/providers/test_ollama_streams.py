"""Ollama's own chat: recorded streams, whole and split at every byte."""

from __future__ import annotations

import pytest

from jitchat.providers.protocols.ollama import OllamaProtocol
from jitchat.providers.provider import Finished, ReasoningDelta, ReplyDelta
from jitchat.values import ToolCall, Usage
from tests.providers.replay import RECORDED, Replayed, replay, require_same_at_every_byte

END = [Finished("stop"), Usage(11, 18)]
STREAMS = {
    "ollama_text.ndjson": [
        ReplyDelta("Hel"),
        ReplyDelta("lo, 漢字 "),
        ReplyDelta("😀\u2028\n"),
        *END,
    ],
    "ollama_thinking.ndjson": [
        ReasoningDelta("Let me "),
        ReasoningDelta("see."),
        ReplyDelta("Yes."),
        *END,
    ],
    "ollama_think_tags.ndjson": [ReasoningDelta("Let me see.\n"), ReplyDelta("Yes."), *END],
    "ollama_tool_call.ndjson": [
        ToolCall("1", "weather", '{"city": "Köln"}'),
        ToolCall("call00001", "time", "{}"),
        *END,
    ],
    "ollama_cached.ndjson": [ReplyDelta("Yes."), Finished("stop"), Usage(None, 2)],
    "ollama_length.ndjson": [ReplyDelta("Once upon"), Finished("length"), Usage(11, 2)],
    "ollama_loaded.ndjson": [Finished("load")],
    "ollama_whole.json": [ReplyDelta("Yes."), Finished("stop"), Usage(11, 2)],
}
BROKEN = "ollama_error.ndjson"


@pytest.mark.parametrize("file", STREAMS)
async def test_a_recorded_stream_says_what_it_said(file):
    assert await replay(OllamaProtocol(), file) == Replayed(STREAMS[file])


async def test_an_error_after_the_answer_began_keeps_what_came():
    replayed = await replay(OllamaProtocol(), BROKEN)
    assert replayed.pieces == [ReplyDelta("Once upon")]
    assert replayed.error == (
        "The provider stopped: an error was encountered while running the model."
    )


@pytest.mark.parametrize("file", [*STREAMS, BROKEN])
async def test_a_recorded_stream_says_the_same_wherever_it_is_split(file):
    await require_same_at_every_byte(OllamaProtocol(), file)


def test_every_recorded_stream_is_replayed():
    assert {path.name for path in RECORDED.glob("ollama_*")} == {*STREAMS, BROKEN}
