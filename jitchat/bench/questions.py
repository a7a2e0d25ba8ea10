"""Labelled questions about conversations, in the format of LoCoMo, LongMemEval or a plain one.

Some evidence ids in LoCoMo's file are broken: several joined in one string, a stray letter, an
extra zero. They are repaired by reading every `D<session>:<turn>` in them; the strict reading takes
each string verbatim. An id that no turn has is dropped by the former, and is a miss in the latter.

LongMemEval (Wu et al., "Benchmarking Chat Assistants on Long-Term Interactive Memory", 2025) has a
separate history for each question. The evidence is the turns marked `has_answer`;
`answer_session_ids`, which name whole sessions, are ignored.
"""

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from functools import cache
from itertools import zip_longest
from operator import itemgetter
from pathlib import Path

from jitchat.bench import read_data
from jitchat.errors import BenchFailed
from jitchat.text.sanitize import shorten
from jitchat.transfer.formats import left_out
from jitchat.transfer.json_text import mapping, moment_of, text
from jitchat.transfer.locomo import is_locomo, read_locomo, samples
from jitchat.transfer.plain import take_item
from jitchat.transfer.turns import ConversationBuilder, FileConversation

CATEGORIES = {4: "single-hop", 1: "multi-hop", 2: "temporal", 3: "open-domain"}
"""By LoCoMo's numbers. The fifth, adversarial, is separate, as is the convention."""
_ADVERSARIAL = 5
_ABSTENTION = "_abs"
"""The suffix of the ids of LongMemEval's questions without an answer, which are separate too."""
ABSTENTION = "abstention"
"""The category of questions that no turn answers."""
_EVIDENCE_ID = re.compile(r"D:?(\d+):0*(\d+)")
_WEEKDAY = re.compile(r" ?\([A-Za-z]{2,9}\) ?")
_LONGEST_CATEGORY = 40


class QuestionType(StrEnum):
    SINGLE_FACT = "single fact"
    KNOWLEDGE_UPDATE = "knowledge update"
    TIMELINE = "timeline"
    COUNTING = "counting"
    """The answer needs several turns."""
    OTHER = "other"
    ABSTENTION = "abstention"


def type_of_category(category: str) -> QuestionType:
    return _types_by_category().get(category, QuestionType.OTHER)


@cache
def _types_by_category() -> dict[str, QuestionType]:
    listed = read_data("categories")
    return {category: QuestionType(name) for name in listed for category in listed[name]}


@dataclass(frozen=True, slots=True)
class Question:
    text: str
    category: str
    evidence: frozenset[int]
    """Positions of the turns that hold the answer; empty if the file names none."""
    strict: frozenset[int] | None
    """The same by the unrepaired ids; None if one of them belongs to no turn."""
    answer: str = ""
    """The gold answer; empty if the file gives none."""


@dataclass(frozen=True, slots=True)
class LabelledConversation:
    found: FileConversation
    questions: tuple[Question, ...]
    unreadable: int = 0
    """Number of questions without a text, a known category or any turns."""
    asked_at: datetime | None = None
    """The time of the questions; None if the file does not state it."""
    abstentions: tuple[Question, ...] = ()
    """Questions that no turn answers; they are not among `questions`."""


@dataclass(frozen=True, slots=True)
class LabelFormat:
    name: str
    description: str
    """A description of such a file, for errors."""
    matches: Callable[[object], bool]
    label: Callable[[object, int], LabelledConversation]
    """Reads a sample of the file, given with its number."""
    asks: str = "questions with a text and a category"


def read_labelled(path: Path, *formats: LabelFormat) -> list[LabelledConversation]:
    """Read a file in one of the given formats, or in any; the format is detected by content.

    Raises:
        BenchFailed: The file cannot be read, has another format, or has no turns or questions.

    """
    formats = formats or FORMATS
    remedy = f"Give {', or '.join(form.description for form in formats)}."
    value = _read_json(path, remedy)
    matching = [form for form in formats if form.matches(value)]
    if not matching:
        names = " or ".join(form.name for form in formats)
        raise BenchFailed(f"{path} is not in {names}.", remedy)
    form = matching[0]
    talks = [form.label(sample, at) for at, sample in enumerate(samples(value), start=1)]
    if not any(talk.found.turns for talk in talks):
        raise BenchFailed(f"{path} contains no turns.", remedy)
    if not any(talk.questions for talk in talks):
        raise BenchFailed(f"{path} has no {form.asks}.", remedy)
    return talks


