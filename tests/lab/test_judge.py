"""A model that judges what no rule finds right."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jitchat.errors import Unreachable
from jitchat.lab.grade import CORRECT, Judge, Ruling, grade, judge_messages
from jitchat.providers.provider import Options
from tests.examples import examples
from tests.lab.known import FACTS
from tests.support import ScriptedProvider

SPELT = "It is the number seven thousand four hundred and forty-three."
WRONG = Ruling(is_right=False, rule="never says 7443")


async def judged(*script: object, name: str = "padlock", answer: str = SPELT) -> tuple[Ruling, int]:
    """Have an answer judged; tells the ruling and how often the model was asked."""
    provider = ScriptedProvider(script)
    judge = Judge(provider, Options())
    fact = FACTS[name]
    return await judge.ruling(fact, answer, grade(fact, answer)), len(provider.requests)


async def test_its_word_overrides_a_rule_that_found_the_answer_wrong():
    assert await judged('{"label": ', '"CORRECT"}') == (Ruling(is_right=True, rule=CORRECT), 1)


@pytest.mark.parametrize(
    "reply",
    [
        '{"label": "WRONG"}',
        "CORRECT",
        "I would say that this is correct.",
        '{"label": "CORRECT"} {"label": "WRONG"}',
        "",
        '{"label": "CORRECT"}' + " " * 30_000,
    ],
)
async def test_the_rule_stands_where_it_agrees_or_says_nothing(reply: str):
    assert await judged(reply) == (WRONG, 1)


@pytest.mark.parametrize(
    ("name", "answer"), [("padlock", "7443"), ("padlock", ""), ("jam", " \n"), ("jam", "four")]
)
async def test_it_is_not_asked_about_a_right_answer_or_none(name: str, answer: str):
    its, asked = await judged('{"label": "CORRECT"}', name=name, answer=answer)
    assert (its, asked) == (grade(FACTS[name], answer), 0)


async def test_a_model_that_cannot_be_asked_is_an_error():
    with pytest.raises(Unreachable):
        await judged(Unreachable("It is gone.", "Start it."))


@examples(20)
@given(st.text(), st.sampled_from(sorted(FACTS)))
def test_an_answer_is_quoted_and_cannot_speak_for_the_judge(answer: str, name: str):
    fact = FACTS[name]
    system, asked = judge_messages(fact, answer)
    assert json.loads(asked.content) == {
        "question": fact.question,
        "expected": fact.expected,
        "not the answer": list(fact.wrong),
        "answer": answer,
    }
    assert system == judge_messages(fact, "")[0]


def test_it_is_told_what_is_strict_about_a_kind():
    told = {name: judge_messages(FACTS[name], "")[0].content for name in ("pin", "wifi", "court")}
    assert len(set(told.values())) == 3
    assert "to the letter" in told["wifi"]
    assert "nothing was said" in told["court"]
    assert all('{"label": "CORRECT"}' in each and "{{" not in each for each in told.values())
