"""Which turns hold an answer, in a file with some wrong labels."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from jitchat.bench.questions import Question, read_labelled
from jitchat.errors import BenchFailed
from tests.bench.support import labelled_sample, question
from tests.transfer.files import brief, locomo_sample, plain_turns, written

if TYPE_CHECKING:
    from pathlib import Path


def asked(folder: Path, *questions: dict[str, object]) -> tuple[Question, ...]:
    (talk,) = read_labelled(written(folder, "f.json", [labelled_sample(*questions)]))
    return talk.questions


def test_evidence_is_named_by_the_position_of_its_turn(tmp_path: Path):
    (found,) = asked(tmp_path, question("What flies?", ["D1:2", "D2:1"], 1))
    same = frozenset((2, 3))
    assert found == Question("What flies?", "multi-hop", same, same, "-")


@pytest.mark.parametrize(
    ("given", "read"), [("Sweden ", "Sweden"), (2022, "2022"), (None, ""), (["a"], "")]
)
def test_a_gold_answer_is_text_whatever_the_file_has(tmp_path: Path, given: object, read: str):
    (found,) = asked(tmp_path, question("?", ["D1:1"]) | {"answer": given})
    assert found.answer == read


@pytest.mark.parametrize(
    ("evidence", "repaired"),
    [
        (["D1:1; D1:2"], {1, 2}),
        (["D1:1 D2:1"], {1, 3}),
        (["D:1:2"], {2}),
        (["D1:02"], {2}),
        (["D"], set()),
        (["D9:9", "D1:1"], {1}),
    ],
)
def test_a_broken_id_is_repaired_and_missed_by_the_strict_reading(
    tmp_path: Path, evidence: list[str], repaired: set[int]
):
    (found,) = asked(tmp_path, question("?", evidence))
    assert found.evidence == repaired
    assert found.strict is None


@pytest.mark.parametrize("evidence", [[], None, 5])
def test_a_question_without_evidence_is_kept_to_be_missed(tmp_path: Path, evidence: object):
    (found,) = asked(tmp_path, question("?", evidence))
    assert found.evidence == frozenset()


def test_adversarial_questions_are_left_out(tmp_path: Path):
    assert len(asked(tmp_path, question("a", ["D1:1"], 5), question("b", ["D1:1"], 3))) == 1


def test_evidence_that_is_one_id_needs_no_list_around_it(tmp_path: Path):
    (found,) = asked(tmp_path, question("?", "D1:2"))
    assert found.evidence == found.strict == {2}


ODD_QUESTIONS: tuple[dict[str, object], ...] = (
    {"question": None},
    {"question": ["a"]},
    {"question": " "},
    {"category": None},
    {"category": "4"},
    {"category": 4.0},
    {"category": True},
    {"category": 0},
    {"category": [4]},
    {"category": {"a": 1}},
)


@pytest.mark.parametrize("odd", ODD_QUESTIONS, ids=brief)
def test_a_question_without_text_or_category_is_left_out_and_counted(
    tmp_path: Path, odd: dict[str, object]
):
    sample = labelled_sample(question("?", ["D1:1"]) | odd, question("What flies?", ["D1:2"]))
    (talk,) = read_labelled(written(tmp_path, "f.json", [sample]))
    assert [each.text for each in talk.questions] == ["What flies?"]
    assert talk.unreadable == 1


def test_questions_of_a_conversation_that_cannot_be_read_are_left_out_and_counted(tmp_path: Path):
    good, bad = (labelled_sample(question("What flies?", ["D1:2"])) for _ in range(2))
    talks = read_labelled(written(tmp_path, "f.json", [good, bad | {"conversation": [1]}]))
    assert [(len(talk.questions), talk.unreadable) for talk in talks] == [(1, 0), (0, 1)]


ASKED = labelled_sample(question("What flies?", ["D1:2"]))
MUTE = {"conversation": {"speaker_a": "Ann", "speaker_b": "Bo"}}


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("{", "is not JSON: "),
        ("", "is empty"),
        (" \n", "is empty"),
        (b"\xff\xfe\xfa\x00[1", "is not JSON: "),
        (b'["\xc3(', "is not JSON: "),
        (b"\0" * 99, "is not JSON: "),
        (json.dumps([ASKED])[:-20], "is not JSON: "),
        ("[" * 200_000, "is nested too deeply"),
        ("[" * 200_000 + "]" * 200_000, "is nested too deeply"),
        ('{"conversation":' * 100_000, "is nested too deeply"),
        (plain_turns(), "is not in LoCoMo's format"),
        (["a", "b"], "is not in LoCoMo's format"),
        ([], "is not in LoCoMo's format"),
        ({"a": 1}, "is not in LoCoMo's format"),
        ("1", "is not in LoCoMo's format"),
        ("null", "is not in LoCoMo's format"),
        ([{"qa": ASKED["qa"]}], "is not in LoCoMo's format"),
        ([ASKED | {"conversation": [1, 2]}], "is not in LoCoMo's format"),
        ([ASKED | MUTE], "contains no turns"),
        ([ASKED | {"conversation": MUTE["conversation"] | {"session_1": {}}}], "contains no turns"),
        ([locomo_sample()], "has no questions"),
        *(([ASKED | {"qa": odd}], "has no questions") for odd in (None, "x", 1, {}, [], [1, None])),
    ],
    ids=brief,
)
def test_another_file_is_refused_with_a_sentence(tmp_path: Path, content: object, told: str):
    path = written(tmp_path, "f.json", content)
    with pytest.raises(BenchFailed) as refused:
        read_labelled(path)
    assert refused.value.what.startswith(f"{path} {told}")
    assert "a list qa of questions" in refused.value.remedy


def test_a_file_that_is_not_there_and_one_that_is_a_folder_are_refused(tmp_path: Path):
    with pytest.raises(BenchFailed, match=r"There is no file .*none\.json\."):
        read_labelled(tmp_path / "none.json")
    with pytest.raises(BenchFailed, match="cannot be read: "):
        read_labelled(tmp_path)


def test_every_label_of_locomo_is_found_but_the_broken_ones(locomo: Path):
    questions = [each for talk in read_labelled(locomo) for each in talk.questions]
    assert len(questions) == 762
    without = [each for each in questions if not each.evidence]
    assert {each.category for each in without} == {"open-domain"}
    assert len(without) == 2
