"""Intervals of means, and modes compared on questions that both answered."""

from __future__ import annotations

import pytest

from jitchat.bench.proportions import mean_interval
from jitchat.bench.questions import Question
from jitchat.bench.scores import Answer, paired_scores
from jitchat.values import Mode


def test_an_interval_holds_the_mean_and_is_as_wide_as_the_normal_one():
    low, high = mean_interval([0.0, 1.0] * 200)
    assert (low, high) == pytest.approx((0.451, 0.549), abs=0.006)
    assert mean_interval([0.0, 1.0] * 200) == (low, high)


@pytest.mark.parametrize("values", [[0.0] * 50, [0.0, 1.0], []])
def test_no_interval_is_given_where_the_values_cannot_tell(values: list[float]):
    assert mean_interval(values) is None


def test_modes_are_compared_on_the_questions_that_both_answered():
    asked = [
        Question("Which kite?", "single-hop", frozenset(), None, answer)
        for answer in ("red", "red", "blue", "blue") * 5
    ]
    recency = [Answer(each, Mode.RECENCY, "red") for each in asked]
    jit = [Answer(each, Mode.JIT, "blue") for each in asked[2:]] + [
        Answer(each, Mode.JIT, None) for each in asked[:2]
    ]
    (pair,) = paired_scores([*recency, *jit])
    assert pair["modes"] == (Mode.RECENCY, Mode.JIT)
    assert pair["n"] == 18
    assert pair["f1"] == pytest.approx((8 / 18, 10 / 18))
    assert pair["difference"] == pytest.approx(2 / 18)
    low, high = pair["interval"]
    assert low < 0 < pair["difference"] < high


def test_nothing_is_compared_where_no_question_was_answered_in_both():
    one, other = (Question(text, "temporal", frozenset(), None, "May") for text in "ab")
    answered = [Answer(one, Mode.FULL, "May"), Answer(other, Mode.JIT, "May")]
    assert list(paired_scores(answered)) == []
