"""The heuristic picker: what is worth loading, and why the rest is not."""

from __future__ import annotations

import pytest

from jitchat.index.retrieve import FLOOR, floor_of, pick
from jitchat.values import Candidate, IndexEntry


def shortlist(*scores: float, lines: dict[int, str] | None = None) -> tuple[Candidate, ...]:
    """Candidates at positions 1, 2, 3 … with these scores, each with a line of its own."""
    return tuple(
        Candidate(
            turn, turn, score, (("lexical", score),), ("gateway",),
            IndexEntry(turn, (lines or {}).get(turn, f"line{turn} about thing{turn} and no other")),
        )
        for turn, score in enumerate(scores, start=1)
    )  # fmt: skip


def test_every_candidate_above_the_floor_is_a_hit_best_first():
    assert [hit.turn for hit in pick(shortlist(0.6, 0.5, 0.3, 0.2))] == [1, 2, 3]


def test_chance_words_alone_are_no_hit():
    assert pick(shortlist(FLOOR - 0.001)) == ()
    assert pick(()) == ()


def test_what_is_worth_less_than_three_tenths_of_the_best_is_no_hit():
    listed = shortlist(4.0, 1.3, 1.1)
    assert floor_of(listed) == pytest.approx(1.2)
    assert [hit.turn for hit in pick(listed)] == [1, 2]
    assert floor_of(()) == floor_of(shortlist(0.3)) == FLOOR


def test_lines_that_are_alike_are_hits_each():
    line = "The gateway of staging listens on port 8443."
    assert [hit.turn for hit in pick(shortlist(0.9, 0.8, lines={1: line, 2: line}))] == [1, 2]
