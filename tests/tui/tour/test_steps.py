"""The guided tour: one key leads through it, and what it says is of what was sent."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pytest_textual_snapshot import SVGImageExtension

from jitchat.lab.stats import share_of
from jitchat.tui.lab.run import RunScreen
from jitchat.tui.tour.app import TourBar
from jitchat.tui.tour.script import DEPLOY_WINDOW, LIVE, steps
from jitchat.tui.views.what_if import Sides
from jitchat.tui.widgets.inspector import Inspector
from jitchat.values import USUAL_MODES, Mode
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
    tour_app,
)

if TYPE_CHECKING:
    from syrupy import SnapshotAssertion
    from textual.pilot import Pilot

    from jitchat.tui.chat.screen import ChatScreen
    from jitchat.tui.tour.app import TourApp

NEEDLE = DEPLOY_WINDOW.turn
RIGHT = "the same, measured: facts at every depth of longer and longer conversations. Right: "


def full_holds_it_and_has_it(tour: TourApp, screen: ChatScreen) -> None:
    full = tour.asked[1]
    assert full.window is screen.previews.window
    assert full.window.mode is Mode.FULL
    assert full.window.kind_of_turns()[NEEDLE] is Kind.RECENT
    assert full.reply is not None
    assert DEPLOY_WINDOW.is_in(full.reply.content)
    back = full.turn.position - NEEDLE
    assert f"{full.window.used:,} tokens" in tour.progress.words
    assert tour.progress.words.endswith(f"in #{NEEDLE}, {back} turns back. The reply has it.")


def recency_lacks_it_and_loses_it(tour: TourApp, screen: ChatScreen) -> None:
    full, recency = tour.asked[1], tour.asked[2]
    assert recency.window is screen.previews.window
    assert recency.turn == full.turn
    assert full.reply is not None
    assert not {NEEDLE, full.reply.position} & recency.window.kind_of_turns().keys()
    assert recency.reply is not None
    assert not DEPLOY_WINDOW.is_in(recency.reply.content)
    (row,) = [each for each in recency.window.ledger if each.turn == NEEDLE]
    told = f"#{NEEDLE} is not in the window: {row.reason}. So the answer is lost."
    assert tour.progress.words.endswith(told)


def asked_for_it_is_found(tour: TourApp, screen: ChatScreen) -> None:
    asked = tour.asked[3]
    assert asked.window is screen.previews.window
    assert asked.window.mode is Mode.RECENCY
    (request,) = asked.window.requests
    assert NEEDLE in {turn for turn, _ in request.given}
    assert asked.window.kind_of_turns()[NEEDLE] is Kind.REQUESTED
    assert asked.reply is not None
    assert DEPLOY_WINDOW.is_in(asked.reply.content)
    assert f"~{request.tokens:,} tokens. The reply has it." in tour.progress.words
    assert screen.query_one(Inspector).chosen == NEEDLE


def jit_fetches_it_and_says_why(tour: TourApp, screen: ChatScreen) -> None:
    jit = tour.asked[4]
    assert jit.window.kind_of_turns()[NEEDLE] is Kind.RETRIEVED
    assert jit.reply is not None
    assert DEPLOY_WINDOW.is_in(jit.reply.content)
    (row,) = [each for each in jit.window.ledger if each.turn == NEEDLE]
    assert f"{row.reason}. The reply has it." in tour.progress.words
    assert f"{jit.window.saving * 100:.0f} % less than full" in tour.progress.words
    assert screen.query_one(Inspector).chosen == NEEDLE


def observations_have_it_and_cost_less(tour: TourApp, screen: ChatScreen) -> None:
    observe = tour.asked[5]
    assert observe.window.mode is Mode.OBSERVE
    assert observe.window.distilled_through >= 50
    assert observe.window.used < observe.window.full_tokens
    assert DEPLOY_WINDOW.is_in(observe.reply.content)  # type: ignore[union-attr]
    assert tour.progress.words.endswith(". The reply has it.")
    assert screen.session.memory.distilled(10**6).document.version  # type: ignore[union-attr]


async def what_if_has_the_figures_of_each_window(pilot: Pilot[None]) -> None:
    view, words = await planned(pilot), led(pilot).progress.words
    comparison = view.query_one(Sides).comparison
    assert comparison is not None
    for side in comparison.different:
        assert f"{side.mode} {side.figures[0]}" in words
    assert {side.mode for side in comparison.different} == set(Mode)
    assert words.endswith(f"#{NEEDLE} is at full text in full, jit, observe and document.")


async def the_lab_is_followed_to_its_end(pilot: Pilot[None]) -> None:
    tour, lab = led(pilot), await shown(pilot)
    await until(pilot, lambda: lab.query(TourBar), "the bar in the lab")
    await until(pilot, lambda: tour.progress.words.startswith(RIGHT), "the end of the run")
    by_mode = lab.state.tallies.by_mode
    told = ", ".join(f"{mode} {share_of(by_mode[mode])}" for mode in USUAL_MODES)
    assert tour.progress.words == f"{RIGHT}{told}. {LIVE}"
    await pilot.pause()


async def at_rest(pilot: Pilot[None]) -> str:
    """The screen once nothing moves: turns above those on it are mounted a few at a time."""
    before, image = "", pilot.app.export_screenshot()
    while image != before:
        await pilot.pause(0.1)
        before, image = image, pilot.app.export_screenshot()
    return in_order_of_style(THUMB.sub("", image))


THUMB = re.compile(r'<text [^>]*>[▁▂▃▄▅▆▇]</text>|<rect [^>]*x="719.8"[^>]*/>')
"""Of the transcript's scrollbar: where it ends depends on how many turns above are mounted yet."""
RULE = re.compile(r"\.(terminal-\d+)-r(\d+) (\{[^}]*\})\s*")


