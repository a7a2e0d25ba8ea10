"""Scores of ranks."""

from __future__ import annotations

import pytest

from jitchat.bench.questions import Question
from jitchat.bench.scores import MEASURES, Outcome, figures_of, spread


def outcome(
    evidence: set[int], ranked: list[int], held: set[int] = frozenset(), strict: bool = True
) -> Outcome:
    same = frozenset(evidence)
    asked = Question("?", "multi-hop", same, same if strict else None)
    return Outcome(asked, tuple(ranked), frozenset(held), 100, 1_000)


def means(*outcomes: Outcome) -> dict[str, float]:
    figures = figures_of(outcomes)
    return {name: figures[name] for name in MEASURES}


def test_any_all_and_the_share_are_of_the_first_six():
    found = means(outcome({1, 9}, [5, 1, 3, 4, 2, 6, 9]))
    assert (found["any_at_6"], found["all_at_6"], found["fraction_at_6"]) == (1.0, 0.0, 0.5)
    assert (found["any_at_12"], found["all_at_12"]) == (1.0, 1.0)


def test_no_evidence_is_a_miss_however_much_is_found():
    assert set(means(outcome(set(), [1, 2, 3], {1, 2, 3})).values()) == {0.0}


def test_the_strict_reading_misses_a_broken_label():
    found = means(outcome({1}, [1], strict=False), outcome({1}, [1]))
    assert (found["any_at_6"], found["strict_any_at_6"], found["strict_all_at_6"]) == (1, 0.5, 0.5)


def test_the_window_counts_what_it_holds_wherever_that_ranked():
    found = means(outcome({1, 2}, [], {1, 2, 3}), outcome({1, 2}, [], {2}))
    assert (found["window_any"], found["window_all"]) == (1.0, 0.5)


@pytest.mark.parametrize(("count", "p95"), [(1, 1.0), (20, 20.0), (100, 96.0)])
def test_the_spread_of_some_times(count: int, p95: float):
    assert spread([float(n) for n in range(1, count + 1)])["p95"] == p95
