"""The summariser behind the screen: it is seen, it waits, and it gives up once."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from jitchat.errors import RequestRefused
from jitchat.session_options import SessionOptions
from jitchat.small_models.small_model import SmallModel
from jitchat.tui.app import JitchatApp
from jitchat.tui.widgets.prompt import Prompt
from jitchat.window.tokens import EstimateCounter
from tests.small_models.support import small
from tests.small_models.writers import Writer, asked_for, kept
from tests.support import conversation_of, talk
from tests.tui.support import SMALL, TestBackend, chat, idle, ready, until

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from jitchat.providers.provider import Options, Piece
    from jitchat.values import Message

TURNS = talk(*(f"turn {number} of the harbour talk" for number in range(1, 21)))


class Held(Writer):
    """Answers one request for each time that it is let."""

    def __init__(self) -> None:
        super().__init__()
        self.let = asyncio.Semaphore(0)

    async def stream(self, messages: Sequence[Message], options: Options) -> AsyncIterator[Piece]:
        await self.let.acquire()
        async for piece in super().stream(messages, options):
            yield piece


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody is taken to be there for long."""
    monkeypatch.setattr("jitchat.index.indexer.ATTENDED_SECONDS", 0.01)


def use(backend: TestBackend, writer: Writer) -> None:
    model = SmallModel(writer, EstimateCounter(), 5)
    backend.options = SessionOptions(budget=SMALL, summariser=model)


def status(screen: object) -> str:
    return str(screen.query_one("#status").render())  # type: ignore[attr-defined]


async def test_index_lines_are_written_behind_the_chat_and_after_each_exchange_and_that_is_seen(
    backend: TestBackend,
):
    writer = Held()
    use(backend, writer)
    app = JitchatApp(backend, conversation_of(backend.store, TURNS))
    async with app.run_test(size=(140, 40)) as pilot:
        screen = await ready(pilot)
        writer.let.release()
        await until(pilot, lambda: "12 to go" in status(screen), "the first lines")
        assert status(screen).startswith("small-1 is writing index lines: 12 to go · ")
        assert " + 10 tokens · " in status(screen)
        assert status(screen).endswith(" · ~estimate")
        for _ in range(2):
            writer.let.release()
        await until(pilot, lambda: "to go" not in status(screen), "the last of them")
        assert kept(backend.store) == [("small-1", f"line {n}") for n in range(1, 21)]

        screen.query_one(Prompt).insert("and the lighthouse?")
        await pilot.press("enter")
        await idle(pilot)
        writer.let.release()
        await until(pilot, lambda: len(kept(backend.store)) == 22, "two more lines")
        assert asked_for(writer.requests[-1]) == [21, 22]


async def test_a_failure_is_told_once_and_the_chat_goes_on(backend: TestBackend):
    model = small(RequestRefused("The provider refused.", "Wait."))
    backend.options = SessionOptions(budget=SMALL, summariser=model)
    app = JitchatApp(backend, conversation_of(backend.store, TURNS))
    async with app.run_test(size=(140, 40)) as pilot:
        screen = await ready(pilot)
        await until(pilot, lambda: len(app._notifications), "that it is told")
        (told,) = app._notifications
        assert "The summariser small-1 stopped: The provider refused." in told.message
        screen.query_one(Prompt).insert("and the lighthouse?")
        await pilot.press("enter")
        await until(pilot, lambda: len(backend.store.turns("chat-1")) == 22, "the answer")
        await idle(pilot)
        await pilot.pause()
        assert len(app._notifications) == 1
        assert len(model.provider.requests) == 1


async def test_a_conversation_that_is_left_gets_no_more_lines(backend: TestBackend):
    writer = Held()
    use(backend, writer)
    left = conversation_of(backend.store, TURNS)
    app = JitchatApp(backend, left)
    async with app.run_test(size=(140, 40)) as pilot:
        screen = await ready(pilot)
        writer.let.release()
        await until(pilot, lambda: len(kept(backend.store)) == 8, "the first lines")
        await screen.open(backend.store.create("Another"))
        await ready(pilot)
        for _ in range(5):
            writer.let.release()
        await pilot.pause()
        assert chat(pilot).opening.conversation.title == "Another"
        assert len(kept(backend.store)) == 8
        assert "index lines" not in status(screen)
