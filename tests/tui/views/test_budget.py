"""The view of the budget: its rows, and what it does to the next message."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st
from textual.widgets import Static

from jitchat.errors import WindowOverflow
from jitchat.session_options import SessionOptions
from jitchat.tui.views.budget import (
    BudgetView,
    Step,
    budget_sentence,
    step_columns,
    window_sentence,
)
from jitchat.tui.widgets.budget_bar import BudgetBar
from jitchat.tui.widgets.prompt import Prompt
from jitchat.tui.widgets.turn_table import TurnTable, draw
from jitchat.values import BY_USER, Mode
from jitchat.window.budget import Budget
from jitchat.window.calibration import NO_CALIBRATION, Calibration
from jitchat.window.compare import (
    Change,
    Difference,
    difference,
    retrieved_turns,
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


def test_a_step_says_what_it_holds_and_how_it_differs() -> None:
    columns = step_columns(JIT.budget)
    changes = Difference(entered=(Change(9, None, Kind.RETRIEVED, 0, 31),))
    planned = draw(columns, Step(JIT.budget, JIT, changes)).plain.split()
    assert planned[:3] == ["set", f"{JIT.budget.budget:,}", f"{JIT.budget.reserve:,}"]
    assert planned[-2:] == [str(len(retrieved_turns(JIT))), "+1"]
    smaller = replace(JIT.budget, limit=JIT.budget.limit - 1_024)
    assert draw(columns, Step(smaller)).plain.split()[-1] == "…"
    overflow = Step(smaller, WindowOverflow("It needs more.", "", 1_812))
    assert "does not fit: ~1,812 tokens over" in draw(columns, overflow).plain


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
    assert window_sentence(overflow) == "does not fit: ~1,812 tokens over"


def _figures(sentence: str) -> list[int]:
    return [int(each.replace(",", "")) for each in re.findall(r"\d[\d,]*", sentence)]


async def opened(pilot: Pilot[None]) -> BudgetView:
    """The view, with every step planned."""
    await pilot.press("f8")
    await until(pilot, lambda: isinstance(pilot.app.screen, BudgetView), "the view")
    view = pilot.app.screen
    assert isinstance(view, BudgetView)
    await until(pilot, lambda: is_planned(view), "every step")
    await pilot.pause()
    return view


def is_planned(view: BudgetView) -> bool:
    return all(step.plan is not None for step in view.table.rows)


def told(view: BudgetView, name: str) -> str:
    return str(view.query_one(name, Static).content)


def rows(view: BudgetView) -> str:
    return "\n".join(view.query_one("#budget-changes", TurnTable).text())


async def test_the_rows_show_the_window_of_each_budget_and_set_one(
    backend: TestBackend, picture: Picture
) -> None:
    async with demo_app(backend).run_test(size=(160, 48)) as pilot:
        screen = await ready(pilot)
        await type_text(pilot, QUESTION)
        session, before = screen.session, screen.previews.window
        assert session is not None
        assert before is not None
        view = await opened(pilot)
        bar = view.query_one(BudgetBar)
        assert view.table.list.has_focus
        assert bar.window == before
        assert "no change" in rows(view)

        await pilot.press("home")
        await pilot.pause()
        assert view.step.budget.budget == 512
        assert isinstance(bar.window, ContextWindow)
        left = {change.turn for change in difference(before, bar.window).left}
        assert left
        assert all(f"#{turn}" in rows(view) for turn in left)
        assert f"{len(retrieved_turns(bar.window)):,} turn" in told(view, "#budget-note")
        await pilot.press("down", "down")
        await picture(pilot, "view", "small", "wide")
        assert budget_sentence(view.step.budget, 32_768) in view.copyable()

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
        assert view.step.budget.budget == 512
        await pilot.press("down", "enter")
        await until(
            pilot,
            lambda: screen.previews.window and screen.previews.window.budget.budget > 512,
            "adopted",
        )
        assert screen.steering.once.budget is None
        assert session.options.budget.limit_source == BY_USER
        view = await opened(pilot)
        assert view.table.rows[-1].budget.budget == before.budget.budget
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
        assert "does not fit: " in told(view, "#budget-note")
        assert view.query_one(BudgetBar).refusal is not None
        await pilot.press("r", "down")
        await until(pilot, lambda: is_planned(view), "every step")
        await pilot.pause()
        assert view.step.budget.limit == 8_192
        assert view.step.budget.reserve > 2_048
        assert budget_sentence(view.step.budget, 8_192) in told(view, "#budget-note")
        await pilot.press("escape")
        await pilot.pause()
        assert chat(pilot).session.options.budget == Budget(limit=8_192)
