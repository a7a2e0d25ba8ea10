"""A store that cannot be written, for any reason: the draft comes back."""

from __future__ import annotations

import asyncio
from hashlib import sha256
from typing import TYPE_CHECKING

import pytest

from jitchat.compare_modes import ModeComparison
from jitchat.errors import StoreBusy, StoreFull, Unreachable
from jitchat.events import Event, ReplyDelta, TurnStored, WindowBuilt
from jitchat.values import Mode, Role
from tests.session.sending import durable, failures, reply_text, send, stored_turns, talking
from tests.support import ScriptedProvider

if TYPE_CHECKING:
    from jitchat.store.store import ColdStore

LONG = " ".join(sha256(bytes([n % 256, n // 256])).hexdigest()[:9] for n in range(24_000))
"""Compressed, too, much more than the free space in the pages that the database has."""


def fill(store: ColdStore) -> None:
    """From now on the database cannot grow, as on a full disk."""
    with store.database.writing() as connection:
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count = {pages}")


def free(store: ColdStore) -> None:
    with store.database.writing() as connection:
        connection.execute("PRAGMA max_page_count = 1000000")


def take_free_pages(store: ColdStore) -> None:
    with store.database.write() as connection:
        free = connection.execute("PRAGMA freelist_count").fetchone()[0]
        connection.execute("INSERT INTO blobs VALUES ('filled', zeroblob(?))", (free * 4_000,))


async def check_it_goes_on(store: ColdStore, session: object) -> None:
    """With space again, the next message is answered and nothing is left open."""
    free(store)
    session.provider = ScriptedProvider(("Now.",))
    events = await send(session, "and now?", Mode.RECENCY)
    assert not failures(events)
    assert reply_text(events) == "Now."
    assert durable(store).streaming == 0
    assert "streaming" not in {row[3] for row in durable(store).turns}


async def test_a_draft_that_cannot_be_stored_comes_back(store):
    session = talking(store)
    before = durable(store)
    fill(store)
    events = await send(session, LONG)
    (failed,) = events
    assert isinstance(failed.error, StoreFull)
    assert failed.draft == LONG
    assert "Free some space" in failed.error.remedy
    assert durable(store) == before
    assert session.provider.requests == []
    await check_it_goes_on(store, session)


async def test_a_window_that_cannot_be_stored_is_not_sent(store):
    session, draft = talking(store, exchanges=200), "hello"

    def watch(event: Event) -> None:
        if isinstance(event, TurnStored):
            fill(store)

    events = await send(session, draft, Mode.FULL, watch)
    (failed,) = failures(events)
    assert isinstance(failed.error, StoreFull)
    assert failed.draft == draft
    assert not any(isinstance(event, WindowBuilt) for event in events)
    assert session.provider.requests == []
    assert durable(store).turns[-1] == (401, "user", "hello", "unanswered")
    await check_it_goes_on(store, session)


async def test_a_reply_that_cannot_be_stored_is_shown_to_its_end(store):
    session = talking(store, LONG, "the end")

    def watch(event: Event) -> None:
        if isinstance(event, WindowBuilt):
            fill(store)

    events = await send(session, "hello", watch=watch)
    assert reply_text(events) == f"{LONG}the end"
    (failed,) = failures(events)
    assert isinstance(failed.error, StoreFull)
    assert failed.draft == "hello"
    assert len(stored_turns(events)) == 1, "nothing says that the reply is durable"
    assert durable(store).turns[-1] == (5, "user", "hello", "unanswered")
    await check_it_goes_on(store, session)


async def test_the_rest_of_a_reply_on_a_full_disk_is_stored_before_the_next_turn(
    store,
):
    session = talking(store, "The start", LONG)

    def watch(event: Event) -> None:
        if isinstance(event, ReplyDelta) and event.text == LONG:
            fill(store)

    events = await send(session, "hello", watch=watch)
    assert reply_text(events) == f"The start{LONG}"
    (failed,) = failures(events)
    assert isinstance(failed.error, StoreFull)
    assert durable(store).turns[-2:-1] == [(5, "user", "hello", "complete")]
    assert durable(store).turns[-1][2] == "The start"
    await check_it_goes_on(store, session)
    assert durable(store).turns[5] == (6, "assistant", f"The start{LONG}", "complete")


async def test_a_cancelled_reply_that_cannot_be_stored_raises_the_error(store):
    session = talking(store, LONG, asyncio.Event())
    events = session.send("hello", Mode.RECENCY)
    async for event in events:
        if isinstance(event, WindowBuilt):
            fill(store)
        if isinstance(event, ReplyDelta):
            break
    with pytest.raises(StoreFull):
        await events.aclose()
    await check_it_goes_on(store, session)


async def test_a_reply_that_cannot_be_indexed_is_kept_and_indexed_later(store):
    session = talking(store, LONG)

    def watch(event: Event) -> None:
        if isinstance(event, TurnStored) and event.turn.role is Role.ASSISTANT:
            take_free_pages(store)
            fill(store)

    events = await send(session, "hello", watch=watch)
    (failed,) = failures(events)
    assert isinstance(failed.error, StoreFull)
    assert durable(store).turns[-1] == (6, "assistant", LONG, "complete")
    assert durable(store).indexed == [1, 2, 3, 4, 5]
    await check_it_goes_on(store, session)
    assert durable(store).indexed == [*range(1, 9)]


@pytest.mark.parametrize("site", ["add_user_turn", "mark_unanswered", "refresh"])
async def test_a_store_locked_by_another_program_is_reported(store, monkeypatch, site):
    session = talking(store, "Yes." if site == "refresh" else "")

    def busy(*_: object) -> None:
        raise StoreBusy("The database is held by another program.", "Close it.")

    def watch(event: Event) -> None:
        if isinstance(event, WindowBuilt):
            monkeypatch.setattr(session.memory, site, busy)

    if site == "add_user_turn":
        monkeypatch.setattr(session.memory, site, busy)
    events = await send(session, "hello", watch=watch)
    (failed,) = failures(events)
    assert failed.draft == "hello"
    monkeypatch.undo()
    await check_it_goes_on(store, session)


async def test_a_failed_request_on_a_full_disk_reports_the_requests_error(store):
    session = talking(store, Unreachable("No server.", "Start it."))

    def watch(event: Event) -> None:
        if isinstance(event, WindowBuilt):
            fill(store)

    events = await send(session, "hello", watch=watch)
    (failed,) = failures(events)
    assert isinstance(failed.error, Unreachable)
    await check_it_goes_on(store, session)


@pytest.mark.parametrize("begun", ["", "The start "])
async def test_an_unstored_reply_is_stored_once_there_is_room(store, begun):
    session = talking(store, *filter(None, [begun]), LONG)

    def watch(event: Event) -> None:
        if isinstance(event, ReplyDelta) and event.text == LONG:
            fill(store)
        if not begun and isinstance(event, WindowBuilt):
            fill(store)

    await send(session, "hello", watch=watch)
    assert session.unstored == len(begun)
    assert store.unstored.rests == [LONG]
    with pytest.raises(StoreFull):
        store.unstored.store_again()
    free(store)
    stored = []
    store.unstored.on_stored = lambda *reply: stored.append(reply)
    store.unstored.store_again()
    store.unstored.store_again()
    ((where, reply),) = stored
    assert where == session.memory.conversation.id
    assert reply.content == f"{begun}{LONG}"
    assert session.unstored is None
    assert not store.unstored
    assert durable(store).turns[-2:] == [
        (5, "user", "hello", "complete"),
        (6, "assistant", f"{begun}{LONG}", "complete"),
    ]
    assert durable(store).streaming == 0


async def test_a_message_refused_meanwhile_loses_no_unstored_reply(store):
    session = talking(store, "The start ", LONG)

    def watch(event: Event) -> None:
        if isinstance(event, ReplyDelta) and event.text == LONG:
            fill(store)

    await send(session, "hello", watch=watch)
    (failed,) = await send(session, LONG)
    assert failed.draft == LONG
    free(store)
    store.unstored.store_again()
    assert durable(store).turns[-1] == (6, "assistant", f"The start {LONG}", "complete")
    assert durable(store).streaming == 0


async def test_each_of_several_replies_is_stored_once_there_is_room(store):
    all_begun, begun = asyncio.Event(), set[Mode]()
    session = talking(store, "The start ", all_begun, LONG)

    def hear(mode: Mode, event: Event) -> None:
        if isinstance(event, ReplyDelta) and event.text == LONG:
            fill(store)
        elif isinstance(event, ReplyDelta):
            begun.add(mode)
            if len(begun) == len(Mode):
                all_begun.set()

    asking = ModeComparison(session, "hello")
    await asking.run(hear)
    assert len(store.unstored.rests) == len(Mode)
    free(store)
    store.unstored.store_again()
    assert not store.unstored
    replies = [turn for turn in durable(store).turns if turn[2] == f"The start {LONG}"]
    assert [status for *_, status in replies] == ["complete"] * len(Mode)
    assert durable(store).streaming == 0
