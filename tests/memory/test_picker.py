"""The heuristic picker: what is worth loading, and why the rest is not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from jitchat.memory.index.picker import FLOOR, floor_of, pick
from jitchat.turn import Candidate, IndexEntry


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
    hits, spared = pick(shortlist(0.6, 0.5, 0.3, 0.2))
    assert [hit.turn for hit in hits] == [1, 2, 3]
    assert spared == ()


def test_chance_words_alone_are_no_hit():
    assert pick(shortlist(FLOOR - 0.001)) == ((), ())
    assert pick(()) == ((), ())


def test_what_is_worth_less_than_three_tenths_of_the_best_is_no_hit():
    listed = shortlist(4.0, 1.3, 1.1)
    assert floor_of(listed) == pytest.approx(1.2)
    assert [hit.turn for hit in pick(listed)[0]] == [1, 2]
    assert floor_of(()) == floor_of(shortlist(0.3)) == FLOOR


def test_a_turn_that_says_what_a_better_one_says_is_spared():
    said = "The gateway of staging listens on port 8443."
    again = "Gateway of staging: listens on port 8443!"
    hits, spared = pick(shortlist(0.9, 0.8, 0.7, lines={1: said, 3: again}))
    assert [hit.turn for hit in hits] == [1, 2]
    assert [(hit.turn, hit.reason) for hit in spared] == [(3, "says what #1 says")]


def test_of_turns_that_say_the_same_the_one_that_was_said_first_is_the_hit():
    said = "The gateway of staging listens on port 8443."
    listed = shortlist(0.9, 0.8, lines={1: said, 2: said})
    later, earlier = replace(listed[0], turn=7), replace(listed[1], turn=3)
    hits, spared = pick((later, earlier))
    assert [(hit.turn, hit.score) for hit in hits] == [(3, 0.9)]
    assert [(hit.turn, hit.reason) for hit in spared] == [(7, "says what #3 says")]


def test_short_lines_are_not_taken_for_each_other():
    hits, spared = pick(shortlist(0.9, 0.8, lines={1: "Port 8443.", 2: "port 8443"}))
    assert len(hits) == 2
    assert spared == ()
