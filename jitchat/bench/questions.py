"""The requests of a run: each question, in each mode, as it will be asked.

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
from jitchat.memory import Memory
from jitchat.transfer.formats import left_out, read_value
from jitchat.transfer.locomo import is_locomo, read_locomo, samples
from jitchat.transfer.report import FileConversation
from jitchat.values import Message, Mode, Retrieval, Role, Turn
from jitchat.window.budget import Budget
from jitchat.window.history import History
from jitchat.window.parts import SYSTEM_PROMPT, Sources
from jitchat.window.plan import plan
from jitchat.window.tokens import TokenCounter, message_tokens
from jitchat.window.window import ContextWindow, Kind

ANSWER_BRIEFLY = (
    "Answer the question in a short phrase, in exact words of the conversation whenever possible,"
    " and without turn ids."
)
"""LoCoMo asks for as much; it stands with the instructions, so that the draft, which retrieval
searches for, is the question alone."""
BY_DATE = "Use the dates of the conversation to answer with an approximate date."
"""LoCoMo adds this to temporal questions."""


@dataclass(frozen=True, slots=True)
class Case:
    """A question in one mode, and the request that asks it."""

    talk: str
    question: Question
    mode: Mode
    messages: tuple[Message, ...]
    tokens: int
    """Of the window that these messages are."""


class Cases:
    """Collects the windows of a run as they are planned; for questions with a gold answer only."""

    def __init__(self, system: str) -> None:
        """`system` are the app's own instructions."""
        self._system = system
        self._known: dict[Message, Message] = {}
        self.planned: list[Case] = []

    def system(self, question: Question) -> str:
        """Write the instructions under which a question is asked."""
        parts = [self._system, ANSWER_BRIEFLY]
        return " ".join([*parts, BY_DATE] if question.category == "temporal" else parts)

    def take(self, talk: str, question: Question, window: ContextWindow) -> None:
        """Keep a window's messages; those that other windows have too are kept once."""
        if question.answer:
            messages = tuple(self._known.setdefault(each, each) for each in window.messages())
            case = Case(talk, question, window.mode, messages, window.used)
            self.planned.append(case)


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

    found: FileConversation
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


def _labelled(sample: object, found: FileConversation) -> LabelledTalk:
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


def doubts(talks: Sequence[LabelledTalk]) -> Iterator[str]:
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


_AT_FULL_TEXT = (Kind.PINNED, Kind.RECENT, Kind.RETRIEVED)
_MODEL = "bench"


class OpenTalk:
    """Every question is taken for the next turn; none is stored or sent."""

    def __init__(self, memory: Memory, counter: TokenCounter, budget: Budget) -> None:
        self._memory, self._counter, self._budget = memory, counter, budget
        self._history = History().extended(memory.turns, self._price)
        self._next = memory.turns[-1].position + 1

    def retrieve(self, question: str) -> Retrieval:
        """Search as the app does."""
        return self._memory.retrieve(question, self._next)

    def window(
        self, mode: Mode, question: str, retrieval: Retrieval, system: str = SYSTEM_PROMPT
    ) -> ContextWindow:
        """Plan as the app does.

        Raises:
            WindowOverflow: The mode refuses it.

        """
        said = Turn(self._next, Role.USER, question)
        sources = Sources(self._history, said, _MODEL, system, retrieval)
        return plan(mode, sources, self._budget, self._counter)

    def _price(self, text: str) -> int:
        return message_tokens(self._counter, text)


def held(window: ContextWindow) -> frozenset[int]:
    """Name the positions of the turns that a window holds at full text."""
    at_full_text = (each for each in window.segments if each.kind in _AT_FULL_TEXT)
    return frozenset(each.turn for each in at_full_text if each.turn is not None)
