"""The larger embedding model: offered once, downloaded only when the user says so."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from jitchat import weights
from jitchat.errors import StoreFull
from jitchat.index.conversation_index import ConversationIndex
from jitchat.tui.dialogs.fetch import FetchScreen
from jitchat.tui.widgets.top_line import TopLine
from tests.tui.support import TestBackend, demo_app, notices, ready, until

if TYPE_CHECKING:
    from jitchat.tui.chat.screen import ChatScreen

QUESTION = "F5 downloads a 22 MB model"
LARGER = weights.known()["minilm"]


def suggestions(screen: ChatScreen) -> str:
    line = screen.query_one("#offer")
    return str(line.render()) if line.display else ""


async def test_the_larger_model_is_offered_at_one_start_and_at_no_later_one(
    backend: TestBackend,
) -> None:
    backend.larger = LARGER
    async with demo_app(backend).run_test(size=(80, 24)) as pilot:
        screen = await ready(pilot)
        await until(pilot, lambda: QUESTION in suggestions(screen), "the question")
        await pilot.press("x")
        await until(pilot, lambda: not suggestions(screen), "the end of the suggestions")
    async with demo_app(backend).run_test(size=(80, 24)) as pilot:
        screen = await ready(pilot)
        await pilot.app.workers.wait_for_complete()
        assert QUESTION not in suggestions(screen)


async def test_nothing_is_offered_or_looked_for_where_it_would_not_help(
    backend: TestBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def look(_: object) -> None:
        raise AssertionError("servers on this machine were looked for")

    monkeypatch.setattr(TestBackend, "find_local", look)
    async with demo_app(backend).run_test(size=(80, 24)) as pilot:
        screen = await ready(pilot)
        await pilot.app.workers.wait_for_complete()
        assert QUESTION not in suggestions(screen)
        await pilot.press("f5")
        await until(pilot, lambda: notices(pilot), "the notice")
        assert "no larger embedding model" in notices(pilot)[0]


async def test_the_key_shows_what_would_be_downloaded_and_the_model_is_used_then(
    backend: TestBackend,
) -> None:
    backend.larger = LARGER
    async with demo_app(backend).run_test(size=(140, 40)) as pilot:
        screen = await ready(pilot)
        await pilot.press("f5")
        await until(pilot, lambda: isinstance(pilot.app.screen, FetchScreen), "the dialog")
        note = str(pilot.app.screen.query_one("#fetch-note").render())
        assert "21.7 MB to download" in note
        assert "talk between people" in note
        await pilot.press("enter")
        status = screen.query_one(TopLine).query_one("#status")
        await until(pilot, lambda: "fake-embedder" in str(status.render()), "the new embedder")
        assert screen.session is not None
        assert screen.session.memory.index.embedder.id == "fake-embedder"


async def test_a_refused_download_changes_nothing(backend: TestBackend) -> None:
    backend.larger = LARGER
    async with demo_app(backend).run_test(size=(140, 40)) as pilot:
        screen = await ready(pilot)
        assert screen.session is not None
        before = screen.session.memory.index.embedder.id
        await pilot.press("f5")
        await until(pilot, lambda: isinstance(pilot.app.screen, FetchScreen), "the dialog")
        await pilot.press("escape")
        await until(pilot, lambda: pilot.app.screen is screen, "the chat")
        assert screen.session.memory.index.embedder.id == before


async def test_indexing_that_fails_is_reported(
    backend: TestBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise StoreFull("The disk is full.", "Free some space.")

    monkeypatch.setattr(ConversationIndex, "catch_up", full)
    async with demo_app(backend).run_test(size=(140, 40)) as pilot:
        await ready(pilot)
        assert "The disk is full. Free some space." in notices(pilot)
        assert pilot.app.is_running
