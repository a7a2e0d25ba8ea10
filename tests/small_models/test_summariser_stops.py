"""When a summariser waits, and when it gives up: it does not insist, and is in nobody's way."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import TYPE_CHECKING

import pytest

from jitchat.errors import RequestRefused, StoreReadOnly, SummariserStopped
from jitchat.index.indexer import ATTENDED_SECONDS
from jitchat.small_models.small_model import SmallModel
from jitchat.small_models.summariser import Summariser
from jitchat.values import Message, Usage
from tests.small_models.support import small
from tests.small_models.writers import (
    COUNTER,
    Writer,
    heuristic,
    memory_of,
    summaries,
    writing,
    written,
)
from tests.store.support import make_read_only

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from jitchat.memory import Memory
    from jitchat.providers.provider import Options, Piece
    from tests.support import ScriptedProvider


async def test_a_server_that_fails_is_told_of_once_and_asked_no_more(store):
    memory = memory_of(store)
    summariser = Summariser(small(RequestRefused("The provider refused.", "Wait.")), memory)

    with pytest.raises(SummariserStopped) as told:
        await written(summariser)
    again = await written(summariser)

    assert told.value.what == "The summariser small-1 stopped: The provider refused."
    assert "continues when the conversation is opened again" in told.value.remedy
    assert summariser.stopped
    assert again == []
    assert len(summariser._model.provider.requests) == 1
    assert summaries(memory)[1] == heuristic(1)


async def test_an_answer_in_time_is_waited_for_and_no_longer(store):
    summariser = Summariser(small(asyncio.Event(), seconds=0.02), memory_of(store))

    with pytest.raises(SummariserStopped, match=r"No answer in 0\.02 s"):
        await written(summariser)


class Sometimes(Writer):
    """Writes nonsense in place of the answers of these numbers."""

    def __init__(self, *nonsense: int) -> None:
        super().__init__()
        self.nonsense = nonsense

    async def stream(self, messages: Sequence[Message], options: Options) -> AsyncIterator[Piece]:
        number = len(self.requests) + 1
        async for piece in super().stream(messages, options):
            if number not in self.nonsense or isinstance(piece, Usage):
                yield piece


async def test_nonsense_is_passed_over_once_and_the_heuristic_line_stays(store):
    memory = memory_of(store, 40)

    steps = await written(writing(memory, Sometimes(1, 3)))

    assert [len(step.turns) for step in steps] == [0, 8, 0, 8, 8]
    assert summaries(memory)[1] == heuristic(1)
    assert summaries(memory)[9] == "line 9"


async def test_nonsense_twice_in_a_row_ends_it(store):
    memory, provider = memory_of(store, 40), Sometimes(2, 3)
    summariser = writing(memory, provider)
    steps = summariser.write()

    assert [len((await anext(steps)).turns) for _ in range(2)] == [8, 0]
    with pytest.raises(SummariserStopped, match="not the JSON"):
        await anext(steps)
    assert len(provider.requests) == 3


async def test_a_disk_that_refuses_ends_it_too(store):
    memory = memory_of(store)
    summariser = writing(memory)
    make_read_only(store, on=True)

    with pytest.raises(StoreReadOnly):
        await written(summariser)
    make_read_only(store, on=False)

    assert await written(summariser) == []
    assert summaries(memory)[1] == heuristic(1)


class Clock:
    """Time that passes when somebody sleeps."""

    def __init__(self) -> None:
        self.time, self.slept = 100.0, []

    def __call__(self) -> float:
        return self.time

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.time += seconds
        await asyncio.sleep(0)


def timed(memory: Memory, clock: Clock, provider: ScriptedProvider) -> Summariser:
    memory.index.throttle._clock = clock
    return Summariser(SmallModel(provider, COUNTER, 5), memory, clock.sleep)


async def test_it_waits_while_somebody_types(store):
    memory, clock, provider = memory_of(store), Clock(), Writer()
    summariser = timed(memory, clock, provider)
    memory.index.throttle.attend()
    async with aclosing(summariser.write()) as steps:
        await anext(steps)
        assert clock.slept == [ATTENDED_SECONDS]
        memory.index.throttle.attend()
        await anext(steps)
    assert clock.slept == [ATTENDED_SECONDS] * 2


async def test_it_waits_while_a_message_is_under_way(store):
    memory, clock, provider = memory_of(store), Clock(), Writer()
    summariser = timed(memory, clock, provider)
    task = asyncio.ensure_future(written(summariser))
    with memory.index.throttle.under_way():
        while len(clock.slept) < 5:
            await asyncio.sleep(0)
        assert provider.requests == []
    assert len(await task) == 3


async def test_a_conversation_that_is_left_is_asked_about_no_more(store):
    memory, clock, provider = memory_of(store), Clock(), Writer()
    summariser = timed(memory, clock, provider)
    async with aclosing(summariser.write()) as steps:
        await anext(steps)
        memory.index.throttle.attend()
        memory.index.throttle.halt()
        with pytest.raises(StopAsyncIteration):
            await anext(steps)
    assert len(provider.requests) == 1
