"""The guided tour: one key leads through it, and what it says is of what was sent."""

from __future__ import annotations

import asyncio
import re
import threading
from dataclasses import replace
from types import SimpleNamespace

import pytest
from pytest_textual_snapshot import SVGImageExtension
from syrupy import SnapshotAssertion
from textual.pilot import Pilot
from textual.screen import Screen
from textual.widgets import Static

from jitchat.errors import Unreachable
from jitchat.providers.reader.reader import ReaderProvider
from jitchat.rot.tally import Tally, tallied
from jitchat.session import Session, SessionOptions
from jitchat.transfer.intake import store_demo
from jitchat.tui.tour import app as touring
from jitchat.tui.tour import screen as steps_done
from jitchat.tui.tour.app import TourApp
from jitchat.tui.tour.bar import TourBar
from jitchat.tui.tour.needle import DEPLOY_WINDOW
from jitchat.tui.tour.screen import TourScreen
from jitchat.tui.tour.steps import STEPS, Ask
from jitchat.tui.views.what_if import Sides, WhatIfView
from jitchat.tui.widgets.inspector import Inspector
from jitchat.tui.widgets.model_fetch import ModelFetch
from jitchat.tui.widgets.prompt import Prompt
from jitchat.turn import Conversation, Mode
from jitchat.window.budget import Budget
from jitchat.window.window import Kind
from tests.support import ROOT, ScriptedProvider
from tests.tui.support import TestBackend, idle, until

NEEDLE = DEPLOY_WINDOW.turn
LARGE, SMALL = (120, 36), (80, 24)


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """No press counts as one of a key that is held; the lab is looked at often."""
    monkeypatch.setattr(touring, "HELD_SECONDS", 0.0)
    monkeypatch.setattr(steps_done, "LOOK_EVERY", 0.01)
    monkeypatch.setattr(Prompt, "cursor_blink", False)


class FakeLab(Screen[None]):
    """A screen of the lab that shows a run."""

    def __init__(self) -> None:
        super().__init__()
        right = {Mode.FULL: Tally(9, 1), Mode.RECENCY: Tally(2, 8), Mode.JIT: Tally(10, 0)}
        self.shown = SimpleNamespace(tallies=replace(tallied(()), by_mode=right))
        self.progress = SimpleNamespace(is_running=True)


@pytest.fixture
def lab(monkeypatch: pytest.MonkeyPatch) -> None:
    def action_rot(screen: TourScreen) -> None:
        screen.app.push_screen(FakeLab())

    monkeypatch.setattr(TourScreen, "action_rot", action_rot, raising=False)


