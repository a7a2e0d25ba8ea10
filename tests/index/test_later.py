"""Of turns that match equally well, the newest is ranked first."""

from __future__ import annotations

import pytest

from jitchat.index.later import newest_first
from jitchat.values import Candidate, IndexEntry

WORTHS = {"wifi": 2.0, "password": 3.0, "guest": 0.5}
ALL = ("wifi", "password")


def ranked(*rows: tuple[int, float, tuple[str, ...], tuple[str, ...]]) -> list[Candidate]:
    """Candidates from each turn's position, score, matched words and names."""
    return [
        Candidate(turn, rank, score, (("lexical", score),), words, IndexEntry(turn, "", names))
        for rank, (turn, score, words, names) in enumerate(rows, start=1)
    ]


def order(*rows: tuple[int, float, tuple[str, ...], tuple[str, ...]]) -> list[int]:
    return [row.turn for row in newest_first(ranked(*rows), WORTHS)]


def test_the_newest_that_matches_as_well_comes_right_before_the_better_one():
    assert order((9, 1.0, ALL, ()), (20, 0.9, (*ALL, "guest"), ()), (30, 0.4, ALL, ())) == [
        20, 9, 30,
    ]  # fmt: skip


def test_what_lacks_a_word_of_worth_does_not_match_as_well():
    assert order((9, 1.0, ALL, ()), (20, 0.9, ("wifi",), ())) == [9, 20]
    assert order((9, 1.0, (*ALL, "guest"), ()), (20, 0.9, ALL, ())) == [20, 9]


def test_an_identifier_is_not_corrected_by_another():
    worths = {"locker": 5.0, "k7q2-88xa": 0.1}
    rows = (9, 1.0, tuple(worths), ()), (20, 0.9, ("locker",), ())
    assert [row.turn for row in newest_first(ranked(*rows), worths)] == [9, 20]


def test_a_turn_about_somebody_else_is_not_moved_up():
    assert order((9, 1.0, ALL, ("room 12",)), (20, 0.9, ALL, ("Bert", "room 14"))) == [9, 20]


def test_what_names_the_same_comes_first():
    assert order((9, 1.0, ALL, ("Lisbon", "10:05")), (20, 0.9, ALL, ("LISBON", "11:20"))) == [20, 9]


def test_further_down_each_is_put_before_what_it_may_correct():
    assert order(
        (5, 1.0, ("guest",), ()), (9, 0.7, ALL, ()), (20, 0.6, ALL, ()), (3, 0.58, ALL, ())
    ) == [5, 20, 9, 3]  # fmt: skip


def test_none_takes_the_place_of_the_first_six():
    rows = [(number, 1.0 - number / 100, (), ()) for number in (6, 5, 4, 3, 2)]
    assert order((1, 1.0, ALL, ()), *rows, (50, 0.9, ALL, ()))[-1] == 50


def test_the_score_and_the_rank_say_what_was_done():
    first, second = newest_first(ranked((9, 1.0, ALL, ()), (20, 0.9, ALL, ())), WORTHS)
    assert (first.rank, first.parts) == (1, (("lexical", 0.9), ("later", pytest.approx(0.1))))
    assert (second.rank, second.score, second.parts[-1]) == (2, 1.0, ("later", 0.0))
    assert first.score == pytest.approx(sum(value for _, value in first.parts))


def test_nothing_ranked_is_nothing():
    assert newest_first([], WORTHS) == []
