"""The oracle picker's bound, which no picker can exceed with the lines that it is shown."""

from __future__ import annotations

import pytest

from jitchat.bench.questions import Question
from tests.benchmarks.picking import Asked, bound_of


def asked(evidence: set[int], ranked: tuple[int, ...], shown: set[int], tokens: int) -> Asked:
    question = Question("?", "single-hop", frozenset(evidence), None)
    return Asked(question, ranked, frozenset(shown), tokens)


def test_an_oracle_picks_what_it_is_shown_and_the_two_best_are_there_anyway():
    found = [
        asked({30, 31}, (1, 2, 3), {30, 31}, 100),
        asked({30, 31}, (1, 2, 3), {30, 4}, 300),
        asked({2}, (1, 2, 3), {9}, 200),
        asked({3}, (1, 2, 3), {9}, 200),
    ]
    bound = bound_of(found)
    assert (bound.some, bound.every) == (0.75, 0.5)
    assert (bound.asked, bound.tokens, bound.lines) == (1.0, 200, pytest.approx(1.5))


def test_where_no_picker_is_asked_the_first_six_stand():
    ranked = tuple(range(1, 9))
    bound = bound_of([asked({6}, ranked, set(), 0), asked({7}, ranked, set(), 0)])
    assert (bound.some, bound.asked, bound.tokens) == (0.5, 0.0, 0.0)
