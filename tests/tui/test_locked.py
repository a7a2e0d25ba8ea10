"""While another process writes, the screen goes on, and nothing is lost."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from jitchat.store import database, turn_cache
from jitchat.store.database import LOCKED
from jitchat.tui.actions import ACTIONS
from tests.support import ScriptedProvider
from tests.tui.support import chat, demo_app, notices, ready, type_text, until
from tests.tui.test_one_batch import LEFT_OUT, at_chat, write

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from jitchat.tui.chat.screen import ChatScreen
    from tests.tui.support import TestBackend

DRAFT = "a thought that is kept"
HELD = 0.1
"""Seconds for which the lock is held after an action has begun."""


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the write lock as another process does."""
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield
        other.execute("ROLLBACK")


def is_open(screen: ChatScreen, *, but: str) -> bool:
    session = screen.session
    return session is not None and session.memory.conversation.id != but


async def test_a_new_conversation_waits_for_the_lock_and_says_so(backend: TestBackend) -> None:
    async with demo_app(backend).run_test() as pilot:
        screen = await ready(pilot)
        await type_text(pilot, DRAFT)
        left = screen.opening.conversation.id
        with locked(backend.store.database.path):
            write(pilot, "ctrl+n")
            await until(pilot, lambda: LOCKED in notices(pilot), "the notice")
            assert screen.opening.conversation.id == left
        await until(pilot, lambda: is_open(screen, but=left), "the new conversation")
        await until(pilot, lambda: LOCKED not in notices(pilot), "the end of the notice")
        assert screen.keeper._drafts.get(left).text == DRAFT


@pytest.fixture
def on_screen(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The statements that run from now on in this thread, which is that of the screen."""
    statements: list[str] = []
    connect, here = database._connection, threading.get_ident()

    def note(statement: str) -> None:
        if threading.get_ident() == here:
            statements.append(statement)

    def connection(*given: Any, **named: Any) -> sqlite3.Connection:
        made = connect(*given, **named)
        made.set_trace_callback(note)
        return made

    monkeypatch.setattr(database, "_connection", connection)
    return statements


async def test_every_action_while_the_database_is_locked(
    on_screen: list[str], backend: TestBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a conversation most of which is in the database alone."""
    monkeypatch.setattr(turn_cache, "_MOST_IN_MEMORY", 12)
    monkeypatch.setattr(turn_cache, "_LATEST", 4)
    backend.provider = ScriptedProvider(["Under", "stood."])
    async with demo_app(backend).run_test() as pilot:
        screen = await ready(pilot)
        await type_text(pilot, DRAFT)
        on_screen.clear()
        for action in ACTIONS:
            if action.id not in LEFT_OUT:
                with locked(backend.store.database.path):
                    pilot.app.call_later(pilot.app.screen.run_action, action.run)
                    await asyncio.sleep(HELD)
                await at_chat(pilot)
        assert on_screen == []
        await until(pilot, lambda: not chat(pilot).busy, "rest")
        kept = screen.surfaces.prompt.message.text
    turns = backend.store.database.fetch_all("SELECT content FROM turns")
    drafts = backend.store.database.fetch_all("SELECT text FROM drafts")
    assert any(DRAFT in text for text in (kept, *(row[0] for row in (*turns, *drafts))))


async def test_the_screen_may_not_wait_for_the_database_after_its_first_frame(
    backend: TestBackend,
) -> None:
    with pytest.raises(RuntimeError, match="cannot wait"):  # noqa: PT012  raised when it has ended
        async with demo_app(backend).run_test() as pilot:
            screen = await ready(pilot)
            screen.call_later(backend.store.conversations)
            await pilot.pause()
