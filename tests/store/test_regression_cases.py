"""Regression cases: stored, read, replaced and removed."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from jitchat.errors import StoreUnreadable
from jitchat.recorder import sent_request_for
from jitchat.regression_cases import standing_then
from jitchat.replay import sent_on_path
from jitchat.store.regression_cases import Case, CaseKind, Cases
from jitchat.store.windows import WindowArchive
from jitchat.values import Mode
from jitchat.window.steering import Once
from tests.index.support import index
from tests.support import (
    ScriptedProvider,
    conversation_of,
    demo_session,
    sent_window,
    session_on,
    talk,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from jitchat.store.store import ColdStore


def test_a_case_is_kept_once_for_its_two_turns_and_removed_again(store: ColdStore) -> None:
    here = conversation_of(store, talk("one", "two", "three"))
    other = conversation_of(store, talk("four", "five", "six"))
    cases = Cases(store.database)
    first, second = (
        Case(turns[2], turns[0], CaseKind.MISS, None, store.now())
        for turns in (store.turns(here.id), store.turns(other.id))
    )
    cases.put(first)
    cases.put(second)
    cases.put(Case(first.said, first.wanted, CaseKind.KEPT, None, store.now()))
    (noted,) = cases.of(here.id)
    assert (noted.said, noted.wanted, noted.kind) == (first.said, first.wanted, CaseKind.KEPT)
    assert (noted.said.id, noted.conversation) == (first.said.id, here.id)
    assert [case.conversation for case in cases.of()] == [here.id, other.id]
    cases.remove(noted)
    assert cases.of(here.id) == []
    cases.put(noted)
    assert [case.noted_at for case in cases.of(here.id)] == [noted.noted_at]


async def test_windows_of_alternative_replies_are_distinguished(
    store: ColdStore,
) -> None:
    session = demo_session(store, ScriptedProvider())
    sends = WindowArchive(store.database)
    assert sends.window_id(session.memory.turns[-2]) is None
    async for _ in session.send("and now?", Mode.JIT):
        pass
    said, first = session.memory.turns[-2:]
    async for _ in session.send(said.content, Mode.JIT, Once(again=said)):
        pass
    second = session.memory.turns[-1]
    ids = [send.window_id for send in sends.sends(session.memory.conversation.id)]
    assert second.position != first.position
    assert [sends.window_id(said, first), sends.window_id(said, second)] == ids
    assert sends.window_id(said) == ids[1]


async def test_the_window_of_the_mode_is_found_for_a_message_sent_twice(
    store: ColdStore,
) -> None:
    session = demo_session(store, ScriptedProvider())
    session.memory.add_user_turn("hello", after=0)
    said = session.memory.turns[-1]
    for mode in (Mode.FULL, Mode.RECENCY):
        async for _ in session.send("hello", mode, Once(again=said)):
            pass
    sends = WindowArchive(store.database)
    full, recency = sends.sends(session.memory.conversation.id)
    assert full.digest == recency.digest
    assert sends.window_id_of(said, Mode.FULL, full.model, full.digest) == full.window_id
    assert sends.window_id_of(said, Mode.RECENCY, full.model, full.digest) == recency.window_id
    assert sends.window_id_of(said, Mode.JIT, "another", full.digest) == recency.window_id
    assert sends.window_id_of(said, Mode.FULL, full.model, "no hash") is None
    first = session.memory.store.turn(session.memory.conversation.id, full.reply)
    sent = sent_on_path(session.memory, said, first)
    assert sent is not None
    assert sent[0].mode is Mode.FULL
    last = sent_on_path(session.memory, said)
    assert last is not None
    assert last[0].mode is Mode.RECENCY
    session.memory.switch_to(first.position)
    again = sent_on_path(session.memory, said)
    assert again is not None
    assert again[0].mode is Mode.FULL


DAMAGES = (
    "header = '{}'",
    "header = json_set(header, '$.mode', 'x')",
    "header = json_set(header, '$.full_tokens', 'x')",
    "packed = x'00'",
    "request = '{}'",
    "request = '7'",
    'request = \'{"provider": 1, "url": 2, "sha256": 3, "options": {}}\'',
)


async def test_a_damaged_window_of_a_case_is_reported(store: ColdStore) -> None:
    session = demo_session(store)
    async for _ in session.send("and now?", Mode.JIT):
        pass
    said = session.memory.turns[-2]
    identity = WindowArchive(store.database).window_id(said)
    assert identity is not None
    case = Case(said, session.memory.turns[0], CaseKind.MISS, identity, store.now())
    of_window: tuple[Callable[[], object], ...] = (
        lambda: sent_window(session, said),
        lambda: standing_then(session.memory, case),
    )
    of_request = (lambda: sent_request_for(session.memory, identity),)
    with store.database.read() as connection:
        stored = connection.execute("SELECT header, packed, request FROM windows").fetchall()
    whole = "header = ?, packed = ?, request = ?"
    for damage in DAMAGES:
        with store.database.write() as connection:
            connection.execute(f"UPDATE windows SET {whole}", tuple(*stored))
            connection.execute(f"UPDATE windows SET {damage}")
        for number, read in enumerate(of_request if "request" in damage else of_window):
            told = ""
            try:
                read()
            except StoreUnreadable as error:
                told = str(error)
            assert "damaged" in told, (damage, number)


def test_a_search_keeps_to_one_conversation(store: ColdStore) -> None:
    here = conversation_of(store, talk("the lighthouse", "灯台の話"))
    there = conversation_of(store, talk("a lighthouse", "灯台です"))
    assert {found[0] for found in store.search("lighthouse")} == {here.id, there.id}
    (found,) = store.search("lighthouse", 50, here.id)
    assert found == (here.id, 1, "the lighthouse", ((4, 14),), "")
    assert [found[:2] for found in store.search("灯台", 50, there.id)] == [(there.id, 2)]


def test_a_message_sent_again_is_retrieved_as_of_its_own_day(store: ColdStore) -> None:
    day = datetime(2024, 5, 6, 12, tzinfo=UTC)
    days = (day, day, day + timedelta(days=1))
    turns = talk("A port was chosen.", "Which port?", "What was said of a port yesterday?")
    dated = [replace(turn, created_at=at) for turn, at in zip(turns, days, strict=True)]
    memory = session_on(store, conversation_of(store, dated)).memory
    index(memory)

    def said_then(position: int) -> list[int]:
        rows = memory.retrieve(turns[2].content, position).candidates
        return [row.turn for row in rows if dict(row.parts)["date"] > 0]

    assert said_then(3) == [1, 2]
    assert said_then(4) == []
