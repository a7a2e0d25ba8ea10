"""Evidence in the window against right answers, and differences between modes."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jitchat.lab.change import mode_differences
from jitchat.lab.evidence import SIGNS, Evidence, Outcome, evidence_by_mode, outcome_of
from jitchat.lab.experiment import Cell, Verdict
from jitchat.lab.facts import Kind
from jitchat.lab.stats import count_results
from jitchat.values import Mode
from tests.examples import examples
from tests.lab.some_results import result, results

CELL = Cell(1_000, 0.5, Kind.COUNTING, 1, Mode.JIT)
FOUR = (3, 9, 20, 31)


@pytest.mark.parametrize(
    ("verdict", "held", "outcome"),
    [
        (Verdict.RIGHT, 4, Outcome.USED),
        (Verdict.WRONG, 4, Outcome.UNUSED),
        (Verdict.WRONG, 3, Outcome.MISSED),
        (Verdict.RIGHT, 3, Outcome.GUESSED),
        (Verdict.FAILED, 4, None),
        (Verdict.UNFIT, None, None),
        (Verdict.RIGHT, None, None),
    ],
)
def test_the_evidence_is_there_when_every_needed_turn_is(verdict, held, outcome):
    assert outcome_of(result(CELL, verdict, needed=FOUR, held=held)) is outcome


def test_of_what_was_never_said_every_window_holds_enough():
    absent = result(replace(CELL, kind=Kind.ABSENT), Verdict.WRONG, needed=(), held=0)
    assert outcome_of(absent) is Outcome.UNUSED


def test_every_answer_has_one_outcome_in_its_mode():
    tallies = count_results(results())
    found = evidence_by_mode(tallies)
    assert {mode: each.of for mode, each in found.items()} == {
        mode: tally.answered for mode, tally in tallies.by_mode.items()
    }
    right = found[Mode.RECENCY].counts
    assert right[Outcome.USED] + right[Outcome.GUESSED] == tallies.by_mode[Mode.RECENCY].right
    only = evidence_by_mode(count_results(results(), [Kind.ABSENT]))
    assert not any(each.counts[Outcome.MISSED] for each in only.values())


@examples(20)
@given(st.lists(st.integers(0, 2_000), min_size=4, max_size=4), st.integers(0, 80))
def test_a_bar_is_as_wide_as_its_room_and_true_to_the_counts(counts, width):
    found = Evidence(dict(zip(Outcome, counts, strict=True)))
    bar = dict(found.bar(width))
    assert sum(bar.values()) == (width if found.of else 0)
    for outcome, cells in bar.items():
        assert abs(cells - width * found.counts[outcome] / max(1, found.of)) <= 1


def test_the_four_are_told_apart_without_colours():
    assert len(set(SIGNS.values())) == len(Outcome)


def test_modes_are_compared_where_both_answered():
    found = {each.name: each for each in mode_differences(count_results(results()))}
    assert list(found) == ["jit − full", "jit − recency", "full − recency"]
    pair = found["jit − full"]
    assert list(pair.at) == [1_000, 4_000, 16_000], "full does not fit at 48,000"
    assert (pair.whole.after.answered, pair.left_out) == (58, 22)
    facts = pair.at[16_000].facts
    assert (facts.count((1, 0, 1)), facts.count((1, 1, 0))) == (8, 1), "gained and lost, by hand"


def test_a_mode_that_was_not_asked_is_compared_with_none():
    asked = [each for each in results() if each.cell.mode is not Mode.FULL]
    assert [each.name for each in mode_differences(count_results(asked))] == ["jit − recency"]


def test_facts_that_fare_alike_at_each_length_tell_no_more_than_they_are():
    def fares(cell):
        is_wrong = cell.mode is Mode.RECENCY and cell.depth < 0.5
        return Verdict.WRONG if is_wrong else Verdict.RIGHT

    found = {each.name: each for each in mode_differences(count_results(results(fares)))}
    pair = found["jit − recency"]
    assert pair.whole.interval == pytest.approx(pair.at[1_000].interval)
    assert pair.whole.after.answered == 4 * pair.at[1_000].after.answered
    tally = count_results(results(fares)).by_mode[Mode.RECENCY]
    one = count_results(results(fares)).by_length[Mode.RECENCY, 1_000]
    assert tally.interval == pytest.approx(one.interval)
