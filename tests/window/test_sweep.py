"""Budgets and reserves from small to large."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from jitchat.values import BY_USER, Mode
from jitchat.window.budget import Budget
from jitchat.window.calibration import NO_CALIBRATION
from jitchat.window.compare import (
    LEAST,
    budget_grid,
    reserve_grid,
    retrieved_turns,
)
from jitchat.window.window import Kind
from tests.examples import examples
from tests.window.reports import long_talk


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


def test_what_is_retrieved_are_turns_at_full_text() -> None:
    window = long_talk(Mode.JIT, NO_CALIBRATION)
    kinds = window.kind_of_turns()
    assert retrieved_turns(window) == {
        turn for turn, kind in kinds.items() if kind is Kind.RETRIEVED
    }
