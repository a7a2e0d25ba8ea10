"""Labelled conversations in LongMemEval's and the plain format, detected by content."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from jitchat.bench.questions import (
    LOCOMO,
    LabelledConversation,
    Question,
    label_warnings,
    read_labelled,
    with_evidence,
)
from jitchat.errors import BenchFailed
from tests.bench.labelled import asked, conversation, instance, turn
from tests.bench.support import labelled_sample, question
from tests.transfer.files import brief, written

if TYPE_CHECKING:
    from pathlib import Path


def read(folder: Path, *items: object) -> list[LabelledConversation]:
    return read_labelled(written(folder, "f.json", list(items)))


def test_evidence_of_a_labelled_conversation_is_found_by_the_ids_of_its_turns(tmp_path: Path):
    (talk,) = read(tmp_path, conversation(asked("What is my locker's code?", 0, 1)))
    both = frozenset((1, 2))
    (only,) = talk.questions
    assert only == Question("What is my locker's code?", "extraction", both, both)
    assert talk.found.id == "c1"
    assert talk.found.turns[0].created_at == datetime(2024, 3, 15, tzinfo=UTC)


def test_ids_may_be_texts_and_a_single_id_needs_no_list(tmp_path: Path):
    odd = {
        "turns": [turn("a-1", "Hi"), turn("b", "Ho")],
        "questions": [asked("?") | {"evidence": "b"}],
    }
    (talk,) = read(tmp_path, odd)
    assert talk.questions[0].evidence == {2}
    assert talk.found.id == "labelled-1"


def test_an_id_that_no_turn_has_is_dropped_and_told(tmp_path: Path):
    talks = read(tmp_path, conversation(asked("a", 0, 999), asked("b", 999), asked("c")))
    assert [each.evidence for each in talks[0].questions] == [{1}, set(), set()]
    assert list(label_warnings(talks)) == [
        "without an existing evidence turn, missed in any case: 2 of 3 questions",
        "with an unknown evidence id, missed in the strict measures: 2 of 3 questions",
    ]
    assert [each.text for each in with_evidence(talks)[0].questions] == ["a"]


@pytest.mark.parametrize("category", [None, 4, "", " ", ["a"]])
def test_a_question_without_a_category_that_is_text_is_left_out(tmp_path: Path, category: object):
    (talk,) = read(tmp_path, conversation(asked("a", 0, category=category), asked("b", 0)))
    assert [each.text for each in talk.questions] == ["b"]
    assert talk.unreadable == 1


def test_a_category_may_not_fill_the_screen(tmp_path: Path):
    (talk,) = read(tmp_path, conversation(asked("a", 0, category="long\n" * 99)))
    assert len(talk.questions[0].category) <= 40


@pytest.mark.parametrize("odd", [None, 5, "x", [], {"turns": 5, "questions": {}}], ids=brief)
def test_what_is_no_conversation_among_labelled_ones_is_passed_over(tmp_path: Path, odd: object):
    talks = read(tmp_path, odd, conversation(asked("a", 0)))
    assert [len(talk.questions) for talk in talks] == [0, 1]


def test_an_instance_of_longmemeval_is_a_conversation_with_one_question(tmp_path: Path):
    (talk,) = read(tmp_path, instance())
    assert [each.content for each in talk.found.turns] == [
        "Hello.",
        "I keep my bike in the yard.",
        "Any idea for dinner?",
        "The bike is in the cellar now.",
        "Good, it is dry there.",
    ]
    assert talk.found.turns[3].created_at == datetime(2023, 5, 30, 23, 40, tzinfo=UTC)
    assert talk.asked_at == datetime(2023, 6, 1, 9, 15, tzinfo=UTC)
    both = frozenset((2, 4))
    assert talk.questions == (
        Question("Where do I keep my bike now?", "knowledge-update", both, both, "in the cellar"),
    )


def test_sessions_without_a_date_stay_in_the_order_of_the_file(tmp_path: Path):
    dates = ["2023/05/30 (Tue) 23:40", "some day"]
    (talk,) = read(tmp_path, instance(haystack_dates=dates))
    assert talk.found.turns[0].content == "The bike is in the cellar now."
    assert [bool(each.created_at) for each in talk.found.turns] == [True] * 2 + [False] * 3
    assert talk.questions[0].evidence == {1, 5}


def test_a_turn_that_was_left_out_is_no_evidence(tmp_path: Path):
    mute = [
        [{"role": "user", "content": " ", "has_answer": True}, {"role": "user", "content": "a"}]
    ]
    (talk,) = read(tmp_path, instance(haystack_sessions=mute))
    assert talk.questions[0].evidence == frozenset()
    assert talk.questions[0].strict is None


def test_questions_that_have_no_answer_are_left_out(tmp_path: Path):
    talks = read(tmp_path, instance(), instance(question_id="gpt4_1_abs"))
    assert [(len(talk.questions), talk.unreadable) for talk in talks] == [(1, 0), (0, 0)]


@pytest.mark.parametrize(
    "odd",
    [
        {"haystack_sessions": None},
        {"haystack_sessions": [[None, 5, {"role": "user"}], "x", {}]},
        {"question": None},
        {"question_type": 7},
    ],
    ids=brief,
)
def test_an_instance_that_asks_nothing_is_counted(tmp_path: Path, odd: dict[str, object]):
    talks = read(tmp_path, instance(), instance(**odd))
    assert [(len(talk.questions), talk.unreadable) for talk in talks] == [(1, 0), (0, 1)]


def test_a_format_is_told_by_its_content_and_not_by_its_name(tmp_path: Path):
    files = {
        "locomo-like.json": [labelled_sample(question("What flies?", ["D1:2"]))],
        "beam.json": [instance()],
        "longmemeval.json": [conversation(asked("a", 0))],
    }
    read_in = [read_labelled(written(tmp_path, name, value)) for name, value in files.items()]
    assert [talks[0].questions[0].category for talks in read_in] == [
        "single-hop", "knowledge-update", "extraction",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ([{"turns": [], "questions": [asked("a", 0)]}], "contains no turns"),
        ([conversation()], "has no questions with a text and a category"),
        ([instance(haystack_sessions=[])], "contains no turns"),
        ([instance(question_id="1_abs")], "has no questions with a text and a category"),
        (
            [{"turns": []}],
            "is not in LoCoMo's format or LongMemEval's format or the labelled format",
        ),
        (json.dumps([conversation(asked("a", 0))])[:-9], "is not JSON: "),
    ],
    ids=brief,
)
def test_a_file_that_asks_nothing_is_refused_with_a_sentence(
    tmp_path: Path, content: object, told: str
):
    path = written(tmp_path, "f.json", content)
    with pytest.raises(BenchFailed) as refused:
        read_labelled(path)
    assert refused.value.what.startswith(f"{path} {told}")
    assert refused.value.remedy.startswith("Give LoCoMo's file: ")


def test_where_one_format_is_wanted_the_others_are_refused(tmp_path: Path):
    path = written(tmp_path, "f.json", [conversation(asked("a", 0))])
    with pytest.raises(BenchFailed, match="is not in LoCoMo's format"):
        read_labelled(path, LOCOMO)
