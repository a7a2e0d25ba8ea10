"""The view of the window's size: its rows, and what it does to the next message."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.widgets import Static

from jitchat.errors import WindowOverflow
from jitchat.store.pins import OwnInstructions
from jitchat.tui.figures import budget_sentence
from jitchat.tui.plain import plain_sentences
from jitchat.tui.views.budget import BudgetView, Step, shares_table, step_columns
from jitchat.tui.widgets.budget_bar import BudgetBar
from jitchat.tui.widgets.prompt import Prompt
from jitchat.tui.widgets.turn_table import draw
from jitchat.values import Mode
from jitchat.window.budget import Budget
from jitchat.window.calibration import NO_CALIBRATION
from jitchat.window.window import ContextWindow
from tests.tui.support import TestBackend, demo_app, ready, type_text, until
from tests.window.reports import long_talk

if TYPE_CHECKING:
    from textual.pilot import Pilot

    from tests.tui.conftest import Picture

QUESTION = "what did we settle on for the deploy window?"
JIT = long_talk(Mode.JIT, NO_CALIBRATION)


def test_a_step_says_what_would_be_sent_or_why_not() -> None:
    columns = step_columns(JIT.budget)
    planned = draw(columns, Step(JIT.budget, JIT)).plain
    assert planned.split()[:3] == ["set", f"{JIT.budget.size:,}", str(JIT.used_figure)]
    assert planned.endswith(plain_sentences(JIT, sent=False)[0])
    smaller = JIT.budget.of_size(600)
    assert draw(columns, Step(smaller)).plain.split() == ["600", "…"]
    overflow = Step(smaller, WindowOverflow("It needs more.", "", 1_812))
    assert draw(columns, overflow).plain.endswith("does not fit: ~1,812 tokens over")


def test_the_shares_of_a_size_stand_below_their_names() -> None:
    budget = Budget(size=8_000)
    names, amounts = shares_table(budget).splitlines()
    ends = {name: names.index(name) + len(name) for name in ("recalled", "facts", "digest")}
    figures = {name: amounts[:end].split()[-1] for name, end in ends.items()}
    assert figures == {"recalled": f"{budget.recalled:,}", "facts": "250", "digest": "250"}
    assert len(amounts) == len(names) <= 74, "as wide as the view at 80 columns"


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


def note(view: BudgetView) -> str:
    return str(view.query_one("#budget-note", Static).content)


async def test_the_rows_show_the_window_of_each_size_and_set_one(
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
        assert view.step.budget == before.budget

        await pilot.press("home")
        await pilot.pause()
        assert view.step.budget.size == 512
        assert isinstance(bar.window, ContextWindow)
        assert bar.window.used <= 512 < before.used
        assert plain_sentences(bar.window, sent=False)[0] in note(view)
        await pilot.press("down", "down")
        await picture(pilot, "view", "small", "wide")
        assert budget_sentence(view.step.budget, Mode.JIT) in note(view)
        assert "composed anew" in view.copyable()

        await pilot.press("home", "o")
        await until(pilot, lambda: screen.previews.window.budget.size == 512, "once")
        assert screen.steering.once.budget == before.budget.of_size(512)
        assert session.options.budget == before.budget

        view = await opened(pilot)
        assert view.step.budget.size == 512
        await pilot.press("down", "enter")
        await until(pilot, lambda: screen.previews.window.budget.size > 512, "adopted")
        size = screen.previews.window.budget.size
        own = OwnInstructions(backend.store.database)
        assert own.get(screen.opening.conversation.id).size == size
        assert screen.steering.once.budget is None

        view = await opened(pilot)
        assert view.step.budget.size == size
        assert view.table.rows[-1].budget.size == before.budget.budget
        await pilot.press("end", "escape")
        await pilot.pause()
        assert screen.session.options.budget.size == size
        assert screen.query_one(Prompt).draft == QUESTION


async def test_what_does_not_fit_is_said(backend: TestBackend) -> None:
    async with demo_app(backend).run_test(size=(80, 24)) as pilot:
        await ready(pilot)
        await type_text(pilot, "a long message " * 400)
        view = await opened(pilot)
        await pilot.press("home")
        await pilot.pause()
        assert view.query_one(BudgetBar).window is not None, "a message may exceed the size"