def _read_json(path: Path, remedy: str) -> object:
    """Read a JSON file in any Unicode encoding.

    Bytes that are not UTF-8 become lone surrogates, which are later repaired and counted per turn.
    """
    try:
        data = path.read_bytes()
        if not data.strip():
            raise BenchFailed(f"{path} is empty.", remedy)
        encoding = json.detect_encoding(data)
        errors = "surrogateescape" if encoding.startswith("utf-8") else "replace"
        return json.loads(data.decode(encoding, errors), strict=False)
    except FileNotFoundError:
        raise BenchFailed(f"There is no file {path}.", remedy) from None
    except OSError as error:
        raise BenchFailed(f"{path} cannot be read: {error.strerror}.", remedy) from None
    except RecursionError:
        raise BenchFailed(f"{path} is nested too deeply.", remedy) from None
    except ValueError as error:
        raise BenchFailed(f"{path} is not JSON: {error}.", remedy) from None


def with_evidence(talks: Sequence[LabelledConversation]) -> list[LabelledConversation]:
    """Leave out questions without an existing evidence turn, which no method could find."""
    return [
        replace(talk, questions=tuple(each for each in talk.questions if each.evidence))
        for talk in talks
    ]


def sampled(
    talks: Sequence[LabelledConversation], size: int, seed: int
) -> list[LabelledConversation]:
    """Draw `size` random questions, or all if there are fewer, from all conversations.

    Each category keeps its share, to within one question. The draw uses a hash, so that it is the
    same on any machine, and a larger sample contains a smaller one, to within one question per
    category.
    """
    lots: dict[str, list[tuple[bytes, int, int]]] = {}
    for at, talk in enumerate(talks):
        for number, question in enumerate(talk.questions):
            lot = hashlib.sha256(f"{seed} {at} {number}".encode()).digest()
            lots.setdefault(question.category, []).append((lot, at, number))
    total = sum(len(drawn) for drawn in lots.values())
    size = min(size, total)
    wanted = {name: size * len(drawn) // total for name, drawn in lots.items()}
    by_remainder = sorted(lots, key=lambda name: (-(size * len(lots[name]) % total), name))
    for name in by_remainder[: size - sum(wanted.values())]:
        wanted[name] += 1
    kept = {lot[1:] for name, drawn in lots.items() for lot in sorted(drawn)[: wanted[name]]}
    return [
        replace(
            talk,
            questions=tuple(
                question for number, question in enumerate(talk.questions) if (at, number) in kept
            ),
        )
        for at, talk in enumerate(talks)
    ]


def _locomo_labels(sample: object, _: int) -> LabelledConversation:
    (found,) = read_locomo([sample])
    asked = _listed(mapping(sample).get("qa"))
    adversarial = [each for each in asked if mapping(each).get("category") == _ADVERSARIAL]
    others = [each for each in asked if each not in adversarial]
    labelled = _labelled(found, others, _locomo_category, _repaired)
    texts = (text(mapping(each).get("question")) for each in adversarial)
    return replace(labelled, abstentions=tuple(_abstention(asks) for asks in texts if asks))


def _abstention(question: str) -> Question:
    nothing = frozenset[int]()
    return Question(question, ABSTENTION, nothing, nothing, "The conversation does not say.")


def _locomo_category(value: object) -> str | None:
    return CATEGORIES.get(value) if type(value) is int else None


def _repaired(identity: str) -> list[str]:
    return [f"D{session}:{turn}" for session, turn in _EVIDENCE_ID.findall(identity)]


def _plain_labels(sample: object, at: int) -> LabelledConversation:
    """Read a conversation in the plain format, whose turns have ids (numbers or strings)."""
    builder, fields = ConversationBuilder(), mapping(sample)
    for turn in _listed(fields.get("turns")):
        own = mapping(turn)
        take_item(_dated(turn, own.get("date")), builder, str(own.get("id")))
    identity = str(fields.get("id", f"labelled-{at}"))
    found = builder.found(identity, identity)
    return _labelled(found, _listed(fields.get("questions")), _category)


def _category(value: object) -> str | None:
    return shorten(value, _LONGEST_CATEGORY) if isinstance(value, str) and value.strip() else None


def _longmemeval_labels(item: object, at: int) -> LabelledConversation:
    """Read an instance: one question, with its sessions in order of their dates."""
    builder, fields = ConversationBuilder(), mapping(item)
    sessions = _listed(fields.get("haystack_sessions"))
    dates = [_iso(date) for date in _listed(fields.get("haystack_dates"))]
    dated = list(zip_longest(sessions, dates[: len(sessions)]))
    moments = [moment_of(date) for _, date in dated]
    if None not in moments:
        dated = [pair for _, pair in sorted(zip(moments, dated, strict=True), key=itemgetter(0))]
    evidence = []
    for place, (session, date) in enumerate(dated):
        for number, turn in enumerate(_listed(session)):
            label = f"{place}:{number}"
            take_item(_dated(turn, date), builder, label)
            if mapping(turn).get("has_answer") is True:
                evidence.append(label)
    identity = str(fields.get("question_id") or f"longmemeval-{at}")
    question = text(fields.get("question")).strip()
    is_abstention = identity.endswith(_ABSTENTION)
    asked = {**fields, "category": fields.get("question_type"), "evidence": evidence}
    found = builder.found(identity, identity)
    return replace(
        _labelled(found, [] if is_abstention else [asked], _category),
        asked_at=moment_of(_iso(fields.get("question_date"))),
        abstentions=(_abstention(question),) if is_abstention and question else (),
    )


def _iso(date: object) -> object:
    """Convert `2023/05/20 (Sat) 02:21` to ISO 8601."""
    return _WEEKDAY.sub(" ", date).replace("/", "-") if isinstance(date, str) else date


def _dated(turn: object, date: object) -> object:
    return turn | {"created_at": date} if isinstance(turn, dict) else turn


def _labelled(
    found: FileConversation,
    asked: Sequence[object],
    category_of: Callable[[object], str | None],
    repair: Callable[[str], Sequence[str]] = lambda identity: [identity],
) -> LabelledConversation:
    """Read the questions; `repair` returns the turn ids that an evidence string stands for."""
    positions = {label: place for place, label in enumerate(found.labels, start=1) if label}
    read = []
    for fields in [mapping(each) for each in asked] if found.turns else ():
        question, category = text(fields.get("question")), category_of(fields.get("category"))
        if not question.strip() or category is None:
            continue
        ids = [
            str(each) if isinstance(each, str | int) else ""
            for each in _listed(fields.get("evidence"))
        ]
        repaired = (positions.get(each, 0) for identity in ids for each in repair(identity))
        strict = frozenset(positions.get(identity, 0) for identity in ids)
        gold = fields.get("answer")
        read.append(
            Question(
                text=question,
                category=category,
                evidence=frozenset(repaired) - {0},
                strict=None if 0 in strict else strict,
                answer=str(gold).strip() if isinstance(gold, str | int | float) else "",
            )
        )
    return LabelledConversation(found, tuple(read), len(asked) - len(read))


def _listed(value: object) -> list[object]:
    """Return a field's value as a list; a single value becomes one item, and None an empty list."""
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


def label_warnings(
    talks: Sequence[LabelledConversation], *, needs_evidence: bool = False
) -> Iterator[str]:
    """Yield warnings about what is left out or missed in any case; none for a complete file.

    With `needs_evidence`, questions without evidence are going to be left out.
    """
    asked = [question for talk in talks for question in talk.questions]
    of_all = f"of {len(asked):,} questions"
    missing = left_out([talk.found for talk in talks])
    if missing:
        yield f"left out of the conversations: {missing}"
    unreadable = sum(talk.unreadable for talk in talks)
    if unreadable:
        yield f"questions left out, without a turn, a text or a known category: {unreadable:,}"
    unfounded = sum(not question.evidence for question in asked)
    if unfounded:
        effect = "left out" if needs_evidence else "missed in any case"
        yield f"without an existing evidence turn, {effect}: {unfounded:,} {of_all}"
    unknown = sum(question.strict is None for question in asked)
    if unknown:
        yield f"with an unknown evidence id, missed in the strict measures: {unknown:,} {of_all}"


def _has(*names: str) -> Callable[[object], bool]:
    """Return a predicate: whether any sample is an object with all these fields."""
    wanted = set(names)
    return lambda value: any(wanted <= mapping(sample).keys() for sample in samples(value))


LOCOMO = LabelFormat(
    "LoCoMo's format",
    "LoCoMo's file: a list of objects with a conversation (speaker_a, speaker_b, session_1 …)"
    " and a list qa of questions with category and evidence",
    is_locomo,
    _locomo_labels,
    "questions with a text and a category 1 to 4",
)
LONGMEMEVAL = LabelFormat(
    "LongMemEval's format",
    "LongMemEval's: a list of questions with question_type, haystack_dates and haystack_sessions,"
    " in which turns with the answer have has_answer",
    _has("haystack_sessions"),
    _longmemeval_labels,
)
PLAIN = LabelFormat(
    "the labelled format",
    "a list of conversations with turns (id, role, content, date) and questions (question,"
    " category, evidence: ids of turns)",
    _has("turns", "questions"),
    _plain_labels,
)
FORMATS = (LOCOMO, LONGMEMEVAL, PLAIN)
