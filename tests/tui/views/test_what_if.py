"""The same message in every mode, side by side: figures, bars, and a row a turn."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from jitchat.savings import Comparison
from jitchat.session import Session
from jitchat.session_options import SessionOptions
from jitchat.statements import Observation, Source
from jitchat.tui.views.what_if import (
    Side,
    Sides,
    WhatIfView,
    Windows,
    bar_line,
    columns_of,
    compare,
    draw_sides,
    figures_line,
    items_of,
    side_of,
)
from jitchat.tui.widgets.transcript import Transcript
from jitchat.tui.widgets.turn_table import Line, TurnTable, draw
from jitchat.values import Mode
from jitchat.window.budget import Budget
from jitchat.window.steering import NO_MORE
from jitchat.window.tokens import EstimateCounter
from jitchat.window.window import ContextWindow, Kind
from tests.examples import examples
from tests.support import demo_session, observe
from tests.tui.support import TestBackend, demo_app, ready, type_text, until
from tests.tui.test_screens import QUESTION
from tests.window.cases import Case, cases

if TYPE_CHECKING:
    from collections.abc import Callable

    from jitchat.store.store import ColdStore


def numbers(text: str) -> list[int]:
    return [int(found.replace(",", "")) for found in re.findall(r"\d[\d,]*", text)]


def priced(amount: float | None) -> Callable[[ContextWindow], Comparison]:
    return lambda window: Comparison.ahead(window, lambda _: amount)


@examples(16)
@given(cases())
def test_the_figures_of_each_mode_add_up_to_the_limit(case: Case) -> None:
    for mode in Mode:
        planned = case.window(mode, EstimateCounter())
        side = side_of(mode, planned, priced(None))
        printed = str(figures_line(side, 80, in_use=False))
        if not isinstance(planned, ContextWindow):
            assert numbers(printed) == [planned.overshoot]
            continue
        used, *band = numbers(side.figures[0])
        assert printed.split() == [mode.value, *" ".join(side.figures).split()]
        free, reserve = numbers(side.figures[4])[0], numbers(side.figures[5])[0]
        assert used + free + reserve == planned.budget.limit
        assert sum(tokens for _, tokens in side.sizes) == used == side.used
        assert band == ([planned.band] if planned.band else [])


def test_free_is_what_is_left_of_the_window_and_not_a_price(store: ColdStore) -> None:
    planned = demo_session(store).preview(QUESTION, Mode.JIT)
    assert side_of(Mode.JIT, planned, priced(0.0)).figures[2] == "no charge"
    assert side_of(Mode.JIT, planned, priced(None)).figures[2] == "cost unknown"


SIZES = st.lists(st.tuples(st.sampled_from(Kind), st.integers(1, 10**6)), unique_by=lambda x: x[0])


@examples(30)
@given(SIZES.filter(bool), st.integers(0, 10**7), st.integers(30, 200))
def test_a_bar_is_to_the_scale_of_the_widest_and_shows_every_kind(
    sizes: list[tuple[Kind, int]], more: int, width: int
) -> None:
    ordered = tuple(sorted(sizes, key=lambda each: list(Kind).index(each[0])))
    used = sum(tokens for _, tokens in ordered)
    side = Side(Mode.JIT, used, ordered, ("",) * 6)
    drawn = str(bar_line(side, used + more, width)).removeprefix(" jit".ljust(10)).rstrip()
    exact = used * (width - 10) / (used + more)
    assert len(set(drawn)) == len(ordered)
    assert len(drawn) <= width - 10
    assert abs(len(drawn) - exact) <= len(ordered) + 1


def drawn(comparison: Windows, mode: Mode) -> str:
    columns = columns_of(comparison, 73)
    rows = (
        item.text if isinstance(item, Line) else str(draw(columns, item)).rstrip()
        for item in items_of(comparison)
    )
    return "\n".join([str(draw_sides(comparison, mode, 69)), *rows])


def small_session(store) -> Session:
    session = demo_session(store)
    session.take_budget(Budget(size=1_500))
    return session


def test_on_the_demo_the_recalled_turns_are_in_full_and_jit_and_not_in_recency(store) -> None:
    comparison = compare(small_session(store), QUESTION, NO_MORE)
    text = drawn(comparison, Mode.JIT)
    assert "── in full and jit · " in text
    assert re.search(r"^#9 +▚ rec ~\d+ +· +▒ ret ~\d+ +.*02:00", text, re.MULTILINE)
    assert re.search(r"^#1…#\d+ +▚ rec ~[\d,]+ +· +· +\d+ turns$", text, re.MULTILINE)
    assert "▸jit" in text
    assert text.count("identical to the window of jit") == 2
    assert " full  " in text.splitlines()[1]
    assert "── in every window · " in text
    assert "cost unknown" in text


def test_a_mode_that_does_not_fit_says_by_how_much_and_is_a_column_all_the_same(store) -> None:
    session = demo_session(store)
    session.options = SessionOptions(budget=Budget(limit=2_000, reserve=200))
    comparison: Windows = compare(session, QUESTION, NO_MORE)
    lines = str(draw_sides(comparison, Mode.FULL, 76)).splitlines()
    assert re.fullmatch(r"▸full +does not fit: ~[\d,]+ tokens over the budget", lines[1])
    assert lines[6] == " full".ljust(10) + "╳" * 66
    assert comparison.modes == (Mode.RECENCY, Mode.JIT)
    assert "in every window" not in drawn(comparison, Mode.FULL)
    assert "in recency and jit · " in drawn(comparison, Mode.FULL)


def test_five_windows_have_a_column_each_and_kinds_no_names_where_room_is_short(store) -> None:
    session = small_session(store)
    observe(session.memory, 40, Observation("The port is 9641.", Source(1, 40)))
    comparison = compare(session, QUESTION, NO_MORE)
    assert [side.same_as for side in comparison.sides] == [None] * 4 + [Mode.JIT]
    titles = [mode.value for mode in (Mode.FULL, Mode.RECENCY, Mode.JIT, Mode.OBSERVE)]
    for width, head in ((100, "▚ rec "), (70, "▚ ")):
        columns = columns_of(comparison, width)
        assert [column.title for column in columns] == ["turn", *titles, "begins"]
        assert sum(column.width or 0 for column in columns) <= width - 20
        text = str(draw(columns, next(row for row in comparison.rows if row.turns == (9,))))
        assert re.match(rf"#9 +{head}~\d", text)
        assert "╪ obs" not in text, "it matches, so it is sent as it was said"
        text = str(draw(columns, next(row for row in comparison.rows if row.turns == (40,))))
        assert text.count("╪ obs") == 1, "observations stand for it"
    (instructions,) = [row for row in comparison.rows if row.turns == (None,)]
    assert instructions.shares[Mode.OBSERVE].tokens > instructions.shares[Mode.FULL].tokens


async def test_f7_compares_asks_nobody_and_leads_to_a_turn_or_to_a_mode(
    backend: TestBackend,
) -> None:
    async with demo_app(backend).run_test(size=(80, 24)) as pilot:
        screen = await ready(pilot)
        await pilot.press("f7")
        view = await opened(pilot)
        assert "have no question" in str(view.query_one("#what-if-note").render())
        await pilot.press("escape")
        await type_text(pilot, QUESTION)
        await pilot.press("f7")
        view = await opened(pilot)
        assert not view.query_one("#what-if-note").display
        table = view.query_one(TurnTable)
        assert table.list.has_focus
        while table.row.turns != (9,):
            await pilot.press("down")
        await pilot.press("enter")
        transcript = screen.query_one(Transcript)
        await until(pilot, lambda: transcript.chosen and transcript.chosen.position == 9, "turn 9")
        await pilot.press("f7")
        view = await opened(pilot)
        await pilot.press("y")
        assert "── in full and jit" in pilot.app.clipboard
        await pilot.click(view.query_one(Sides), offset=(3, 2))
        await until(
            pilot, lambda: screen.steering.mode is Mode.RECENCY, "the mode that was clicked"
        )
        await pilot.press("f7")
        await opened(pilot)
        await pilot.press("1")
        await until(pilot, lambda: screen.steering.mode is Mode.FULL, "the mode of the key")
        assert backend.provider.requests == []  # type: ignore[attr-defined]
        assert screen.steering.next_message.text == QUESTION
        assert len(backend.store.turns(screen.opening.conversation.id)) == 60


async def opened(pilot) -> WhatIfView:
    """The view, once its windows are planned."""
    await until(pilot, lambda: isinstance(pilot.app.screen, WhatIfView), "the view")
    view = pilot.app.screen
    await until(pilot, lambda: view.query_one(Sides).comparison is not None, "the windows")
    await pilot.pause()
    return view
