"""What another program writes to the conversation on screen appears there."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from jitchat.store.database import Database
from jitchat.store.deletion import hide
from jitchat.store.store import ColdStore
from jitchat.tui.app import JitchatApp
from jitchat.tui.chat import conversations
from jitchat.tui.chat.conversations import DELETED
from tests.support import conversation_of, talk, turn
from tests.tui.drawn import header, positions
from tests.tui.support import TestBackend, chat, idle, notices, ready, type_text, until

if TYPE_CHECKING:
    from collections.abc import Iterator

TALK = talk("Which port?", "Port 8443.")


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conversations, "LOOK_EVERY", 0.01)


@contextmanager
def another(backend: TestBackend) -> Iterator[ColdStore]:
    """The store as another process has it open."""
    database = Database(backend.store.database.path)
    try:
        yield ColdStore(database, backend.store.now)
    finally:
        database.close()


async def test_turns_of_another_program_appear_and_are_new_until_the_next_message(
    backend: TestBackend,
) -> None:
    made = conversation_of(backend.store, TALK)
    async with JitchatApp(backend, made).run_test(size=(100, 40)) as pilot:
        screen = await ready(pilot)
        with another(backend) as store:
            store.append(made.id, [turn(3, "And the logo?"), turn(4, "It is green.")])
        await until(pilot, lambda: positions(screen) == [1, 2, 3, 4], "the turns")
        await until(pilot, lambda: "2 new turns from another jitchat." in notices(pilot), "notice")
        assert ["new" in header(screen, place) for place in (1, 2, 3, 4)] == [0, 0, 1, 1]
        await type_text(pilot, "Why green?")
        await pilot.press("enter")
        await until(pilot, lambda: positions(screen)[-1] == 6, "the reply")
        await idle(pilot)
        assert "Which port?" in str(backend.provider.requests[-1])
        assert "It is green." in str(backend.provider.requests[-1])
        assert not any("new" in header(screen, place) for place in (3, 4, 5, 6))


async def test_new_turns_do_not_move_what_is_read(backend: TestBackend) -> None:
    made = conversation_of(backend.store, talk(*(f"line {n}\n" * 9 for n in range(20))))
    async with JitchatApp(backend, made).run_test(size=(100, 30)) as pilot:
        screen = await ready(pilot)
        transcript = screen.surfaces.transcript
        transcript.action_page(-2)
        await pilot.pause()
        before = transcript.first_in_view
        with another(backend) as store:
            store.append(made.id, [turn(21, "And the logo?")])
        await until(pilot, lambda: len(screen.session.memory.turns) == 21, "the turn")
        await until(pilot, lambda: "1 new turn from another jitchat." in notices(pilot), "notice")
        assert transcript.first_in_view == before
        transcript.scroll_to_end()
        await until(pilot, lambda: 21 in positions(screen), "the turn")
        assert "new" in header(screen, 21)


async def test_a_conversation_that_was_deleted_elsewhere_says_so_and_keeps_the_draft(
    backend: TestBackend,
) -> None:
    made = conversation_of(backend.store, TALK)
    async with JitchatApp(backend, made).run_test(size=(100, 40)) as pilot:
        screen = await ready(pilot)
        await type_text(pilot, "half a thought")
        with another(backend) as store:
            hide(store, made.id)
        await until(pilot, lambda: screen.opening.conversation.id != made.id, "another one")
        await until(pilot, lambda: DELETED in notices(pilot), "the notice")
        assert chat(pilot).surfaces.prompt.text == "half a thought"
