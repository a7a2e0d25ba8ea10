"""Budgets from small to large, and where the retrieved set stops changing."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jitchat.errors import WindowOverflow
from jitchat.values import BY_USER, Mode
from jitchat.window.budget import Budget
from jitchat.window.calibration import NO_CALIBRATION
from jitchat.window.compare import (
    LEAST,
    budget_grid,
    reserve_grid,
    retrieved_turns,
    sends_all,
    settles_at,
)
from jitchat.window.window import ContextWindow, Kind
from tests.examples import examples
from tests.window.reports import long_talk

if TYPE_CHECKING:
    from collections.abc import Sequence

OVER = WindowOverflow("It does not fit.", "", 12)


def planned(sets: Sequence[str]) -> list[ContextWindow | WindowOverflow]:
    """Windows that retrieve as many turns as a number says; `x` is none."""
    kept = {name: retrieving(int(name)) for name in set(sets) - {"x"}}
    return [kept.get(name, OVER) for name in sets]


def retrieving(count: int) -> ContextWindow:
    window = long_talk(Mode.JIT, NO_CALIBRATION)
    retrieved = next(each for each in window.segments if each.kind is Kind.RETRIEVED)
    others = tuple(each for each in window.segments if each.kind is not Kind.RETRIEVED)
    made = tuple(replace(retrieved, turn=number + 1) for number in range(count))
    return replace(window, segments=(*others[:-1], *made, others[-1]))


@pytest.mark.parametrize(
    ("sets", "found"),
    [
        ("xx1233", 4),
        ("2222", 0),
        ("1213", 3),
        ("3x33", 2),
        ("121211", 4),
        ("0000", None),
        ("x1220", 4),
        ("1200", 2),
        ("12x", None),
        ("", None),
    ],
)
def test_the_retrieved_set_settles_where_it_is_the_last_one_for_good(
    sets: str, found: int | None
) -> None:
    assert settles_at(planned(sets)) == found


@examples(30)
@given(st.integers(1_024, 2_000_000), st.integers(0, 4_096), st.integers(600, 2_000_000))
def test_a_grid_goes_from_512_tokens_to_the_models_limit_and_has_the_present_budget(
    limit: int, reserve: int, most: int
) -> None:
    present = Budget(limit=max(limit, reserve + LEAST), reserve=reserve)
    most = max(most, present.limit)
    grid = budget_grid(present, most)
    sizes = [each.budget for each in grid]
    assert sizes == sorted(set(sizes))
    assert (sizes[0], sizes[-1]) == (LEAST, most - reserve)
    assert len(sizes) <= 48
    assert present in grid
    assert {each.reserve for each in grid} == {reserve}
    assert all(each.limit_source == BY_USER for each in grid if each != present)


@examples(30)
@given(st.integers(1_024, 2_000_000), st.integers(1, 512))
def test_the_reserve_moves_within_the_limit(limit: int, reserve: int) -> None:
    present = Budget(limit=limit, reserve=reserve)
    grid = reserve_grid(present)
    assert present in grid
    assert {each.limit for each in grid} == {limit}
    assert min(each.budget for each in grid) == LEAST
    assert [each.reserve for each in grid] == sorted({each.reserve for each in grid})


def test_a_window_sends_all_where_no_turn_is_out_or_just_a_line() -> None:
    sends = {mode: sends_all(long_talk(mode, NO_CALIBRATION, limit=400_000)) for mode in Mode}
    assert sends == {mode: mode is Mode.FULL or mode.distils for mode in Mode}


def test_what_is_retrieved_are_turns_at_full_text() -> None:
    window = long_talk(Mode.JIT, NO_CALIBRATION)
    kinds = window.kind_of_turns()
    assert retrieved_turns(window) == {
        turn for turn, kind in kinds.items() if kind is Kind.RETRIEVED
    }
