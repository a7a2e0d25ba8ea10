"""The tour's keys, its end, what goes wrong in it, and how it plays by itself."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING

import pytest
from textual.widgets import Static

from jitchat.errors import Unreachable
from jitchat.lab.run_file import Runs
from jitchat.session import Session
from jitchat.session_options import SessionOptions
from jitchat.tui.tour import app as touring
from jitchat.tui.tour.app import TourBar
from jitchat.tui.tour.script import steps
from jitchat.tui.views.what_if import WhatIfView
from jitchat.tui.widgets.prompt import Prompt
from jitchat.values import USUAL_MODES, Conversation, Mode
from jitchat.window.budget import Budget
from tests.support import ScriptedProvider
from tests.tui.drawn import streams
from tests.tui.lab.live_support import LiveService
from tests.tui.support import TestBackend, idle, until
from tests.tui.tour.support import (
    LARGE,
    SMALL,
    arrived,
    go_on,
    led,
    planned,
    tour_app,
)

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


async def test_esc_ends_it_wherever_it_is_and_a_chat_like_any_other_is_left(
    reads: TestBackend,
) -> None:
    app = tour_app(reads)
    async with app.run_test(size=SMALL) as pilot:
        tour = led(pilot)
        await arrived(pilot, 0)
        for place in (1, 2, 3, 4, 5, 6):
            await go_on(pilot, place)
        await planned(pilot)
        await pilot.press("escape")
        screen = app.chat
        await until(pilot, lambda: tour.is_over and app.screen is screen, "the chat")
        await pilot.pause()
        assert not screen.query(TourBar)
        assert not screen.has_class("-touring")
        prompt = screen.query_one(Prompt)
        await pilot.press("h", "space", "i", "left", "f7")
        assert prompt.text == "h i"
        assert isinstance(app.screen, WhatIfView)
        assert not app.screen.query(TourBar)


@pytest.mark.long("whole")
async def test_keys_that_come_too_early_or_are_not_meant_for_it_do_no_harm(
    reads: TestBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    may_open, open_session = threading.Event(), reads.open_session

    def opened(conversation: Conversation) -> Session:
        assert may_open.wait(10)
        return open_session(conversation)

    reads.open_session = opened  # type: ignore[method-assign]
    app = tour_app(reads)
    async with app.run_test(size=SMALL) as pilot:
        tour = led(pilot)
        await pilot.press("space", "pagedown", "enter")
        may_open.set()
        screen = await arrived(pilot, 0)
        await pilot.press("left", "b", "full_stop", "ä", "x", "f5")
        assert tour.progress.place == 0
        assert not screen.query_one(Prompt).text
        assert app.screen is screen

        monkeypatch.setattr(touring, "HELD_SECONDS", 60.0)
        await pilot.press(*["pagedown"] * 5)  # held, or after another: none counts
        assert tour.progress.place == 0
        monkeypatch.setattr(touring, "HELD_SECONDS", 0.0)

        await pilot.press("f1", "pagedown", "escape")  # in what the user opened, they are its own
        assert tour.progress.place == 0
        assert not tour.is_over

        screen.query_one(Prompt).focus()
        await pilot.press("m", "y", "space", "o", "w", "n", "enter")
        await until(
            pilot, lambda: screen.previews.sent_for and not screen.busy, "an answer of their own"
        )
        assert screen.previews.sent_for is not None
        assert screen.previews.sent_for.content == "my own"
        assert tour.progress.place == 0
        await go_on(pilot, 1)
        assert tour.asked[1].turn.position == 63


async def test_while_a_reply_is_on_its_way_the_key_waits_and_esc_leaves_it_to_come(
    backend: TestBackend,
) -> None:
    goes_on = asyncio.Event()
    provider = ScriptedProvider(script=("On Tuesday, ", goes_on, "at 02:00."))
    backend.provider = provider
    async with tour_app(backend).run_test(size=SMALL) as pilot:
        tour = led(pilot)
        screen = await arrived(pilot, 0)
        await pilot.press("space")
        await until(pilot, lambda: streams(screen), "first words")
        await pilot.press("space", "pagedown", "left", "enter")
        assert tour.progress.is_on_way
        assert "in progress" in str(screen.query_one(".tour-keys", Static).content)

        await pilot.press("escape")
        await until(pilot, lambda: tour.is_over, "the end of the tour")
        assert screen.busy
        goes_on.set()
        await idle(pilot)
        assert screen.session is not None
        assert screen.session.memory.turns[-1].content == "On Tuesday, at 02:00."
        assert len(provider.requests) == 1


@pytest.mark.long("whole")
async def test_a_recording_plays_all_of_it_and_ends_well(reads: TestBackend) -> None:
    app = tour_app(reads, pace=0.001)
    async with app.run_test(size=LARGE) as pilot:
        tour = led(pilot)
        await until(pilot, lambda: app.return_code is not None, "the end")
        screen = app.chat
        assert not screen.query(".tour-keys")
    assert app.return_code == 0
    assert tour.progress.place == len(steps())
    assert [tour.asked[place].window.mode for place in (1, 2, 4, 5)] == [*USUAL_MODES, Mode.OBSERVE]
    assert tour.asked[3].window.requests


async def test_a_recording_in_which_nobody_answers_fails(backend: TestBackend) -> None:
    backend.provider = ScriptedProvider(script=(Unreachable("Nobody is there.", "Start it."),))
    app = tour_app(backend, pace=0.001)
    async with app.run_test(size=LARGE) as pilot:
        await until(pilot, lambda: app.return_code is not None, "the end")
        assert led(pilot).progress.words == "there was no reply. Nobody is there. Start it."
    assert app.return_code == 1


async def test_a_step_that_failed_is_done_again_by_the_same_key(backend: TestBackend) -> None:
    backend.provider = ScriptedProvider(script=(Unreachable("Nobody is there.", "Start it."),))
    async with tour_app(backend).run_test(size=LARGE) as pilot:
        tour = led(pilot)
        screen = await arrived(pilot, 0)
        await pilot.press("space")
        await until(pilot, lambda: "Nobody is there." in tour.progress.words, "why not")
        assert (tour.progress.place, tour.progress.is_on_way) == (0, False)

        backend.provider.script = ("It is Tuesday, 2 AM.",)
        await go_on(pilot, 1)
        assert tour.progress.words.endswith("The reply has it.")
        assert not screen.query_one(Prompt).text


async def test_a_mode_that_does_not_fit_says_so_and_the_tour_goes_on(reads: TestBackend) -> None:
    reads.options = SessionOptions(budget=Budget(limit=4_096, reserve=1_024))
    async with tour_app(reads).run_test(size=LARGE) as pilot:
        tour = led(pilot)
        await arrived(pilot, 0)
        await go_on(pilot, 1)
        assert tour.progress.words.startswith("nothing was sent.")
        await go_on(pilot, 2)
        assert tour.progress.words.endswith("So the answer is lost.")


async def test_where_the_local_model_is_here_the_tour_ends_with_it(
    reads: TestBackend, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    service = LiveService(Runs(tmp_path / "live"))
    monkeypatch.setattr(reads, "live_service", lambda: service)
    app = tour_app(reads, pace=0.001)
    async with app.run_test(size=SMALL) as pilot:
        await until(pilot, lambda: app.return_code is not None, "the end of the recording")
    (asked,) = service.begun
    assert asked.lengths == (touring.LAST_LENGTH,)
    assert app.return_code == 0
