"""One message after another, while the first is still being indexed."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING

from jitchat.values import Role
from tests.support import ScriptedProvider
from tests.tui.support import TestBackend, demo_app, idle, ready, type_text, until

if TYPE_CHECKING:
    import pytest


def _last_text(screen: object) -> str:
    view = list(screen.query("TurnView"))[-1]  # type: ignore[attr-defined]
    return view.query_one(".turn-body").source if view.turn.role is Role.ASSISTANT else ""


async def test_what_was_typed_during_a_reply_has_its_window_once_that_has_ended(
    backend: TestBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    answered = asyncio.Event()
    backend.provider = ScriptedProvider(script=("Still ", answered, "here."))
    async with demo_app(backend).run_test(size=(140, 40)) as pilot:
        screen = await ready(pilot)
        await type_text(pilot, "first")
        await pilot.press("enter")
        await until(pilot, lambda: _last_text(screen) == "Still ", "the first words")
        monkeypatch.setattr("jitchat.tui.chat.previews.PREVIEW_AFTER", 60)
        screen.query_one("#prompt").insert("second")  # type: ignore[attr-defined]
        await pilot.pause()
        answered.set()
        await until(
            pilot,
            lambda: screen.previews.window and screen.previews.sent is None,
            "the next window",
        )
        assert screen.previews.window.segments[-1].text.endswith("second")


async def test_the_end_of_one_send_does_not_free_the_next(backend: TestBackend) -> None:
    indexed = threading.Event()
    async with demo_app(backend).run_test(size=(140, 40)) as pilot:
        screen = await ready(pilot)
        assert screen.session is not None
        real = screen.session.memory.index.catch_up

        def slow(**behind: int) -> object:
            indexed.wait(10)
            return real(**behind)

        screen.session.memory.index.catch_up = slow  # type: ignore[assignment, method-assign]
        screen.session.memory.index.index_little = lambda _: None  # type: ignore[method-assign]
        await type_text(pilot, "first")
        await pilot.press("enter")
        await until(pilot, lambda: screen.opening.conversation.turns == 62, "the first reply")
        screen.session.provider = ScriptedProvider(script=("Still ", asyncio.Event()))
        await type_text(pilot, "second")
        await pilot.press("enter")
        await until(pilot, lambda: _last_text(screen) == "Still ", "the second reply")
        carriers = [worker for worker in screen.workers if worker.group == "send"]
        assert len(carriers) == 2
        indexed.set()
        await until(pilot, lambda: carriers[0].is_finished, "the end of the first send")
        await pilot.pause()
        assert screen.busy
        await pilot.press("escape")
        await idle(pilot)