@pytest.fixture
def reads(backend: TestBackend) -> TestBackend:
    """The embedded reader answers."""
    backend.provider = ReaderProvider(lambda messages, text: (100 * len(messages), len(text) // 4))
    return backend


def tour(backend: TestBackend, pace: float | None = None) -> TourApp:
    return TourApp(backend, store_demo(backend.store), pace)


def led(pilot: Pilot[None]) -> TourScreen:
    screen = pilot.app.screen_stack[0]
    assert isinstance(screen, TourScreen)
    return screen


async def arrived(pilot: Pilot[None], place: int) -> TourScreen:
    screen = led(pilot)
    await until(
        pilot,
        lambda: screen.told.place == place and not screen.told.is_on_way,
        f"step {place}",
    )
    await pilot.app.workers.wait_for_complete([w for w in pilot.app.workers if w.node is screen])
    await pilot.pause()
    return screen


async def go_on(pilot: Pilot[None], place: int, key: str = "space") -> TourScreen:
    await pilot.press(key)
    return await arrived(pilot, place)


async def planned(pilot: Pilot[None]) -> WhatIfView:
    """The what-if view, with its windows and the bar."""
    view = pilot.app.screen
    assert isinstance(view, WhatIfView)
    await until(pilot, lambda: view.query_one(Sides).comparison is not None, "the windows")
    await until(pilot, lambda: view.query(TourBar), "the bar")
    await pilot.pause()
    return view


def full_holds_it_and_has_it(screen: TourScreen) -> None:
    full = screen.asked[1]
    assert full.window is screen.window
    assert full.window.mode is Mode.FULL
    assert full.window.kind_of_turns()[NEEDLE] is Kind.RECENT
    assert full.reply is not None
    assert DEPLOY_WINDOW.is_in(full.reply.content)
    back = full.said.position - NEEDLE
    assert f"{full.window.used:,} tokens" in screen.told.words
    assert screen.told.words.endswith(f"in #{NEEDLE}, {back} turns back. The reply has it.")


def recency_lacks_it_and_loses_it(screen: TourScreen) -> None:
    full, recency = screen.asked[1], screen.asked[2]
    assert recency.window is screen.window
    assert recency.said == full.said
    assert full.reply is not None
    assert not {NEEDLE, full.reply.position} & recency.window.kind_of_turns().keys()
    assert recency.reply is not None
    assert not DEPLOY_WINDOW.is_in(recency.reply.content)
    (row,) = [each for each in recency.window.ledger if each.turn == NEEDLE]
    told = f"#{NEEDLE} is not in the window: {row.reason}. So the answer is lost."
    assert screen.told.words.endswith(told)


def jit_fetches_it_and_says_why(screen: TourScreen) -> None:
    jit = screen.asked[3]
    assert jit.window.kind_of_turns()[NEEDLE] is Kind.RETRIEVED
    assert jit.reply is not None
    assert DEPLOY_WINDOW.is_in(jit.reply.content)
    (row,) = [each for each in jit.window.ledger if each.turn == NEEDLE]
    assert f"{row.reason}. The reply has it." in screen.told.words
    assert f"{jit.window.saving * 100:.0f} % less than full" in screen.told.words
    assert screen.query_one(Inspector).chosen == NEEDLE


async def what_if_has_the_figures_of_all_three(pilot: Pilot[None]) -> None:
    view, words = await planned(pilot), led(pilot).told.words
    comparison = view.query_one(Sides).comparison
    assert comparison is not None
    for side in comparison.sides:
        assert f"{side.mode} {side.figures[0]}" in words
    assert words.endswith(f"#{NEEDLE} is in full and jit.")


async def the_lab_is_followed_to_its_end(pilot: Pilot[None]) -> None:
    screen, lab = led(pilot), pilot.app.screen
    assert isinstance(lab, FakeLab)
    await until(pilot, lambda: lab.query(TourBar), "the bar in the lab")
    told = "full 90 %, recency 20 %, jit 100 % (30 answers)."
    await until(pilot, lambda: screen.told.words.endswith(f"Right so far: {told}"), "figures")
    lab.progress.is_running = False
    await until(pilot, lambda: screen.told.words.endswith(f"Right: {told}"), "the end of the run")


async def test_each_step_shows_and_says_what_it_did(
    reads: TestBackend, lab: None, snapshot: SnapshotAssertion
) -> None:
    app, seen = tour(reads), snapshot.use_extension(SVGImageExtension)
    async with app.run_test(size=LARGE) as pilot:
        screen = await arrived(pilot, 0)
        assert "“Decision: the deploy window is Tuesday 02:00 UTC.”" in screen.told.words
        assert screen.query_one(TourBar).has_focus
        assert not screen._offer.display
        assert app.export_screenshot() == seen(name="begin")

        full_holds_it_and_has_it(await go_on(pilot, 1, "space"))
        assert app.export_screenshot() == seen(name="full")
        recency_lacks_it_and_loses_it(await go_on(pilot, 2, "right"))
        assert app.export_screenshot() == seen(name="recency")
        jit_fetches_it_and_says_why(await go_on(pilot, 3, "pagedown"))
        assert app.export_screenshot() == seen(name="jit")
        await go_on(pilot, 4, "enter")
        await what_if_has_the_figures_of_all_three(pilot)
        assert app.export_screenshot() == seen(name="what if")
        await go_on(pilot, 5)
        await the_lab_is_followed_to_its_end(pilot)

        await pilot.press("space")
        await until(pilot, lambda: screen.is_over, "the end of the tour")
        assert isinstance(app.screen, FakeLab)
        assert reads.store.tree("demo").last == 60 + 1 + 3


async def test_going_back_shows_what_was_and_sends_nothing(reads: TestBackend, lab: None) -> None:
    async with tour(reads).run_test(size=SMALL) as pilot:
        await arrived(pilot, 0)
        for place in (1, 2, 3, 4):
            await go_on(pilot, place)
        screen = led(pilot)
        told = screen.told.words
        await go_on(pilot, 3, "left")
        assert pilot.app.screen is screen
        await go_on(pilot, 2, "pageup")

        turns = screen.session.memory.turns  # type: ignore[union-attr]
        assert turns[-1] == screen.asked[2].reply
        assert screen.window == screen.asked[2].window
        assert screen.mode is Mode.RECENCY
        assert "So the answer is lost." in screen.told.words

        await go_on(pilot, 3)
        await go_on(pilot, 4)
        await planned(pilot)
        assert screen.told.words == told
        assert reads.store.tree("demo").last == 60 + 1 + 3


async def test_esc_ends_it_wherever_it_is_and_a_chat_like_any_other_is_left(
    reads: TestBackend,
) -> None:
    app = tour(reads)
    async with app.run_test(size=SMALL) as pilot:
        await arrived(pilot, 0)
        for place in (1, 2, 3, 4):
            await go_on(pilot, place)
        await planned(pilot)
        await pilot.press("escape")
        screen = led(pilot)
        await until(pilot, lambda: screen.is_over and app.screen is screen, "the chat")
        await pilot.pause()
        assert not screen.query(TourBar)
        assert not screen.has_class("-touring")
        prompt = screen.query_one(Prompt)
        await pilot.press("h", "space", "i", "left", "f7")
        assert prompt.text == "h i"
        assert isinstance(app.screen, WhatIfView)
        assert not app.screen.query(TourBar)


async def test_keys_that_come_too_early_or_are_not_meant_for_it_do_no_harm(
    reads: TestBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    may_open, open_session = threading.Event(), reads.open_session

    def opened(conversation: Conversation) -> Session:
        assert may_open.wait(10)
        return open_session(conversation)

    reads.open_session = opened  # type: ignore[method-assign]
    app = tour(reads)
    async with app.run_test(size=SMALL) as pilot:
        await pilot.press("space", "pagedown", "enter")
        may_open.set()
        screen = await arrived(pilot, 0)
        await pilot.press("left", "b", "full_stop", "ä", "x", "f5")
        assert screen.told.place == 0
        assert not screen.query_one(Prompt).text
        assert not screen.query_one(ModelFetch).running

        monkeypatch.setattr(touring, "HELD_SECONDS", 60.0)
        await pilot.press(*["pagedown"] * 5)  # held, or after another: none counts
        assert screen.told.place == 0
        monkeypatch.setattr(touring, "HELD_SECONDS", 0.0)

        await pilot.press("f1", "pagedown", "escape")  # in what the user opened, they are its own
        assert screen.told.place == 0
        assert not screen.is_over

        screen.query_one(Prompt).focus()
        await pilot.press("m", "y", "space", "o", "w", "n", "enter")
        await until(pilot, lambda: screen.sent_for and not screen.busy, "an answer of their own")
        assert screen.sent_for is not None
        assert screen.sent_for.content == "my own"
        assert screen.told.place == 0
        await go_on(pilot, 1)
        assert screen.asked[1].said.position == 63


async def test_while_a_reply_is_on_its_way_the_key_waits_and_esc_leaves_it_to_come(
    backend: TestBackend,
) -> None:
    goes_on = asyncio.Event()
    provider = ScriptedProvider(script=("On Tuesday, ", goes_on, "at 02:00."))
    backend.provider = provider
    async with tour(backend).run_test(size=SMALL) as pilot:
        screen = await arrived(pilot, 0)
        await pilot.press("space")
        await until(pilot, lambda: screen.query("TurnView.assistant.-streaming"), "first words")
        await pilot.press("space", "pagedown", "left", "enter")
        assert screen.told.is_on_way
        assert "on its way" in str(screen.query_one(".tour-keys", Static).content)

        await pilot.press("escape")
        await until(pilot, lambda: screen.is_over, "the end of the tour")
        assert screen.busy
        goes_on.set()
        await idle(pilot)
        assert screen.session is not None
        assert screen.session.memory.turns[-1].content == "On Tuesday, at 02:00."
        assert len(provider.requests) == 1


async def test_a_recording_plays_all_of_it_and_ends_well(reads: TestBackend) -> None:
    app = tour(reads, pace=0.001)
    async with app.run_test(size=LARGE) as pilot:
        await until(pilot, lambda: app.return_code is not None, "the end")
        screen = led(pilot)
        assert not screen.query(".tour-keys")
    assert app.return_code == 0
    assert screen.told.place == len(STEPS)
    assert [screen.asked[place].window.mode for place in (1, 2, 3)] == list(Mode)


async def test_a_recording_in_which_nobody_answers_fails(backend: TestBackend) -> None:
    backend.provider = ScriptedProvider(script=(Unreachable("Nobody is there.", "Start it."),))
    app = tour(backend, pace=0.001)
    async with app.run_test(size=LARGE) as pilot:
        await until(pilot, lambda: app.return_code is not None, "the end")
        assert led(pilot).told.words == "no answer came. Nobody is there. Start it."
    assert app.return_code == 1


async def test_a_step_that_failed_is_done_again_by_the_same_key(backend: TestBackend) -> None:
    backend.provider = ScriptedProvider(script=(Unreachable("Nobody is there.", "Start it."),))
    async with tour(backend).run_test(size=LARGE) as pilot:
        screen = await arrived(pilot, 0)
        await pilot.press("space")
        await until(pilot, lambda: "Nobody is there." in screen.told.words, "why not")
        assert (screen.told.place, screen.told.is_on_way) == (0, False)

        backend.provider.script = ("It is Tuesday, 2 AM.",)
        await go_on(pilot, 1)
        assert screen.told.words.endswith("The reply has it.")
        assert not screen.query_one(Prompt).text


async def test_a_mode_that_does_not_fit_says_so_and_the_tour_goes_on(reads: TestBackend) -> None:
    reads.options = SessionOptions(budget=Budget(limit=4_096, reserve=1_024))
    async with tour(reads).run_test(size=LARGE) as pilot:
        await arrived(pilot, 0)
        screen = await go_on(pilot, 1)
        assert screen.told.words.startswith("nothing was sent.")
        await go_on(pilot, 2)
        assert screen.told.words.endswith("So the answer is lost.")


def test_nothing_of_it_is_loaded_with_the_chat() -> None:
    folder = ROOT / "jitchat" / "tui"
    for path in folder.rglob("*.py"):
        if path.parent.name != "tour":
            assert not re.search(r"jitchat\.tui\.tour\b", path.read_text()), path


def test_every_mode_is_asked_in() -> None:
    assert [step.mode for step in STEPS if isinstance(step, Ask)] == list(Mode)
