"""Sizes from small to large."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from jitchat.window.budget import Budget
from jitchat.window.compare import (
    LEAST,
    size_grid,
)
from tests.examples import examples


@examples(30)
@given(st.integers(1_024, 2_000_000), st.integers(0, 512), st.integers(1, 2_000_000))
def test_a_grid_goes_from_512_tokens_to_all_that_the_model_takes_and_has_the_present_size(
    limit: int, reserve: int, size: int
) -> None:
    present = Budget(limit, reserve, size)
    grid = size_grid(present)
    sizes = [each.most for each in grid]
    assert sizes == sorted(set(sizes))
    assert sizes[-1] == present.budget
    assert sizes[0] == min(LEAST, present.most)
    assert len(sizes) <= 48
    assert present in grid
    assert {each.budget for each in grid} == {present.budget}
