"""Intervals against published tables, and what no interval may do."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jitchat.lab.stats import newcombe, newcombe_paired, wilson
from tests.examples import examples


@st.composite
def asked(draw):
    """Right answers, of how many."""
    of = draw(st.integers(1, 2_000))
    return draw(st.integers(0, of)), of


# R. G. Newcombe, Statistics in Medicine 17 (1998) 857-872, table I, method 3
@pytest.mark.parametrize(
    ("right", "of", "ends"),
    [
        (81, 263, (0.2553, 0.3662)),
        (15, 148, (0.0624, 0.1605)),
        (0, 20, (0.0, 0.1611)),
        (1, 29, (0.0061, 0.1718)),
    ],
)
def test_wilsons_interval_is_the_published_one(right, of, ends):
    assert wilson(right, of) == pytest.approx(ends, abs=5e-5)


# Ibid., 873-890, table II, method 10
@pytest.mark.parametrize(
    ("after", "before", "ends"),
    [
        ((56, 70), (48, 80), (0.0524, 0.3339)),
        ((9, 10), (3, 10), (0.1705, 0.8090)),
        ((6, 7), (2, 7), (0.0582, 0.8062)),
        ((5, 56), (0, 29), (-0.0381, 0.1926)),
        ((0, 10), (0, 20), (-0.1611, 0.2775)),
        ((10, 10), (0, 10), (0.6075, 1.0)),
    ],
)
def test_newcombes_interval_is_the_published_one(after, before, ends):
    assert newcombe(before, after) == pytest.approx(ends, abs=5e-5)


# Ibid., 2635-2650, method 10
@pytest.mark.parametrize(
    ("counts", "ends"),
    [((36, 12, 2, 0), (-0.3404, -0.0569)), ((36, 2, 12, 0), (0.0569, 0.3404))],
)
def test_the_interval_of_the_same_questions_asked_twice_is_the_published_one(counts, ends):
    assert newcombe_paired(*counts) == pytest.approx(ends, abs=5e-5)


counts = st.integers(0, 300)


@examples(25)
@given(st.tuples(counts, counts, counts, counts).filter(any))
def test_the_interval_of_pairs_holds_the_difference_and_turns_with_it(each):
    both, lost, gained, neither = each
    low, high = newcombe_paired(*each)
    assert -1 <= low <= (gained - lost) / sum(each) <= high <= 1
    assert low < high
    assert newcombe_paired(both, gained, lost, neither) == pytest.approx((-high, -low))


@examples(25)
@given(asked())
def test_an_interval_holds_its_share_within_the_possible(each):
    low, high = wilson(*each)
    assert 0 <= low <= each[0] / each[1] <= high <= 1
    assert low < high, "a few answers never make sure"


@examples(25)
@given(asked(), asked())
def test_an_interval_of_a_difference_holds_it_and_turns_with_it(before, after):
    low, high = newcombe(before, after)
    assert -1 <= low <= after[0] / after[1] - before[0] / before[1] <= high <= 1
    assert newcombe(after, before) == pytest.approx((-high, -low))
