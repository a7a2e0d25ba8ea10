"""BM25, against values that were computed by hand."""

from __future__ import annotations

from collections import Counter
from math import log, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jitchat.index.lexical import K1, B, Postings, Scores, covered, summed
from tests.examples import examples

documents = st.lists(st.lists(st.sampled_from("abcdef"), max_size=8), min_size=1, max_size=12)
weights = st.dictionaries(st.sampled_from("abcdefg"), st.sampled_from((0.3, 1.0)), max_size=5)


def postings(*texts: str) -> Postings:
    made = Postings()
    for text in texts:
        made.add(text.split())
    return made


def scores(made: Postings, **weights: float) -> Scores:
    return summed(made.matches(weights), len(made))


def test_the_scores_are_those_computed_by_hand():
    """N = 3, lengths 2, 4 and 1, of 12; idf(a) = ln 1.6, idf(d) = ln 2.6667."""
    assert scores(postings("a b", "a a c c", "d"), a=1.0, d=1.0) == pytest.approx(
        [0.228027, 0.253321, 0.510676], abs=1e-6
    )


def test_a_single_word_scores_by_its_frequency_and_the_length():
    assert scores(postings("a b", "a a c c", "d"), a=1.0) == pytest.approx(
        [0.703888, 0.781966, 0.0], abs=1e-6
    )


def test_a_rare_word_is_worth_more_than_a_common_one():
    found = scores(postings("common", "common", "common rare", "rarest"), common=1, rarest=1)
    assert found[3] > 3 * found[0] > 0


def test_nothing_shared_is_nothing():
    made = postings("a", "b")
    assert scores(made, x=1.0).tolist() == [0.0, 0.0]
    assert scores(made).tolist() == [0.0, 0.0]


def test_no_documents_have_no_scores():
    assert scores(Postings(), a=1.0).shape == (0,)
    assert scores(postings("", ""), a=1.0).tolist() == [0.0, 0.0]


def test_it_is_known_which_document_holds_a_stem():
    made = postings("a b", "c", "a")
    numbers = np.arange(4)
    assert made.contains("a", numbers).tolist() == [True, False, True, False]
    assert not made.contains("x", numbers).any()


def test_a_document_that_is_added_is_found_at_once():
    made = postings("a")
    assert scores(made, b=1.0)[0] == 0
    made.add(["b"])
    assert scores(made, b=1.0)[1] > 0


def test_groups_are_scored_as_one_document_each():
    made = postings("a b", "c", "a", "a d")
    groups = made.scores_of_groups({"a": 1.0, "c": 1.0}, np.array([0, 0, 1, 2]), 2)
    assert groups == pytest.approx(scores(postings("a b c", "a"), a=1.0, c=1.0))


def plainly(texts: list[list[str]], wanted: dict[str, float]) -> list[float]:
    """BM25 as in the paper, except for the length, divided by its maximum."""
    count, brief = len(texts), 12  # none of the texts is longer than 8
    rarity = {
        stem: log(1 + (count - having + 0.5) / (having + 0.5))
        for stem in wanted
        for having in [sum(stem in text for text in texts)]
    }
    best = sum(wanted[stem] * rarity[stem] * (K1 + 1) for stem in wanted)
    found = []
    for text in texts:
        times, damping = Counter(text), K1 * (1 - B + B * sqrt(len(text) / brief))
        gains = (
            weight * rarity[stem] * times[stem] * (K1 + 1) / (times[stem] + damping)
            for stem, weight in wanted.items()
        )
        found.append(sum(gains) / best if best else 0.0)
    return found


@examples(24)
@given(documents, weights)
def test_every_score_is_the_papers_and_between_nothing_and_one(texts, wanted):
    made = Postings()
    for text in texts:
        made.add(text)
    found = scores(made, **wanted)
    assert found.tolist() == pytest.approx(plainly(texts, wanted), abs=1e-5)
    assert all(0 <= score < 1 for score in found)


def test_in_a_long_draft_the_most_valuable_words_are_the_measure():
    made = postings("crane relay port", *["the and of to in is it"] * 30)
    rare = dict.fromkeys(("crane", "relay", "port"), 1.0)
    unseen = {f"word{number}": 0.9 for number in range(5)}
    short = scores(made, **rare, **unseen)
    long = scores(
        made, **rare, **unseen, **dict.fromkeys(["the", "and", "of", "to", "in", "is", "it"], 1.0)
    )
    assert long[0] == short[0]


def test_a_document_covers_the_share_of_the_query_that_it_has_in_rarity():
    made = postings("a b", "a", "c")
    found = covered(made.matches({"a": 1.0, "b": 1.0, "x": 1.0}), 3)
    whole = log(1 + 1.5 / 2.5) + log(1 + 2.5 / 1.5) + log(1 + 3.5 / 0.5)
    assert found == pytest.approx(
        [1 - log(1 + 3.5 / 0.5) / whole, log(1 + 1.5 / 2.5) / whole, 0.0], abs=1e-6
    )


def test_of_a_long_query_the_stems_that_are_worth_most_are_kept():
    made = postings("a b", "a c", "a b d")
    weights = {"a": 1.0, "b": 0.3, "c": 1.0, "d": 0.5}
    assert made.rarest(weights, 2) == {"c": 1.0, "d": 0.5}
    assert made.rarest(weights, 9) == weights


def test_stems_that_never_occur_push_none_out_and_count_no_more_than_the_others():
    made = postings(*("a b c d e" for _ in range(2)), *("other" for _ in range(20)))
    seen, unseen = dict.fromkeys("abcde", 1.0), dict.fromkeys(map(str, range(90)), 1.0)
    kept = made.rarest({**unseen, **seen}, 5)
    assert {stem: kept[stem] for stem in seen} == seen
    best = summed(made.matches(kept), 22).max()
    assert best >= 0.5 * summed(made.matches(seen), 22).max()
    assert made.rarest({"a": 1.0, "x": 1.0}, 5) == {"a": 1.0, "x": 1.0}


def test_what_is_left_out_matches_no_longer():
    matches = postings("a", "a", "b").matches({"a": 1.0})
    left = [match.without(np.array([True, False, False])) for match in matches]
    assert summed(left, 3).tolist() == [0, pytest.approx(summed(matches, 3)[1]), 0]
