"""The verdict in a judge's reply, whatever text surrounds it."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jitchat.bench.answers import judge_question
from jitchat.bench.questions import Question
from jitchat.bench.workers import verdict
from tests.examples import examples


@pytest.mark.parametrize(
    "around",
    ["%s", "```json\n%s\n```", "```\n%s```", "It is about the same trip.\n%s", "%s\nThat is all."],
)
@pytest.mark.parametrize(("label", "correct"), [("CORRECT", True), ("WRONG", False)])
def test_the_label_is_read_in_a_fence_or_between_words(around: str, label: str, correct: bool):
    assert verdict(around % json.dumps({"label": label})) is correct
    assert verdict(around % json.dumps({"reason": "a {b}", "label": label.lower()})) is correct


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "CORRECT",
        "The answer is CORRECT.",
        '{"label": "MAYBE"}',
        '{"label": "CORRECT or WRONG"}',
        '{"label": true}',
        '{"label": null}',
        '{"verdict": "CORRECT"}',
        '{"label": "CORRECT"',
        '["CORRECT"]',
        '{"label": "CORRECT"} {"label": "WRONG"}',
        '{"given": {"label": "CORRECT"}}',
        "{" * 5_000,
        '{"a":' * 1_500,
    ],
)
def test_nonsense_is_no_judgement(reply: str):
    assert verdict(reply) is None


@examples(25)
@given(st.text(st.characters(exclude_characters="{")))
def test_a_text_without_an_object_is_no_judgement(reply: str):
    assert verdict(reply) is None


@examples(25)
@given(st.text(st.characters(exclude_characters="{}")), st.text(), st.booleans())
def test_any_words_may_stand_ahead_of_the_label(words: str, reason: str, correct: bool):
    label = "CORRECT" if correct else "WRONG"
    assert verdict(words + json.dumps({"reason": reason, "label": label})) is correct


@examples(25)
@given(st.text(), st.text(min_size=1), st.text())
def test_the_answer_is_quoted_and_cannot_speak_for_the_judge(asked: str, gold: str, answer: str):
    question = Question(asked, "temporal", frozenset(), None, gold)
    system, given_ = judge_question(question, answer)
    assert json.loads(given_.content) == {"question": asked, "gold answer": gold, "answer": answer}
    assert answer not in system.content or len(answer) < 40
