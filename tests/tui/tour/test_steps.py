"""The guided tour: one key leads through it, and what it says is of what was sent."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pytest_textual_snapshot import SVGImageExtension

from jitchat.lab.stats import total
from jitchat.tui.lab.run import RunScreen
from jitchat.tui.tour.bar import TourBar
from jitchat.tui.tour.needle import DEPLOY_WINDOW
from jitchat.tui.tour.steps import STEPS, Ask
from jitchat.tui.views.what_if import Sides
from jitchat.tui.widgets.inspector import Inspector
from jitchat.values import Mode
from jitchat.window.window import Kind
from tests.support import ROOT
from tests.tui.lab.driving import shown
from tests.tui.support import TestBackend, until
from tests.tui.tour.support import (
    LARGE,
    SMALL,
    arrived,
    go_on,
    led,
    planned,
    tour,
)

if TYPE_CHECKING:
    from syrupy import SnapshotAssertion
    from textual.pilot import Pilot

    from jitchat.tui.tour.screen import TourScreen

NEEDLE = DEPLOY_WINDOW.turn
RIGHT = "the same, measured: facts at every depth of longer and longer conversations. Right: "


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
    screen, lab = led(pilot), await shown(pilot)
    await until(pilot, lambda: lab.query(TourBar), "the bar in the lab")
    await until(pilot, lambda: screen.told.words.startswith(RIGHT), "the end of the run")
    by_mode = lab.state.tallies.by_mode
    told = ", ".join(f"{mode} {total(by_mode[mode])}" for mode in Mode)
    assert screen.told.words == f"{RIGHT}{told}."
    await pilot.pause()


async def test_each_step_shows_and_says_what_it_did(
    reads: TestBackend, every_frame: None, snapshot: SnapshotAssertion
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
        assert app.export_screenshot() == seen(name="rot lab")

        await pilot.press("space")
        await until(pilot, lambda: screen.is_over, "the end of the tour")
        assert isinstance(app.screen, RunScreen)
        assert reads.store.tree("demo").last == 60 + 1 + 3


async def test_going_back_shows_what_was_and_sends_nothing(reads: TestBackend) -> None:
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


def test_nothing_of_it_is_loaded_with_the_chat() -> None:
    folder = ROOT / "jitchat" / "tui"
    for path in folder.rglob("*.py"):
        if path.parent.name != "tour":
            assert not re.search(r"jitchat\.tui\.tour\b", path.read_text()), path


def test_every_mode_is_asked_in() -> None:
    assert [step.mode for step in STEPS if isinstance(step, Ask)] == list(Mode)
