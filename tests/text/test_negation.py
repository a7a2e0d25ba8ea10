"""Negations as stems."""

from __future__ import annotations

import pytest

from jitchat.text.negation import negations, spelt_out, stems_and_negations
from jitchat.text.words import stems

SHARED = (
    ("what did I say I do not want?", "I really don't want a cat."),
    ("which library did we decide against?", "We decided against Celery."),
    ("which database do we no longer use?", "We dropped MongoDB."),
    ("what did we agree not to use?", "Redux was ruled out."),
    ("what don't I like?", "I hate coriander."),
    ("what must you never do?", "It is forbidden to smoke."),
    ("who is not coming?", "Marek isn't coming to the reunion."),
)


@pytest.mark.parametrize(("question", "turn"), SHARED)
def test_a_question_and_its_answer_share_what_is_not_so(question: str, turn: str):
    assert set(negations(question)) & set(negations(turn))


@pytest.mark.parametrize("text", ["I want a cat.", "We use Redis.", "He comes.", "Nothing else."])
def test_what_is_so_is_no_negation(text: str):
    assert negations(text) == []


def test_a_turn_is_found_by_its_words_and_by_what_it_negates():
    text = "We do not use Redux."
    assert stems_and_negations(text) == [*stems(text), "not-use", "~rejected"]
    assert [spelt_out(each) for each in negations(text)] == ["not use", "rejected"]


def test_in_other_languages_nothing_is_negated():
    assert stems_and_negations("Das ist nicht die Rechnung.") == stems(
        "Das ist nicht die Rechnung."
    )
