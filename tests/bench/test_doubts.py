"""Warnings about parts of a labelled file that cannot be measured; none for a complete file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jitchat.bench.questions import label_warnings, read_labelled
from tests.bench.support import labelled_sample, question
from tests.transfer.files import written

if TYPE_CHECKING:
    from pathlib import Path

WHOLE = question("What flies?", ["D1:2"])


def told_of(folder: Path, *samples: object) -> list[str]:
    return list(label_warnings(read_labelled(written(folder, "f.json", list(samples)))))


def test_a_file_that_is_whole_is_not_doubted(tmp_path: Path):
    adversarial = question("Who flew?", ["D1:1"], 5)
    assert told_of(tmp_path, labelled_sample(WHOLE, adversarial)) == []


def test_evidence_that_does_not_exist_is_told(tmp_path: Path):
    unknown, half = question("a", ["D9:99"]), question("b", ["D1:1", "D9:99"])
    nameless = question("c", [])
    assert told_of(tmp_path, labelled_sample(WHOLE, unknown, half, nameless)) == [
        "without an existing evidence turn, missed in any case: 2 of 4 questions",
        "with an unknown evidence id, missed in the strict measures: 2 of 4 questions",
    ]


def test_evidence_that_is_no_id_is_told(tmp_path: Path):
    odd = [
        question("a", evidence) for evidence in (5, [["D1:1"]], {"a": "D1:1"}, ["D" + "1" * 9_000])
    ]
    assert told_of(tmp_path, labelled_sample(WHOLE, *odd)) == [
        "without an existing evidence turn, missed in any case: 4 of 5 questions",
        "with an unknown evidence id, missed in the strict measures: 4 of 5 questions",
    ]


def test_turns_and_questions_that_cannot_be_read_are_told(tmp_path: Path):
    sample = labelled_sample(WHOLE, {"question": "What?"}, question("", ["D1:1"]))
    sample["conversation"]["session_2"] += [7, {"speaker": "Cy", "text": "x"}]
    assert told_of(tmp_path, sample, "no sample") == [
        "left out of the conversations: 1 item that is not an object,"
        " 1 message of an unknown speaker, 1 sample without a conversation",
        "questions left out, without a turn, a text or a known category: 2",
    ]
