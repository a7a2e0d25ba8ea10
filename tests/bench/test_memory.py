"""The memory benchmark: two memories, the same sessions, and what their windows hold."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from jitchat.bench.memory import QuestionType, sessions_of, type_of
from jitchat.bench.questions import ABSTENTION, LOCOMO, LONGMEMEVAL, Question, read_labelled
from jitchat.values import Role, Turn
from tests.bench.labelled import instance
from tests.bench.support import labelled_sample, question
from tests.transfer.files import written

if TYPE_CHECKING:
    from pathlib import Path

NOON = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)


def test_questions_that_no_turn_answers_are_apart(tmp_path: Path):
    nothing = question("What did he say of the moon?", ["D1:2"]) | {"category": 5}
    found = read_labelled(
        written(tmp_path, "l.json", [labelled_sample(nothing, question("What kite?", ["D1:2"]))]),
        LOCOMO,
    )
    assert [each.text for each in found[0].abstentions] == ["What did he say of the moon?"]
    assert len(found[0].questions) == 1
    instances = [instance(), instance(question_id="q_abs", question="Where is my boat?")]
    both = read_labelled(written(tmp_path, "m.json", instances), LONGMEMEVAL)
    assert both[0].abstentions == ()
    assert [each.text for each in both[1].abstentions] == ["Where is my boat?"]


@pytest.mark.parametrize(
    ("category", "text", "kind"),
    [
        ("single-hop", "What is it?", QuestionType.SINGLE_FACT),
        ("single-session-user", "What is it?", QuestionType.SINGLE_FACT),
        ("single-hop", "How many are there?", QuestionType.COUNTING),
        ("multi-session", "What is it?", QuestionType.COUNTING),
        ("temporal", "When was it?", QuestionType.TIMELINE),
        ("temporal-reasoning", "What came first?", QuestionType.TIMELINE),
        ("knowledge-update", "How many now?", QuestionType.KNOWLEDGE_UPDATE),
        (ABSTENTION, "How many?", QuestionType.ABSTENTION),
        ("open-domain", "Why?", QuestionType.OTHER),
    ],
)
def test_a_question_has_the_type_that_its_category_and_its_words_say(category, text, kind):
    assert type_of(Question(text, category, frozenset(), None)) is kind


def test_a_session_ends_where_nothing_was_said_for_twenty_minutes():
    minutes = (0, 5, 30, 31, None, 60)
    turns = [
        Turn(at, Role.USER, "x", None if late is None else NOON + timedelta(minutes=late))
        for at, late in enumerate(minutes, start=1)
    ]
    assert [[turn.position for turn in each] for each in sessions_of(turns)] == [
        [1, 2],
        [3, 4, 5],
        [6],
    ]
