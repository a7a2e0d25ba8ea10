"""Quitting with a reply that cannot be stored: nothing is lost without confirmation."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import pytest

from jitchat.errors import StoreFull
from jitchat.store.replies import ReplyWriter
from jitchat.tui.dialogs.leaving import LeavingScreen
from jitchat.tui.widgets.prompt import Prompt
from jitchat.values import Status
from tests.support import ScriptedProvider
from tests.tui.support import TestBackend, demo_app, idle, ready, until

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from textual.pilot import Pilot


def full(*_: object, **__: object) -> None:
    raise StoreFull("The disk is full.", "Free some space.")


@asynccontextmanager
async def refused(
    backend: TestBackend, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[tuple[Pilot[None], pytest.MonkeyPatch]]:
    """The app with a stopped reply that cannot be stored."""
    begun = asyncio.Event()
    backend.provider = ScriptedProvider(("It is ", begun, "now."))
    async with demo_app(backend).run_test(size=(140, 40)) as pilot:
        screen = await ready(pilot)
        with monkeypatch.context() as refusing:
            refusing.setattr(ReplyWriter, "_write", full)
            screen.query_one(Prompt).insert("when?")
            await pilot.press("enter")
            await until(pilot, lambda: backend.store.unstored, "the first refused save")
            await pilot.press("escape")
            await idle(pilot)
            yield pilot, refusing


async def asked(pilot: Pilot[None]) -> LeavingScreen:
    """Return the dialog shown on quitting."""
    await pilot.press("ctrl+q")
    await until(pilot, lambda: isinstance(pilot.app.screen, LeavingScreen), "the question")
    assert isinstance(pilot.app.screen, LeavingScreen)
    return pilot.app.screen


async def test_quitting_asks_esc_stays_and_quitting_again_quits(
    backend: TestBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with refused(backend, monkeypatch) as (pilot, _):
        question = await asked(pilot)
        shown = str(question.query_one("#leaving-note").render())
        assert shown.startswith("6 characters of a reply cannot be stored")
        await pilot.press("c")
        assert pilot.app.clipboard == "It is "
        await pilot.press("escape")
        await until(pilot, lambda: len(pilot.app.screen_stack) == 1, "the chat")
        assert pilot.app._exit is False
        await asked(pilot)
        await pilot.press("ctrl+q")
        await until(pilot, lambda: pilot.app._exit, "the end")
    assert backend.store.unstored.rests == ["It is "]


async def test_once_there_is_space_the_reply_is_stored_and_quitting_does_not_ask(
    backend: TestBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with refused(backend, monkeypatch) as (pilot, refusing):
        refusing.undo()
        await pilot.press("ctrl+q")
        await until(pilot, lambda: pilot.app._exit, "the end")
    last = backend.store.turns("demo")[-1]
    assert (last.content, last.status) == ("It is ", Status.CANCELLED)


async def test_quitting_also_asks_about_a_streaming_reply_that_cannot_be_saved(
    backend: TestBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    backend.provider = ScriptedProvider(("It is ", asyncio.Event()))
    async with demo_app(backend).run_test(size=(140, 40)) as pilot:
        screen = await ready(pilot)
        with monkeypatch.context() as refusing:
            refusing.setattr(ReplyWriter, "_write", full)
            screen.query_one(Prompt).insert("when?")
            await pilot.press("enter")
            await until(pilot, lambda: backend.store.unstored, "the first refused save")
            await asked(pilot)
            assert screen.busy
            await pilot.press("enter")
            await until(pilot, lambda: pilot.app._exit, "the end")
