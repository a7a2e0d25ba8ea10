"""While another process writes, the screen goes on, and nothing is lost."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

import pytest

from jitchat.store.database import Database
from jitchat.tui.actions import ACTIONS
from jitchat.tui.chat.host import LOCKED
from tests.support import ScriptedProvider
from tests.tui.support import chat, demo_app, notices, ready, type_text, until
from tests.tui.test_one_batch import LEFT_OUT, pressed, write

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.tui.support import TestBackend

DRAFT = "a thought that is kept"
FRAME = 0.4
"""Seconds without a step of the loop that a busy machine may take; a lock would take all."""


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the write lock as another process does."""
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield
        other.execute("ROLLBACK")


class Frames:
    """The longest time between two steps of the loop."""

    def __init__(self) -> None:
        self.longest = 0.0
        self._task = asyncio.ensure_future(self._measure())

    async def _measure(self) -> None:
        while True:
            before = time.monotonic()
            await asyncio.sleep(0.005)
            self.longest = max(self.longest, time.monotonic() - before)

    def stop(self) -> float:
        self._task.cancel()
        return self.longest


async def test_a_new_conversation_waits_for_the_lock_and_says_so(backend: TestBackend) -> None:
    async with demo_app(backend).run_test() as pilot:
        screen = await ready(pilot)
        await type_text(pilot, DRAFT)
        left = screen.opening.conversation.id
        with locked(backend.store.database.path):
            frames = Frames()
            write(pilot, "ctrl+n")
            await until(pilot, lambda: LOCKED in notices(pilot), "the notice")
            assert frames.stop() < FRAME
            assert screen.opening.conversation.id == left
        await until(pilot, lambda: screen.opening.conversation.id != left, "the new conversation")
        await until(pilot, lambda: LOCKED not in notices(pilot), "the end of the notice")
        await ready(pilot)
        assert screen.keeper._drafts.get(left).text == DRAFT


async def test_no_action_uses_the_database_on_the_thread_of_the_screen(
    backend: TestBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    statements = []
    refuse = Database._refuse_screen

    def count(database: Database) -> None:
        try:
            refuse(database)
        except RuntimeError as error:
            statements.append(error)
            raise

    monkeypatch.setattr(Database, "_refuse_screen", count)
    backend.provider = ScriptedProvider(["Under", "stood."])
    async with demo_app(backend).run_test() as pilot:
        await ready(pilot)
        await type_text(pilot, DRAFT)
        for action in ACTIONS:
            if action.id not in LEFT_OUT:
                await pressed(pilot, action, 0.0)
        await until(pilot, lambda: not chat(pilot).busy, "rest")
    assert not statements
