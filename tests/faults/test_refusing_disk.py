"""A disk that is full or read-only: every place that writes says so, and what was is readable."""

from __future__ import annotations

import asyncio
import random
from typing import TYPE_CHECKING

import pytest

from jitchat.errors import StoreFull, StoreReadOnly
from jitchat.memory import Memory
from jitchat.store.replies import close_interrupted
from jitchat.store.windows import Ending, WindowRecord
from jitchat.synthesis.session_end import SessionEnd
from jitchat.values import Role, Status, Usage
from tests.session.test_full_disk import LONG
from tests.store.segments import record_of
from tests.store.support import claim, dead_process, make_full, make_read_only
from tests.support import conversation_of, talk
from tests.synthesis.support import said, small_talk
from tests.test_observing import Desk, require_continuous, require_each_turn_sent_or_observed

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture
def memory(store):
    made = Memory(store, conversation_of(store, talk("one", "two")))
    list(made.index.catch_up())
    made.archive.put(made.turns[0].id, WindowRecord("d", {}, [], []))
    return made


def finish(memory: Memory) -> None:
    writer = memory.begin_reply()
    writer.add(LONG)
    writer.finish(Status.COMPLETE)


def save(memory: Memory) -> None:
    writer = memory.begin_reply()
    writer.add(LONG)
    writer.save()


def put(memory: Memory) -> None:
    segments = [record_of("system", LONG, 1)]
    memory.archive.put(memory.turns[0].id, WindowRecord("d", {}, segments, []))


GROWING: dict[str, Callable[[Memory], object]] = {
    "create": lambda memory: memory.store.create("T " + LONG),
    "append": lambda memory: memory.store.append(memory.conversation.id, talk(LONG)),
    "add_user_turn": lambda memory: memory.add_user_turn(LONG),
    "save": save,
    "finish": finish,
    "put": put,
}
IN_PLACE: dict[str, Callable[[Memory], object]] = {
    "rename": lambda memory: memory.store.rename(memory.conversation.id, "new"),
    "set_status": lambda memory: memory.store.set_status(memory.turns[0], Status.CUT),
    "mark_unanswered": lambda memory: memory.mark_unanswered(memory.turns[-1]),
    "close": lambda memory: memory.archive.close(1, Ending(usage=Usage(1, 2))),
}


@pytest.mark.parametrize("site", GROWING)
def test_a_full_disk_is_told_and_the_turns_stay(memory, site):
    make_full(memory.store, on=True)
    with pytest.raises(StoreFull) as refused:
        GROWING[site](memory)
    assert "space" in refused.value.remedy
    require_unchanged(memory)
    make_full(memory.store, on=False)
    GROWING[site](memory)


@pytest.mark.parametrize("site", GROWING | IN_PLACE)
def test_a_read_only_disk_is_told_and_the_turns_stay(memory, site):
    make_read_only(memory.store, on=True)
    with pytest.raises(StoreReadOnly) as refused:
        (GROWING | IN_PLACE)[site](memory)
    assert "--db" in refused.value.remedy
    require_unchanged(memory)
    make_read_only(memory.store, on=False)
    (GROWING | IN_PLACE)[site](memory)


def require_unchanged(memory: Memory) -> None:
    memory.refresh()
    stored = memory.store.turns(memory.conversation.id)
    assert [turn.content for turn in stored] == ["one", "two"]
    assert memory.turns == stored
    assert [row.turn for row in memory.retrieve("one", 3).candidates if row.matched] == [1]
    assert memory.archive.window_id(stored[0]) is not None


@pytest.mark.parametrize("refuse", [make_full, make_read_only])
def test_an_index_that_cannot_be_written_is_told_and_written_later(memory, refuse):
    memory.store.append(memory.conversation.id, talk(*[LONG[n:] for n in range(4)]))
    memory.refresh()
    refuse(memory.store, on=True)
    with pytest.raises((StoreFull, StoreReadOnly)):
        list(memory.index.catch_up())
    refuse(memory.store, on=False)
    assert sum(len(batch) for batch in memory.index.catch_up()) == 4


def test_an_interrupted_reply_waits_for_a_disk_that_takes_its_mark(memory):
    save(memory)
    claim(memory.store, dead_process())
    make_read_only(memory.store, on=True)
    assert close_interrupted(memory.store) == 0
    assert [turn.content for turn in memory.turns] == ["one", "two"]
    make_read_only(memory.store, on=False)
    assert close_interrupted(memory.store) == 1


def test_a_pass_that_a_full_disk_refuses_leaves_what_stands_and_is_made_later(store):
    desk = Desk(store, conversation_of(store, small_talk(80)).id)
    desk.run(most=1)
    stood = desk.observing.standing().observations
    make_full(store, on=True)
    for _ in range(2):
        with pytest.raises(StoreFull):
            desk.run()
    assert desk.observing.standing().observations == stood
    require_each_turn_sent_or_observed(desk)
    make_full(store, on=False)
    assert desk.run()
    require_continuous(desk)


def test_a_document_that_a_full_disk_refuses_stays_as_it_was_and_is_written_later(store):
    noise = random.Random(1)
    turns = [
        said(number, f"The gateway {number} is named F-{noise.randbytes(120).hex()}.", Role.USER)
        for number in range(1, 61)
    ]
    conversation = conversation_of(store, turns[:2])
    memory = Memory(store, conversation)
    ending = SessionEnd(memory)
    asyncio.run(ending.end())
    before = memory.context.documents.latest()
    store.append(conversation.id, turns[2:])
    with store.database.writing() as connection:
        connection.execute("VACUUM")  # or it fits into free pages
    make_full(store, on=True)
    for _ in range(2):
        with pytest.raises(StoreFull):
            asyncio.run(ending.end())
    assert memory.context.documents.latest() == before
    assert len(ending.turns().turns) == 58
    make_full(store, on=False)
    assert asyncio.run(ending.end()).turns == 58
    assert memory.context.documents.latest().version == before.version + 1
