"""How far matches of words and vectors are trusted not to be chance."""

from __future__ import annotations

import numpy as np
import pytest

from jitchat.index.lexical import Postings, covered
from jitchat.index.scoring import WEIGHTS, boost_outliers, lexical_confidence


def trust(question: str, *turns: str, crowd: int = 500, highest: float = 0.0) -> float:
    """Trust in the words of a question, letters for stems, over a crowd that has none of them."""
    made = Postings()
    for turn in [*turns, *("z" for _ in range(crowd))]:
        made.add(turn.split())
    matches = made.matches(dict.fromkeys(question.split(), 1.0))
    deviations = np.full(len(made), highest, dtype=np.float32)
    return float(lexical_confidence(matches, covered(matches, len(made)), deviations, WEIGHTS))


def test_words_that_one_turn_has_together_are_trusted():
    assert trust("a b c", "a b c x") == 1.0


def test_words_that_stand_alone_come_by_chance():
    assert trust("a b c", "a x", "b y") == pytest.approx(0.3)


def test_words_that_stand_alone_count_for_nothing_beside_a_vector_that_stands_out():
    assert trust("a b c", "a x", "b y", highest=7.0) == 0.0
    assert trust("a b c", "a b c x", highest=7.0) == 1.0


def test_of_few_turns_it_is_less_likely_that_words_match_by_chance():
    assert trust("a b c", "a x", "b y", crowd=48) == pytest.approx(0.93)


def test_the_only_word_of_a_question_is_all_of_it():
    assert trust("a", "a x") == 1.0


def test_trust_grows_with_what_one_turn_has_of_the_question():
    grown = [trust("a b c d", "a"), trust("a b c d", "a b"), trust("a b c d", "a b c")]
    assert grown == sorted(set(grown))


def test_a_question_none_of_whose_words_occur_is_for_the_vectors():
    assert trust("p q") == pytest.approx(0.3)


def test_a_vector_that_stands_out_by_far_counts_more_than_in_proportion():
    near, far = boost_outliers(np.array([4.0, 6.0], dtype=np.float32), WEIGHTS)
    assert (near, far) == (4.0, 12.0)
