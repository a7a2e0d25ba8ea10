"""Index lines by a small model: behind the chat, batch by batch, never twice, never insisting."""

from __future__ import annotations

import asyncio
from contextlib import aclosing

import pytest

from jitchat.memory import Memory
from jitchat.small_models.summariser import BATCH, Summariser
from jitchat.store.packed import unpack
from jitchat.window.tokens import request_tokens
from tests.index.support import FakeEmbedder, index
from tests.small_models.support import UNREPORTED, small
from tests.small_models.writers import (
    COUNTER,
    Writer,
    asked_for,
    heuristic,
    kept,
    memory_of,
    summaries,
    writing,
    written,
)
from tests.support import conversation_of, talk


async def test_lines_replace_the_heuristic_ones_at_once_and_name_their_model(store):
    memory = memory_of(store)
    assert summaries(memory)[3] == heuristic(3)

    steps = await written(writing(memory))

    assert [len(step.turns) for step in steps] == [8, 8, 4]
    assert [step.left for step in steps] == [12, 4, 0]
    assert summaries(memory) == {number: f"line {number}" for number in range(1, 21)}
    assert kept(store) == [("small-1", f"line {number}") for number in range(1, 21)]


async def test_the_tokens_so_far_are_those_of_the_requests(store):
    provider = Writer(usage=UNREPORTED)

    steps = await written(writing(memory_of(store), provider))

    sent = [request_tokens(COUNTER, request) for request in provider.requests]
    assert [step.input_tokens for step in steps] == [sent[0], sum(sent[:2]), sum(sent)]
    assert [step.output_tokens for step in steps] == [10, 20, 30]


async def test_a_request_shows_the_two_turns_ahead_of_its_first_one(store):
    provider = Writer()

    await written(writing(memory_of(store), provider))

    first, second, _ = (request[1].content for request in provider.requests)
    assert first.startswith("<turns>\n")
    ahead = second.partition("<turns>")[0]
    assert "<turn #7 " in ahead
    assert "<turn #8 " in ahead
    assert ahead.count("<turn ") == 2


async def test_what_was_stopped_goes_on_from_there_and_nothing_is_asked_twice(store):
    memory = memory_of(store)
    async with aclosing(writing(memory).write()) as steps:
        await anext(steps)
    assert [line for _, line in kept(store)] == [f"line {n}" for n in range(1, BATCH + 1)]

    again = Memory(store, memory.conversation)
    assert summaries(again)[8] == "line 8"
    assert summaries(again)[9] == heuristic(9)
    provider = Writer()
    await written(writing(again, provider))
    await written(writing(again, provider))

    asked = [each for request in provider.requests for each in asked_for(request)]
    assert asked == [*range(9, 21)]


async def test_cancelled_in_the_middle_of_a_request_it_leaves_what_it_had(store):
    memory, gate = memory_of(store), asyncio.Event()
    summariser = Summariser(small(gate), memory)
    task = asyncio.ensure_future(written(summariser))
    while not summariser._model.provider.requests:
        await asyncio.sleep(0)

    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task
    assert kept(store) == []
    assert summaries(memory)[1] == heuristic(1)


async def test_indexing_anew_keeps_the_lines_and_the_heuristic_ones_beside_them(store):
    memory = memory_of(store)
    await written(writing(memory))

    list(memory.index.catch_up(FakeEmbedder()))
    assert summaries(memory)[5] == "line 5"

    with store.database.write() as connection:
        connection.execute("DELETE FROM index_entries")
        connection.execute("DELETE FROM vectors")
    again = Memory(store, memory.conversation)
    index(again)
    assert summaries(again)[5] == "line 5"
    with store.database.read() as connection:
        query = "SELECT e.texts, t.content FROM index_entries e JOIN turns t ON t.id = e.turn"
        rows = connection.execute(query).fetchall()
    assert heuristic(5) in [unpack(texts, content)[0] for texts, content in rows]


async def test_a_line_that_another_instance_wrote_meanwhile_stays(store):
    memory = memory_of(store, 2)
    memory.index.write_lines("other-model", {memory.turns[0]: "from elsewhere"})
    memory.index.write_lines("small-1", {memory.turns[0]: "too late"})

    assert kept(store) == [("other-model", "from elsewhere")]
    assert summaries(Memory(store, memory.conversation))[1] == "from elsewhere"


async def test_the_words_that_are_searched_are_the_turns_own(store):
    memory = memory_of(store, 2)
    memory.index.write_lines("small-1", {memory.turns[0]: "a zeppelin"})

    found = memory.retrieve("zeppelin quux xyzzy", 3)

    assert all("zeppelin" not in row.matched for row in found.candidates)


async def test_the_turns_of_a_later_exchange_follow_and_blank_ones_are_left(store):
    memory, provider = memory_of(store, 2), Writer()
    summariser = writing(memory, provider)
    await written(summariser)
    store.append(memory.conversation.id, talk(" \n\t ", "the eel swims"))
    memory.refresh()
    index(memory)

    steps = await written(summariser)

    assert [step.turns for step in steps] == [(4,)]
    assert len(provider.requests) == 2


async def test_turns_that_are_not_indexed_yet_wait(store):
    memory = Memory(store, conversation_of(store, talk("one", "two")))

    assert await written(writing(memory)) == []
