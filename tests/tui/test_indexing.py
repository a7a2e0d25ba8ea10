"""A backlog is indexed behind the screen: how far it is can be seen, and nothing claims more."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

from jitchat.tui.app import JitchatApp
from tests.index.support import FailingEmbedder, FakeEmbedder
from tests.support import conversation_of, talk
from tests.tui.support import TestBackend, chat, ready, until

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    import numpy as np

MANY = talk(*(f"turn {number} of the harbour talk" for number in range(1, 301)))


class Gated(FakeEmbedder):
    """Embeds as many slices of a backlog as it is let."""

    def __init__(self) -> None:
        super().__init__()
        self.let = threading.Semaphore(0)

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        if len(texts) > 1:
            self.let.acquire(timeout=10)
        return super().embed(texts)


@pytest.fixture
async def gated(backend: TestBackend) -> AsyncIterator[Gated]:
    embedder = Gated()
    backend.embedder = embedder
    yield embedder
    embedder.let.release(1_000)


def status(screen: object) -> str:
    return str(screen.query_one("#status").render())  # type: ignore[attr-defined]


def first_line(app: JitchatApp) -> str:
    """What stands in the first line of the terminal."""
    return "".join(segment.text for segment in app.screen._compositor.render_strips()[0])


async def test_how_far_the_indexing_is_stands_before_who_answers(
    backend: TestBackend, gated
) -> None:
    app = JitchatApp(backend, conversation_of(backend.store, MANY))
    async with app.run_test(size=(160, 48)) as pilot:
        screen = chat(pilot)
        await until(pilot, lambda: "indexing 0 of 300" in first_line(app), "the beginning")
        await until(pilot, lambda: "~estimate" in first_line(app), "the mark of an estimate")
        assert not screen.indexing.indexed
        who = "scripted scripted-1 · fake-8 · ~estimate"
        assert status(screen) == f"indexing 0 of 300 · {who}"
        await pilot.resize_terminal(80, 24)
        short = "indexing 0 of 300 · scripted scripted-1 · ~estimate"
        await until(pilot, lambda: status(screen) == short, "what has room")
        assert "indexing 0 of 300" in first_line(app)
        assert "~estimate" in first_line(app)
        screen.indexing.show_status()
        assert status(screen).startswith("indexing 0 of 300 · ")
        gated.let.release(8)
        await until(pilot, lambda: "indexing 128 of 300" in first_line(app), "the first batch")
        gated.let.release(1_000)
        await ready(pilot)
        assert status(screen) == who


async def test_a_backlog_that_was_left_goes_on_from_there(backend: TestBackend, gated) -> None:
    left = conversation_of(backend.store, MANY)
    app = JitchatApp(backend, left)
    async with app.run_test(size=(140, 40)) as pilot:
        screen = chat(pilot)
        gated.let.release(8)
        await until(pilot, lambda: "indexing 128 of 300" in status(screen), "the first batch")
        await screen.open(backend.store.create("Another"))
        assert screen.indexing.progress is None
        gated.let.release()
        await ready(pilot)
        assert "indexing" not in status(screen)
        await screen.open(left)
        await until(pilot, lambda: "indexing 128 of 300" in status(screen), "where it was")


async def test_a_message_can_be_sent_meanwhile_and_the_figure_stays(
    backend: TestBackend, gated
) -> None:
    app = JitchatApp(backend, conversation_of(backend.store, MANY))
    async with app.run_test(size=(140, 40)) as pilot:
        screen = chat(pilot)
        await until(pilot, lambda: "indexing 0 of 300" in status(screen), "the figure")
        screen.query_one("#prompt").insert("and the lighthouse?")  # type: ignore[attr-defined]
        await pilot.press("enter")
        await until(pilot, lambda: screen.opening.conversation.turns == 302, "the reply")
        assert status(screen).startswith("indexing 0 of 300 · ")


async def test_where_the_embedder_fails_the_status_says_that_vectors_are_missing(
    backend: TestBackend,
) -> None:
    backend.embedder = FailingEmbedder()
    app = JitchatApp(backend, conversation_of(backend.store, MANY))
    async with app.run_test(size=(140, 40)) as pilot:
        screen = await ready(pilot)
        assert status(screen) == ("vectors missing · scripted scripted-1 · fake-8 · ~estimate")
        assert "recall uses words alone" in next(iter(app._notifications)).message
