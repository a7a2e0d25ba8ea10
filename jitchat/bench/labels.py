"""LoCoMo's questions: what is asked, and which turns hold the answer.

Some evidence ids of the file are broken: several joined in one string, a stray letter, a zero
too many. They are repaired by reading every `D<session>:<turn>` in them; the strict reading takes
each string as it stands. An id that no turn has is dropped by the first and missed by the second.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from jitchat.errors import BenchFailed, ImportFailed
from jitchat.transfer.formats import read_value
from jitchat.transfer.locomo import is_locomo, read_locomo, samples
from jitchat.transfer.report import Found

CATEGORIES = {4: "single-hop", 1: "multi-hop", 2: "temporal", 3: "open-domain"}
"""By LoCoMo's numbers. Its fifth, adversarial, is left out, as the convention is."""
_ADVERSARIAL = 5
_FORM = (
    "Name LoCoMo's file: a list of objects with a conversation (speaker_a, speaker_b, session_1 …)"
    " and a list qa of questions with category and evidence."
)
_EVIDENCE_ID = re.compile(r"D:?(\d+):0*(\d+)")


@dataclass(frozen=True, slots=True)
class Question:
    """One question about a conversation."""

    text: str
    category: str
    evidence: frozenset[int]
    """Positions of the turns that hold the answer; empty where the file names none."""
    strict: frozenset[int] | None
    """The same by the ids as they stand; None where one of them is no turn's."""
    answer: str = ""
    """The gold answer; empty where the file gives none."""


@dataclass(frozen=True, slots=True)
class LabelledTalk:
    """A conversation with its questions."""

    found: Found
    questions: tuple[Question, ...]
    unreadable: int = 0
    """How many questions have no text, no category of LoCoMo's, or no turn to be asked of."""


def read_labelled(path: Path) -> list[LabelledTalk]:
    """Read a file in LoCoMo's form.

    Raises:
        BenchFailed: It cannot be read, is of another form, says nothing or asks nothing.

    """
    try:
        value = read_value(path)
    except ImportFailed as error:
        raise BenchFailed(error.what, _FORM) from error
    if not is_locomo(value):
        raise BenchFailed(f"{path} is not in LoCoMo's form.", _FORM)
    pairs = zip(samples(value), read_locomo(value), strict=True)
    talks = [_labelled(sample, found) for sample, found in pairs]
    if not any(talk.found.turns for talk in talks):
        raise BenchFailed(f"{path} holds no turns.", _FORM)
    if not any(talk.questions for talk in talks):
        raise BenchFailed(f"{path} has no questions with a text and a category 1 to 4.", _FORM)
    return talks


def _labelled(sample: object, found: Found) -> LabelledTalk:
    """Read the questions of a conversation."""
    positions = {label: place for place, label in enumerate(found.labels, start=1) if label}
    asked = sample.get("qa") if isinstance(sample, dict) else None
    wanted = [each for each in _listed(asked) if not _is_adversarial(each)]
    read = [question for each in wanted if (question := _question(each, positions))]
    questions = tuple(read if found.turns else ())
    return LabelledTalk(found, questions, len(wanted) - len(questions))


def _is_adversarial(value: object) -> bool:
    return isinstance(value, dict) and value.get("category") == _ADVERSARIAL


def _question(value: object, positions: Mapping[str, int]) -> Question | None:
    if not isinstance(value, dict):
        return None
    text, number = value.get("question"), value.get("category")
    category = CATEGORIES.get(number) if type(number) is int else None
    if not isinstance(text, str) or not text.strip() or category is None:
        return None
    ids = [each if isinstance(each, str) else "" for each in _listed(value.get("evidence"))]
    return Question(
        text=text,
        category=category,
        evidence=frozenset(_repaired(ids, positions)),
        strict=_as_they_stand(ids, positions),
        answer=_answer(value.get("answer")),
    )


def _answer(value: object) -> str:
    """Write a gold answer as text; some are numbers."""
    return str(value).strip() if isinstance(value, str | int | float) else ""


def _listed(value: object) -> list[object]:
    """List what a field holds; what is no list is one item, and None none."""
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


def _repaired(ids: Sequence[str], positions: Mapping[str, int]) -> Iterator[int]:
    for identity in ids:
        for session, turn in _EVIDENCE_ID.findall(identity):
            if place := positions.get(f"D{session}:{turn}"):
                yield place


def _as_they_stand(ids: Sequence[str], positions: Mapping[str, int]) -> frozenset[int] | None:
    if all(identity in positions for identity in ids):
        return frozenset(positions[identity] for identity in ids)
    return None
