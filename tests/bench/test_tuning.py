"""Weights chosen with one conversation left out."""

from __future__ import annotations

import pytest

from jitchat.index.scoring import WEIGHTS
from tests.benchmarks.tuning import left_out, overall, tries


def test_what_is_told_of_a_conversation_had_no_say_in_it():
    best_on_the_first = [(1.0, 1.0), (0.0, 0.0)]
    best_on_the_second = [(0.0, 0.0), (1.0, 1.0)]
    found = left_out([best_on_the_first, best_on_the_second], [0.5, 0.5])
    assert found == [(0.0, 0.0), (0.0, 0.0)]


def test_a_conversation_counts_by_its_share():
    assert overall([(0.8, 0.4), (0.4, 0.0)], [0.75, 0.25]) == pytest.approx((0.7, 0.3))


def test_the_weights_in_use_are_not_among_those_that_are_tried():
    made = list(tries(30))
    assert WEIGHTS not in made
    assert len(set(made)) == len(made) > 20
    assert all(each.doubted < each.believed for each in made)
