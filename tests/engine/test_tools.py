"""Calls and results that a real server takes, and whose prompt cache they do not break."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from jitchat.providers.answer import Answer
from jitchat.providers.http.provider import HttpProvider
from jitchat.providers.protocols.protocol import protocol_named
from jitchat.providers.provider import Endpoint
from jitchat.providers.tools import result_message
from jitchat.values import Message, Role, ToolCall, ToolResult, ToolUse
from tests.engine.asking import SAMPLING
from tests.engine.server import KEY, Engine
from tests.engine.tiny_model import NAME
from tests.providers.tool_windows import OFFERED

if TYPE_CHECKING:
    from collections.abc import Sequence

ASKED = (Message(Role.SYSTEM, "Be brief."), Message(Role.USER, "The weather in Bonn, and then?"))
OPTIONS = replace(SAMPLING, tools=OFFERED.tools, max_tokens=8)


def step(number: int) -> tuple[Message, ...]:
    """An answer that calls twice, and the results."""
    calls = tuple(ToolCall(f"call{number}000{n}", "weather", '{"city": "Bonn"}') for n in range(2))
    results = (result_message(ToolResult(call, "21 °C")) for call in calls)
    return (Message(Role.ASSISTANT, "I look.", use=ToolUse(calls)), *results)


async def answer(engine: Engine, protocol: str, window: Sequence[Message]) -> Answer:
    where = Endpoint("llamacpp", engine.base_url, NAME, KEY)
    provider, answered = HttpProvider(where, protocol_named(protocol)), Answer()
    async for piece in provider.stream(window, OPTIONS):
        answered.take(piece)
    await provider.aclose()
    return answered


@pytest.mark.parametrize("protocol", ["openai", "anthropic", "responses"])
async def test_each_request_of_a_turn_is_the_head_of_the_next_one_in_the_engines_cache(
    engine, protocol
):
    window, before = list(ASKED), 0
    for number in range(4):
        usage = (await answer(engine, protocol, window)).usage
        assert usage is not None
        assert usage.input_tokens is not None
        # what ended the prompt before is the reply's opening, which now is the answer's
        assert usage.cached_tokens >= before - 4
        assert usage.input_tokens > before
        before = usage.input_tokens
        window += step(number)
