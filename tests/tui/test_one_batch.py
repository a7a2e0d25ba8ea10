"""Two keys in one batch, as over a slow line: nothing waits for a worker that is gone."""

from __future__ import annotations

import asyncio
from inspect import CORO_CLOSED, getcoroutinestate
from typing import TYPE_CHECKING, Any

import pytest
from textual.command import CommandList
from textual.events import Key
from textual.worker import WorkerState

from jitchat.store.drafts import Drafts
from jitchat.tui.actions import ACTIONS, Action
from jitchat.tui.chat.sends import Sends
from jitchat.tui.dialogs.large_message import LargeMessageScreen
from jitchat.tui.views.what_if import WhatIfView
from jitchat.tui.workers import Workers
from tests.support import ScriptedProvider
from tests.tui.support import chat, demo_app, idle, ready, type_text, until
from tests.tui.test_large_message import QUESTION, TEXT, enter
from tests.tui.views.test_ask_all import FREE, asked, over, told

if TYPE_CHECKING:
    from textual.pilot import Pilot

    from tests.tui.support import TestBackend

CHARACTERS = {"enter": "\r", "escape": "\x1b"}
LEFT_OUT = {"quit", "rot"}
PAUSES = (0.0, 0.002)


def write(pilot: Pilot[None], *keys: str) -> None:
    """Have keys arrive at once."""
    for key in keys:
        pilot.app.post_message(Key(key, CHARACTERS.get(key)))


async def is_usable(pilot: Pilot[None], backend: TestBackend) -> None:
    """The app has ended what it began, and sends the next message."""
    screen = chat(pilot)
    await idle(pilot)
    sent = len(backend.provider.requests)  # type: ignore[attr-defined]
    await until(pilot, lambda: screen.session is not None, "a session")
    screen.surfaces.prompt.insert(f" {QUESTION}")
    await pilot.press("enter")
    await until(pilot, lambda: len(backend.provider.requests) > sent, "the request")  # type: ignore[attr-defined]
    await idle(pilot)


async def test_a_send_that_is_stopped_before_it_began_gives_the_message_back(
    backend: TestBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = Sends.start

    def start_and_stop(sends: Sends, *given: Any, **named: Any) -> None:
        start(sends, *given, **named)
        sends.stop()

    async with demo_app(backend).run_test() as pilot:
        screen = await ready(pilot)
        await type_text(pilot, QUESTION)
        with monkeypatch.context() as patch:
            patch.setattr(Sends, "start", start_and_stop)
            write(pilot, "enter")
            await until(pilot, lambda: screen.sends._stopped, "the send")
            await until(pilot, lambda: not screen.busy, "its end")
        assert screen.surfaces.prompt.draft == QUESTION
        assert not backend.provider.requests
        await is_usable(pilot, backend)
        assert screen.session.memory.turns[-2].content.startswith(QUESTION)


async def test_answers_that_are_stopped_before_they_began_have_ended(
    backend: TestBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    backend.options = FREE
    add_worker = Workers.add_worker

    def add(workers: Workers, worker: Any, *given: Any, **named: Any) -> None:
        add_worker(workers, worker, *given, **named)
        if worker.group == "ask":
            worker.cancel()

    monkeypatch.setattr(Workers, "add_worker", add)
    async with demo_app(backend).run_test() as pilot:
        screen = await ready(pilot)
        await type_text(pilot, f"/askall {QUESTION}")
        await pilot.press("enter")
        view = await asked(pilot)
        await over(pilot, view)
        assert told(view).startswith("There was no answer.")
        await pilot.press("escape")
        await until(pilot, lambda: pilot.app.screen is screen, "the chat")
        await is_usable(pilot, backend)


async def test_a_message_that_is_asked_about_is_the_draft_when_the_app_ends(
    backend: TestBackend,
) -> None:
    async with demo_app(backend).run_test() as pilot:
        screen = await enter(pilot)
        await until(pilot, lambda: isinstance(pilot.app.screen, LargeMessageScreen), "the question")
        write(pilot, "ctrl+q")
    drafts = Drafts(backend.store.database)
    assert drafts.get(screen.opening.conversation.id).text == TEXT


async def test_a_worker_that_never_began_is_reported_as_cancelled(backend: TestBackend) -> None:
    async with demo_app(backend).run_test() as pilot:
        worker = (await ready(pilot)).run_worker(asyncio.Event().wait)
        worker.cancel()
        await until(pilot, lambda: worker.state is WorkerState.CANCELLED, "its end")


@pytest.mark.parametrize("first", [0, pytest.param(1, marks=pytest.mark.long("whole"))])
async def test_every_action_and_esc_in_one_batch(backend: TestBackend, first: int) -> None:
    """One of the pauses is between the two, by turns; each with each in --long."""
    backend.provider = ScriptedProvider(["Under", "stood."])
    async with demo_app(backend).run_test() as pilot:
        await ready(pilot)
        await type_text(pilot, QUESTION)
        for number, action in enumerate(ACTIONS, start=first):
            if action.id not in LEFT_OUT:
                await pressed(pilot, action, PAUSES[number % len(PAUSES)])
        await is_usable(pilot, backend)


async def pressed(pilot: Pilot[None], action: Action, pause: float) -> None:
    """Run an action, with Esc right after; close what it opened."""
    key = action.keys.split(",")[0]
    if key:
        write(pilot, key)
    else:
        chat(pilot).call_later(pilot.app.screen.run_action, action.run)
    await asyncio.sleep(pause)
    write(pilot, "escape")
    await pilot.pause()
    await at_chat(pilot)
    await idle(pilot)


async def at_chat(pilot: Pilot[None]) -> None:
    """Close what is open over the chat."""

    def is_chat() -> bool:
        if pilot.app.screen is not chat(pilot):
            write(pilot, "escape")
        return pilot.app.screen is chat(pilot)

    await until(pilot, is_chat, "the chat")


async def test_a_worker_that_is_cancelled_before_it_begins_leaves_nothing_to_await(
    backend: TestBackend,
) -> None:
    async def work() -> None:
        pytest.fail("it began")

    async with demo_app(backend).run_test() as pilot:
        screen = await ready(pilot)
        never_begun = work()
        worker = screen.run_worker(never_begun)
        worker.cancel()
        await until(pilot, lambda: worker.state is WorkerState.CANCELLED, "the end")
        assert getcoroutinestate(never_begun) == CORO_CLOSED


async def test_enter_twice_in_the_palette_runs_a_command_once(backend: TestBackend) -> None:
    async with demo_app(backend).run_test() as pilot:
        screen = await ready(pilot)
        await pilot.press("ctrl+p", *"whatif")
        palette = pilot.app.screen
        await until(pilot, lambda: palette.query_one(CommandList).option_count == 1, "a command")
        write(pilot, "enter", "enter")
        await until(pilot, lambda: palette not in pilot.app.screen_stack, "its end")
        await until(pilot, lambda: isinstance(pilot.app.screen, WhatIfView), "the view")
        await idle(pilot)
        assert [*map(type, pilot.app.screen_stack)] == [type(screen), WhatIfView]