def in_order_of_style(image: str) -> str:
    """The picture with the styles of what is seen, numbered by what they are.

    Rich numbers them as they come, in blanks, too, of which nothing is seen.
    """
    styles = {found[2]: found[3] for found in RULE.finditer(image)}
    first = RULE.search(image)
    assert first is not None
    bare, terminal = RULE.sub("", image), first[1]
    used = re.compile(rf'(?<=class="{terminal}-r)\d+(?=")')
    ordered = sorted(set(used.findall(bare)), key=styles.__getitem__)
    numbers = {name: str(at) for at, name in enumerate(ordered, start=1)}
    rules = "\n".join(f".{terminal}-r{numbers[name]} {styles[name]}" for name in ordered)
    start = first.start()
    return f"{bare[:start]}{rules}\n{used.sub(lambda found: numbers[found[0]], bare[start:])}"


async def test_each_step_shows_and_says_what_it_did(
    reads: TestBackend, every_frame: None, snapshot: SnapshotAssertion
) -> None:
    app, seen = tour_app(reads), snapshot.use_extension(SVGImageExtension)
    async with app.run_test(size=LARGE) as pilot:
        tour = led(pilot)
        screen = await arrived(pilot, 0)
        assert "“Decision: the deploy window is Tuesday 02:00 UTC.”" in tour.progress.words
        assert screen.query_one(TourBar).has_focus
        assert not screen.surfaces.offer.display
        assert await at_rest(pilot) == seen(name="begin")

        full_holds_it_and_has_it(tour, await go_on(pilot, 1, "space"))
        assert await at_rest(pilot) == seen(name="full")
        recency_lacks_it_and_loses_it(tour, await go_on(pilot, 2, "right"))
        assert await at_rest(pilot) == seen(name="recency")
        asked_for_it_is_found(tour, await go_on(pilot, 3, "pagedown"))
        assert await at_rest(pilot) == seen(name="asking")
        jit_fetches_it_and_says_why(tour, await go_on(pilot, 4))
        assert await at_rest(pilot) == seen(name="jit")
        observations_have_it_and_cost_less(tour, await go_on(pilot, 5))
        assert await at_rest(pilot) == seen(name="observe")
        await go_on(pilot, 6, "enter")
        await what_if_has_the_figures_of_each_window(pilot)
        assert await at_rest(pilot) == seen(name="what if")
        await go_on(pilot, 7)
        await the_lab_is_followed_to_its_end(pilot)
        assert await at_rest(pilot) == seen(name="rot lab")

        await pilot.press("space")
        await until(pilot, lambda: tour.is_over, "the end of the tour")
        assert isinstance(app.screen, RunScreen)
        assert reads.store.tree("demo").last == 60 + 1 + 7


async def test_going_back_shows_what_was_and_sends_nothing(reads: TestBackend) -> None:
    async with tour_app(reads).run_test(size=SMALL) as pilot:
        tour = led(pilot)
        await arrived(pilot, 0)
        for place in (1, 2, 3, 4, 5, 6):
            await go_on(pilot, place)
        screen = pilot.app.screen_stack[0]
        told = tour.progress.words
        await go_on(pilot, 5, "left")
        await go_on(pilot, 4, "left")
        assert pilot.app.screen is screen
        await go_on(pilot, 3, "pageup")
        await go_on(pilot, 2, "pageup")

        turns = screen.session.memory.turns  # type: ignore[union-attr]
        assert turns[-1] == tour.asked[2].reply
        assert screen.previews.window == tour.asked[2].window
        assert screen.steering.mode is Mode.RECENCY
        assert "So the answer is lost." in tour.progress.words

        for place in (3, 4, 5, 6):
            await go_on(pilot, place)
        await planned(pilot)
        assert tour.progress.words == told
        assert reads.store.tree("demo").last == 60 + 1 + 7


def test_nothing_of_it_is_loaded_with_the_chat() -> None:
    folder = ROOT / "jitchat" / "tui"
    for path in folder.rglob("*.py"):
        if path.parent.name != "tour":
            assert not re.search(r"jitchat\.tui\.tour\b", path.read_text()), path


def test_every_mode_is_asked_in() -> None:
    asks = [step for step in steps() if not step.opens]
    assert [step.mode for step in asks if not step.may_ask] == [*USUAL_MODES, Mode.OBSERVE]
