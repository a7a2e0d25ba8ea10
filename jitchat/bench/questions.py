"""Labelled questions about conversations, as LoCoMo's file has them.

Some evidence ids of the file are broken: several joined in one string, a stray letter, a zero
too many. They are repaired by reading every `D<session>:<turn>` in them; the strict reading takes
each string as it stands. An id that no turn has is dropped by the first and missed by the second.
"""

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from jitchat.errors import BenchFailed, ImportFailed
from jitchat.transfer.formats import left_out, read_value
from jitchat.transfer.locomo import is_locomo, read_locomo, samples
from jitchat.transfer.report import FileConversation

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
    text: str
    category: str
    evidence: frozenset[int]
    """Positions of the turns that hold the answer; empty where the file names none."""
    strict: frozenset[int] | None
    """The same by the ids as they stand; None where one of them is no turn's."""
    answer: str = ""
    """The gold answer; empty where the file gives none."""


@dataclass(frozen=True, slots=True)
class LabelledConversation:
    found: FileConversation
    questions: tuple[Question, ...]
    unreadable: int = 0
    """How many questions have no text, no category of LoCoMo's, or no turn to be asked of."""


def read_labelled(path: Path) -> list[LabelledConversation]:
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


def sampled(
    talks: Sequence[LabelledConversation], size: int, seed: int
) -> list[LabelledConversation]:
    """Draw at random `size` questions, or all if there are fewer, from all conversations.

    Each category keeps its share, to a question; the draw is by a hash, so that it is the same on
    any machine, and a larger one holds, but for such a question, what a smaller one does.
    """
    drawn: dict[str, list[tuple[bytes, int, int]]] = {}
    for at, talk in enumerate(talks):
        for place, question in enumerate(talk.questions):
            lot = hashlib.sha256(f"{seed} {at} {place}".encode()).digest()
            drawn.setdefault(question.category, []).append((lot, at, place))
    total = sum(map(len, drawn.values()))
    size = min(size, total)
    wanted = {name: size * len(lots) // total for name, lots in drawn.items()}
    by_remainder = sorted(drawn, key=lambda name: (-(size * len(drawn[name]) % total), name))
    for name in by_remainder[: size - sum(wanted.values())]:
        wanted[name] += 1
    kept = {each[1:] for name, lots in drawn.items() for each in sorted(lots)[: wanted[name]]}
    return [
        replace(
            talk,
            questions=tuple(
                question for place, question in enumerate(talk.questions) if (at, place) in kept
            ),
        )
        for at, talk in enumerate(talks)
    ]


def _labelled(sample: object, found: FileConversation) -> LabelledConversation:
    positions = {label: place for place, label in enumerate(found.labels, start=1) if label}
    asked = sample.get("qa") if isinstance(sample, dict) else None
    wanted = [
        each
        for each in _listed(asked)
        if not (isinstance(each, dict) and each.get("category") == _ADVERSARIAL)
    ]
    read = [question for each in wanted if (question := _question(each, positions))]
    questions = tuple(read if found.turns else ())
    return LabelledConversation(found, questions, len(wanted) - len(questions))


def _question(value: object, positions: Mapping[str, int]) -> Question | None:
    if not isinstance(value, dict):
        return None
    text, number = value.get("question"), value.get("category")
    category = CATEGORIES.get(number) if type(number) is int else None
    if not isinstance(text, str) or not text.strip() or category is None:
        return None
    ids = [each if isinstance(each, str) else "" for each in _listed(value.get("evidence"))]
    repaired = (
        positions.get(f"D{session}:{turn}", 0)
        for identity in ids
        for session, turn in _EVIDENCE_ID.findall(identity)
    )
    strict = frozenset(positions.get(identity, 0) for identity in ids)
    gold = value.get("answer")
    return Question(
        text=text,
        category=category,
        evidence=frozenset(filter(None, repaired)),
        strict=None if 0 in strict else strict,
        answer=str(gold).strip() if isinstance(gold, str | int | float) else "",
    )


def _listed(value: object) -> list[object]:
    """List what a field holds; what is no list is one item, and None none."""
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


def label_warnings(talks: Sequence[LabelledConversation]) -> Iterator[str]:
    """Say what was left out and what is missed in any case; nothing where the file is whole."""
    asked = [question for talk in talks for question in talk.questions]
    of_all = f"of {len(asked):,} questions"
    if told := left_out([talk.found for talk in talks]):
        yield f"left out of the conversations: {told}"
    if unreadable := sum(talk.unreadable for talk in talks):
        yield f"questions left out, without a turn, a text or a category 1 to 5: {unreadable:,}"
    if unfounded := sum(not question.evidence for question in asked):
        yield f"without evidence that is a turn, missed in any case: {unfounded:,} {of_all}"
    if unknown := sum(question.strict is None for question in asked):
        yield f"with an evidence id that no turn has, missed if strict: {unknown:,} {of_all}"
