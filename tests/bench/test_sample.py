"""A sample of labelled questions keeps each category's share, and is the same on any machine."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest

from jitchat.bench.questions import CATEGORIES, LabelledConversation, Question, sampled
from jitchat.transfer.turns import FileConversation


def talks_of(chance: Random) -> list[LabelledConversation]:
    """Some conversations, each with questions of any category; none, at times."""
    names = list(CATEGORIES.values())
    return [
        LabelledConversation(
            FileConversation(f"talk {at}", ""),
            tuple(
                Question(f"{at}.{place}?", chance.choice(names), frozenset(), None)
                for place in range(chance.randrange(40))
            ),
        )
        for at in range(chance.randrange(1, 6))
    ]


def texts(talks: list[LabelledConversation]) -> list[str]:
    return [question.text for talk in talks for question in talk.questions]


def counts(talks: list[LabelledConversation]) -> Counter[str]:
    return Counter(question.category for talk in talks for question in talk.questions)


@pytest.mark.parametrize("number", range(40))
def test_a_sample_has_its_size_and_the_share_of_each_category(number: int):
    chance = Random(number)
    talks = talks_of(chance)
    whole, size = counts(talks), chance.randrange(1, 60)
    drawn = sampled(talks, size, number)
    assert len(texts(drawn)) == min(size, whole.total())
    assert [talk.found for talk in drawn] == [talk.found for talk in talks]
    wanted = set(texts(drawn))
    assert texts(drawn) == [text for text in texts(talks) if text in wanted]
    for name, asked in counts(drawn).items():
        assert abs(asked - min(size, whole.total()) * whole[name] / whole.total()) < 1
    assert sampled(talks, size, number) == drawn


def test_a_seed_draws_the_same_questions_on_any_machine_and_another_draws_others():
    talks = [
        LabelledConversation(
            FileConversation("talk", ""),
            tuple(Question(f"{place}", "temporal", frozenset(), None) for place in range(100)),
        )
    ]
    drawn = texts(sampled(talks, 5, 1))
    assert drawn == ["6", "20", "21", "73", "98"]
    assert set(drawn) < set(texts(sampled(talks, 20, 1)))
    assert drawn != texts(sampled(talks, 5, 2))
