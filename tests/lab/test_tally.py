"""Totals of results, whatever their order."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jitchat.lab.experiment import Cell, Verdict
from jitchat.lab.facts import Kind
from jitchat.lab.stats import Tally, count_results
from jitchat.values import Mode, Usage
from tests.examples import examples
from tests.lab.some_results import result, results

CELLS = st.builds(
    Cell,
    length=st.sampled_from((1_000, 4_000, 16_000)),
    depth=st.sampled_from((0.0, 0.5, 1.0)),
    kind=st.sampled_from((Kind.DIRECT, Kind.UPDATED, Kind.ABSENT)),
    repeat=st.integers(1, 2),
    mode=st.sampled_from(Mode),
)
MAYBE = st.none() | st.floats(0, 1_000)
RESULTS = st.builds(
    result,
    CELLS,
    st.sampled_from(Verdict),
    tokens=st.none() | st.integers(0, 10**6),
    usage=st.none()
    | st.builds(Usage, st.none() | st.integers(1, 99), st.none(), st.integers(0, 9)),
    to_first=MAYBE,
    seconds=MAYBE,
    cost=MAYBE,
)


def a_cell(**changes):
    return replace(Cell(1_000, 0.5, Kind.DIRECT, 1, Mode.JIT), **changes)


@examples(16)
@given(st.lists(RESULTS, unique_by=lambda each: each.cell, max_size=20))
def test_every_way_to_count_adds_up_to_the_cells(found):
    tallies = count_results(found)
    for counted in (tallies.squares, tallies.by_length, tallies.by_kind, tallies.by_mode):
        assert sum(counted.values(), Tally()) == tallies.whole
        assert all(each.share is None or 0 <= each.share <= 1 for each in counted.values())
    assert tallies.whole.cells == len(found)
    assert sum(spent.sent for spent in tallies.spent.values()) == sum(
        spent.sent for spent in tallies.spent_at.values()
    )


@examples(16)
@given(st.data())
def test_the_order_of_results_changes_nothing(data):
    found = data.draw(st.lists(RESULTS, unique_by=lambda each: each.cell, max_size=20))
    assert count_results(data.draw(st.permutations(found))) == count_results(found)


@examples(16)
@given(st.lists(RESULTS, max_size=20))
def test_a_later_result_of_a_cell_takes_the_place_of_the_earlier(found):
    assert count_results(found) == count_results({each.cell: each for each in found}.values())


def test_what_does_not_fit_and_what_failed_are_told_and_in_no_share():
    tallies = count_results(results())
    assert tallies.by_length[Mode.FULL, 48_000] == Tally(unfit=20)
    assert tallies.by_length[Mode.FULL, 48_000].share is None
    assert tallies.by_length[Mode.FULL, 48_000].interval is None
    assert tallies.by_length[Mode.JIT, 4_000] == Tally(right=18, failed=2)
    assert tallies.by_length[Mode.JIT, 4_000].share == 1
    assert (tallies.whole.cells, tallies.whole.answered) == (240, 218)


def test_other_kinds_are_not_counted():
    tallies = count_results(results(), [Kind.DIRECT])
    assert tallies.whole.cells == 60
    assert {kind for _, kind in tallies.by_kind} == {Kind.DIRECT}


def test_what_cells_took_is_told_by_medians_and_sums():
    found = [
        result(a_cell(repeat=1), tokens=10, to_first=1.0, seconds=1.0, cost=0.1),
        result(a_cell(repeat=2), tokens=20, to_first=None, seconds=2.0, cost=0.2),
        result(a_cell(repeat=3), tokens=60, to_first=4.0, seconds=9.0, cost=None, usage=None),
        result(a_cell(repeat=4), Verdict.FAILED, tokens=99, to_first=90.0, seconds=90.0, cost=0.0),
        result(a_cell(repeat=5), Verdict.UNFIT, tokens=999, seconds=0.1),
    ]
    spent = count_results(found).spent[Mode.JIT]
    assert (spent.sent, spent.tokens, spent.to_first, spent.seconds) == (4, 40, 2.5, 2.0)
    assert (spent.cost, spent.unpriced) == (pytest.approx(0.3), 1)
    assert spent.cached == pytest.approx(500 / 1090), "of the input of those that tell theirs"


def test_nothing_is_known_of_cells_that_never_left():
    spent = count_results([result(a_cell(), Verdict.UNFIT)]).spent[Mode.JIT]
    assert spent.sent == spent.unpriced == 0
    assert {spent.tokens, spent.to_first, spent.seconds, spent.cached, spent.cost} == {None}
