"""The synthetic talk: the same in every run, varied, and with one fact in it."""

from __future__ import annotations

from itertools import pairwise
from statistics import fmean

import pytest

from jitchat.bench.haystack import NEEDLE, PHRASINGS, Haystack, Length, other_questions
from jitchat.text.words import content_words
from jitchat.values import Role


def test_it_is_the_same_in_every_run():
    assert list(Haystack(200).turns()) == list(Haystack(200).turns())
    assert other_questions(10) == other_questions(10)


@pytest.mark.parametrize(("size", "place"), [(1, 1), (4, 1), (20, 4), (60, 12)])
@pytest.mark.parametrize("length", Length)
def test_the_fact_is_said_once_a_fifth_of_the_way_in(size: int, place: int, length: Length):
    talk = Haystack(size, length)
    turns = list(talk.turns())
    assert len(turns) == size
    assert [turn.position for turn in turns if NEEDLE in turn.content] == [place] == [talk.needle]


@pytest.mark.parametrize(
    ("length", "least", "most"),
    [(Length.SHORT, 1, 4), (Length.USUAL, 20, 50), (Length.LONG, 1300, 1700)],
)
def test_turns_are_as_long_as_is_said(length: Length, least: int, most: int):
    assert least < fmean(len(t.content.split()) for t in Haystack(100, length).turns()) < most


def test_the_user_and_the_assistant_take_turns_with_pauses_between_stretches():
    turns = list(Haystack(300).turns())
    assert {turn.role for turn in turns[::2]} == {Role.USER}
    assert {turn.role for turn in turns[1::2]} == {Role.ASSISTANT}
    steps = [later.created_at - sooner.created_at for sooner, later in pairwise(turns)]
    assert min(steps).total_seconds() > 0
    assert 4 < sum(step.total_seconds() > 4 * 3600 for step in steps) < 30


def test_hardly_two_turns_are_alike_and_new_words_keep_coming():
    turns = [turn.content for turn in Haystack(2000).turns()]
    assert len(set(turns)) > 1990
    early = {word for content in turns[:1000] for word in content_words(content)}
    late = {word for content in turns[1000:] for word in content_words(content)}
    assert len(late - early) > 100


def test_each_way_to_ask_shares_some_words_with_the_fact_and_not_all():
    fact = set(content_words(NEEDLE))
    for asked in (set(content_words(each)) for each in PHRASINGS):
        assert asked & fact
        assert fact - asked


def test_the_words_of_the_fact_are_said_elsewhere_too():
    turns = [turn.content for turn in Haystack(2000).turns() if NEEDLE not in turn.content]
    said = {word for content in turns for word in content_words(content)}
    assert {"ingrid", "spare", "key", "boat", "shed", "flowerpot"} <= said
