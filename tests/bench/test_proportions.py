"""Intervals against published tables, and invariants of every interval."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jitchat.bench.proportions import (
    effective_size,
    paired_difference,
    wilson,
)
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


def pairs_of(both, lost, gained, neither):
    """Clusters of one cell each: right both times, the first or the second time only, neither."""
    return [(1, 1, 1)] * both + [(1, 1, 0)] * lost + [(1, 0, 1)] * gained + [(1, 0, 0)] * neither


# Ibid., 2635-2650, method 10
@pytest.mark.parametrize(
    ("counts", "ends"),
    [((36, 12, 2, 0), (-0.3404, -0.0569)), ((36, 2, 12, 0), (0.0569, 0.3404))],
)
def test_the_interval_of_the_same_questions_asked_twice_is_the_published_one(counts, ends):
    assert paired_difference(pairs_of(*counts)) == pytest.approx(ends, abs=5e-5)


counts = st.integers(0, 60)


@examples(25)
@given(st.tuples(counts, counts, counts, counts).filter(any))
def test_the_interval_of_pairs_holds_the_difference_and_turns_with_it(each):
    both, lost, gained, neither = each
    low, high = paired_difference(pairs_of(*each))
    assert -1 <= low <= (gained - lost) / sum(each) <= high <= 1
    assert low < high
    assert paired_difference(pairs_of(both, gained, lost, neither)) == pytest.approx((-high, -low))


@examples(25)
@given(asked())
def test_an_interval_holds_its_share_within_the_possible(each):
    low, high = wilson(*each)
    assert 0 <= low <= each[0] / each[1] <= high <= 1
    assert low < high, "a few answers never make sure"


def test_clusters_of_one_cell_each_tell_as_much_as_they_are():
    assert effective_size([(1, 1), (0, 1), (1, 1)]) == 3


def test_cells_that_are_all_alike_tell_as_much_as_their_clusters():
    assert effective_size([(4, 4)] * 18 + [(0, 4)] * 17) == pytest.approx(35)
    assert effective_size([(4, 4)] * 5) == 5, "how alike they are cannot be known"
    assert effective_size([(0, 2), (0, 4)]) == pytest.approx(36 / 20)


def test_cells_that_have_nothing_to_do_with_each_other_tell_almost_as_much_as_they_are():
    chance = random.Random(3)
    made = effective_size([(sum(chance.random() < 0.5 for _ in range(4)), 4) for _ in range(400)])
    assert 1_450 < made <= 1_600


# J. N. K. Rao and A. J. Scott's effect, by hand: 2 clusters of 4, 3 and 1 right, have 2 * 2 / 4 / 2
def test_the_design_effect_is_that_of_a_ratio():
    made = effective_size([(3, 4), (1, 4)] * 20)
    design = 40 / 39 * 40 / (160 * 0.25)
    student = 2.0227  # of 39 degrees of freedom, as tables have it
    assert made == pytest.approx(160 / design * (1.95996 / student) ** 2, rel=1e-4)


@examples(25)
@given(st.lists(st.tuples(st.integers(0, 8), st.integers(1, 8)).map(sorted), min_size=1))
def test_the_effective_size_is_possible(clusters):
    made = effective_size(map(tuple, clusters))
    cells = sum(of for _, of in clusters)
    assert cells**2 / sum(of**2 for _, of in clusters) - 1e-9 <= made <= cells


def test_two_that_are_the_same_in_every_cluster_may_still_differ():
    low, high = paired_difference([(4, 4, 4), (4, 0, 0)] * 10)
    assert (low, high) == pytest.approx(paired_difference([(1, 1, 1), (1, 0, 0)] * 10))
    assert low < -0.05


@examples(25)
@given(st.lists(st.tuples(*[st.integers(0, 4)] * 2), min_size=1))
def test_an_interval_over_clusters_holds_the_difference_and_turns_with_it(found):
    pairs = [(4, *each) for each in found]
    low, high = paired_difference(pairs)
    change = sum(b - a for a, b in found) / (4 * len(found))
    assert -1 <= low <= change + 1e-9
    assert change - 1e-9 <= high <= 1
    back = paired_difference([(4, b, a) for a, b in found])
    assert back == pytest.approx((-high, -low))


def coverage(rounds, clusters, before, after, alike):
    """How often the intervals of a share and of a difference hold the true ones.

    `alike` is the correlation of the four cells of a fact; facts that are hard before are mostly
    hard after.
    """
    chance = random.Random(f"{clusters} {before} {after} {alike}")
    share = difference = 0
    for _ in range(rounds):
        pairs = []
        for _ in range(clusters):
            hard = chance.random()
            hard_after = hard if chance.random() < 0.5 else chance.random()
            pair = [4]
            for level, true in ((hard, before), (hard_after, after)):
                alone = (chance.random() if chance.random() > alike**0.5 else level for _ in "1234")
                pair.append(sum(each < true for each in alone))
            pairs.append(tuple(pair))
        size = effective_size((was, of) for of, was, _ in pairs)
        right = sum(was for _, was, _ in pairs) / sum(of for of, _, _ in pairs)
        low, high = wilson(right * size, size)
        share += low <= before <= high
        low, high = paired_difference(pairs)
        difference += low <= after - before <= high
    return share / rounds, difference / rounds


SETTINGS = [(35, 0.5, 0.7, 0.3), (35, 0.5, 0.7, 0.9), (105, 0.8, 0.8, 0.9), (105, 0.9, 0.95, 0.5)]


@pytest.mark.parametrize("setting", SETTINGS[1:3], ids=str)
def test_intervals_over_clusters_hold_what_they_should_in_a_few_rounds(setting):
    share, difference = coverage(150, *setting)
    assert share >= 0.9
    assert difference >= 0.9


@pytest.mark.long("whole")
@pytest.mark.parametrize("setting", SETTINGS, ids=str)
def test_intervals_over_clusters_hold_the_true_value_95_times_of_100(setting):
    share, difference = coverage(3_000, *setting)
    assert 0.93 <= share <= 0.97
    assert 0.93 <= difference <= 0.97
