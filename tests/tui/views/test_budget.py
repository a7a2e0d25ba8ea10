"""The view of the budget: its track, what it prints, and what it does to the next message."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.widgets import Static

from jitchat.errors import WindowOverflow
from jitchat.session_options import SessionOptions
from jitchat.tui.views.budget import (
    CHANGE_COLUMNS,
    BudgetTrack,
    BudgetView,
    ChangeRow,
    budget_sentence,
    change_rows,
    draw_track,
    nearest,
    place_of,
    settled_sentence,
    window_sentence,
)
from jitchat.tui.views.sent_window_page import SHOWN
from jitchat.tui.widgets.budget_bar import BudgetBar
from jitchat.tui.widgets.prompt import Prompt
from jitchat.tui.widgets.turn_table import Line, TurnTable, draw
from jitchat.values import BY_USER, Mode
from jitchat.window.budget import Budget
from jitchat.window.calibration import NO_CALIBRATION, Calibration
from jitchat.window.compare import (
    Change,
    Difference,
    budget_grid,
    difference,
    retrieved_turns,
    settles_at,
)
from jitchat.window.window import ContextWindow, Kind
from tests.examples import examples
from tests.tui.support import TestBackend, chat, demo_app, ready, type_text, until
from tests.window.reports import calibrations, long_talk

if TYPE_CHECKING:
    from textual.pilot import Pilot

    from tests.tui.conftest import Picture

QUESTION = "what did we settle on for the deploy window?"
JIT = long_talk(Mode.JIT, NO_CALIBRATION)
SIZES = [each.budget for each in budget_grid(Budget(), 32_768)]


@examples(30)
@given(st.integers(10, 300), st.data())
def test_the_track_is_as_wide_as_it_is_told_and_a_click_on_the_thumb_leaves_it(
    width: int, data: st.DataObject
) -> None:
    at, present, mark = (data.draw(st.integers(0, len(SIZES) - 1)) for _ in range(3))
    drawn = draw_track(SIZES, at, present, mark, width).plain.split("\n")
    assert [len(line) for line in drawn] == [width] * 4
    assert drawn[1].index("█") == place_of(SIZES[at], SIZES, width)
    found = nearest(drawn[1].index("█"), SIZES, width)
    assert place_of(SIZES[found], SIZES, width) == place_of(SIZES[at], SIZES, width)


def test_the_scale_is_logarithmic_and_names_both_ends() -> None:
    _, track, scale, _ = draw_track(SIZES, 0, 0, None, 100).plain.split("\n")
    assert scale.startswith("512")
    assert scale.rstrip().endswith("30,720")
    cells = [place_of(size, (512, 32_768), 97) for size in (512, 1_024, 2_048, 4_096, 32_768)]
    assert cells == [0, 16, 32, 48, 96]
    assert all(track[scale.index(told)] in "┴█" for told in ("1,024", "4,096", "16,384"))


@examples(30)
@given(st.integers(600, 40_000), st.integers(0, 40_000), calibrations())
def test_what_is_printed_adds_up_to_the_limit(limit: int, more: int, learnt: Calibration) -> None:
    try:
        window = long_talk(Mode.JIT, learnt, limit=limit)
    except WindowOverflow:
        return
    figures = _figures(budget_sentence(window.budget, limit + more))
    budget, reserve, total, *model = figures
    assert budget + reserve == total == limit
    assert model == ([limit + more] if more else [])
    used, free = _figures(re.sub(r" ± [\d,]+", "", window_sentence(window)))[:2]
    assert used + free + reserve == limit


def test_a_budget_that_is_too_small_says_by_how_much() -> None:
    overflow = WindowOverflow("It needs more.", "", 1_812)
    assert window_sentence(overflow) == "does not fit: 1,812 tokens over"


def _figures(sentence: str) -> list[int]:
    return [int(each.replace(",", "")) for each in re.findall(r"\d[\d,]*", sentence)]


def written(rows: list[ChangeRow | Line]) -> list[str]:
    return [row.text if isinstance(row, Line) else draw(CHANGE_COLUMNS, row).plain for row in rows]


def test_what_entered_left_and_moved_has_a_row_each() -> None:
    found = Difference(
        entered=(Change(9, None, Kind.RETRIEVED, 0, 31),),
        left=(Change(12, Kind.INDEX, None, 19, 0),),
        moved=(Change(31, Kind.RETRIEVED, Kind.INDEX, 1_044, 19),),
    )
    assert [" ".join(line.split()) for line in written(change_rows(found, is_current=False))] == [
        "+ entered #9 retrieved 31 tokens",
        "− left #12 index 19 tokens",
        "~ moved #31 retrieved → index 19 tokens",
    ]
    assert written(change_rows(Difference(), is_current=True)) == ["no change"]
    assert "same turns" in written(change_rows(Difference(), is_current=False))[0]
    assert change_rows(None, is_current=True) == []


def test_of_very_many_changes_the_rest_is_one_sum() -> None:
    left = tuple(Change(turn + 1, Kind.RECENT, None, 10, 0) for turn in range(SHOWN + 50))
    rows = written(change_rows(Difference(left=left), is_current=False))
    assert len(rows) == SHOWN + 1
    assert rows[-1] == "− left    … 50 more turns, 500 tokens"


@pytest.mark.parametrize(
    ("mark", "reserve", "told"),
    [
        (None, False, "at any budget"),
        (0, False, "▲ 512: from here,"),
        (len(SIZES) - 1, False, "changes up to the model's limit"),
        (3, True, "largest reserve"),
    ],
)
def test_where_it_settles_is_told(mark: int | None, reserve: bool, told: str) -> None:
    assert told in settled_sentence(SIZES, mark, JIT, reserve=reserve)


@pytest.mark.parametrize("reserve", [False, True])
def test_where_all_of_it_is_sent_nothing_has_to_be_retrieved_and_that_is_told(
    reserve: bool,
) -> None:
    full = long_talk(Mode.FULL, NO_CALIBRATION, limit=400_000)
    told = settled_sentence(SIZES, 3, full, reserve=reserve)
    assert told.endswith("everything is sent")
    assert "nothing is retrieved" not in told
    assert "nothing is retrieved" in settled_sentence(SIZES, None, full, reserve=reserve)


async def opened(pilot: Pilot[None]) -> BudgetView:
    """The view, with every step planned."""
    await pilot.press("f8")
    await until(pilot, lambda: isinstance(pilot.app.screen, BudgetView), "the view")
    view = pilot.app.screen
    assert isinstance(view, BudgetView)
    await until(pilot, lambda: "planning" not in told(view, "#budget-settled"), "every step")
    await pilot.pause()
    return view


def told(view: BudgetView, name: str) -> str:
    return str(view.query_one(name, Static).content)


def rows(view: BudgetView) -> str:
    return "\n".join(view.query_one(TurnTable).text())


async def test_the_slider_shows_the_window_of_each_budget_and_sets_one(
    backend: TestBackend, picture: Picture
) -> None:
    async with demo_app(backend).run_test(size=(160, 48)) as pilot:
        screen = await ready(pilot)
        await type_text(pilot, QUESTION)
        session, before = screen.session, screen.previews.window
        assert session is not None
        assert before is not None
        view = await opened(pilot)
        track, bar = view.query_one(BudgetTrack), view.query_one(BudgetBar)
        assert track.has_focus
        assert bar.window == before
        assert "no change" in rows(view)
        marked = track.mark
        question = session.question(QUESTION, Mode.JIT)
        planned = [session.planning.planned(question, Mode.JIT, step) for step in view._steps]
        assert marked == settles_at(planned)

        await pilot.press("home")
        await pilot.pause()
        assert view.chosen.budget == 512
        assert isinstance(bar.window, ContextWindow)
        left = {each.turn for each in difference(before, bar.window).left}
        assert left
        assert all(f"#{turn}" in rows(view) for turn in left)
        assert f"{len(retrieved_turns(bar.window)):,} turn" in told(view, "#budget-summary")
        await pilot.press("right", "right")
        await picture(pilot, "view", "small", "wide")
        await pilot.press("left", "pageup", "pagedown", "left")
        assert track.at == 0
        await pilot.click(track, offset=(track.size.width // 2, 1))
        await pilot.pause()
        assert 0 < track.at < len(track.sizes) - 1
        assert budget_sentence(view.chosen, 32_768) in view.copyable()

        await pilot.press("home", "o")
        await until(
            pilot,
            lambda: screen.previews.window and screen.previews.window.budget.budget == 512,
            "once",
        )
        assert screen.steering.once.budget == replace(
            before.budget, limit=2_560, limit_source=BY_USER
        )
        assert session.options.budget == before.budget

        view = await opened(pilot)
        assert view.chosen.budget == 512
        await pilot.press("right", "enter")
        await until(
            pilot,
            lambda: screen.previews.window and screen.previews.window.budget.budget > 512,
            "adopted",
        )
        assert screen.steering.once.budget is None
        assert session.options.budget.limit_source == BY_USER
        view = await opened(pilot)
        assert view.query_one(BudgetTrack).sizes[-1] == before.budget.budget
        await pilot.press("end", "escape")
        await pilot.pause()
        assert session.options.budget == screen.previews.window.budget
        assert screen.query_one(Prompt).draft == QUESTION


async def test_what_does_not_fit_is_said_and_r_moves_the_reserve(backend: TestBackend) -> None:
    backend.options = SessionOptions(budget=Budget(limit=8_192))
    async with demo_app(backend).run_test(size=(80, 24)) as pilot:
        screen = await ready(pilot)
        planned = screen.previews.planned
        screen.choices.use_mode("full")
        await until(pilot, lambda: screen.previews.planned > planned, "the window of full")
        view = await opened(pilot)
        await pilot.press("home")
        await pilot.pause()
        assert "does not fit: " in told(view, "#budget-summary")
        assert view.query_one(BudgetBar).refusal is not None
        assert "at any budget" in told(view, "#budget-settled")
        await pilot.press("r", "right")
        await until(pilot, lambda: "planning" not in told(view, "#budget-settled"), "every step")
        await pilot.pause()
        assert view.chosen.limit == 8_192
        assert view.chosen.reserve > 2_048
        assert budget_sentence(view.chosen, 8_192) in told(view, "#budget-summary")
        await pilot.press("escape")
        await pilot.pause()
        assert chat(pilot).session.options.budget == Budget(limit=8_192)
