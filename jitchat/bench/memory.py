"""Runs memories over the sessions of labelled conversations, and checks what their windows hold.

Each question has a type, which determines the memories that can answer it. A window holds the
answer if it has the words of all evidence (`evidence`); for questions that no turn answers, only an
answerer shows whether they are left unanswered.
"""

import asyncio
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from tempfile import TemporaryDirectory

from jitchat.bench.asking import Cases, OpenConversation, opened_store
from jitchat.bench.evidence import SINGLE_FACT, holds_evidence
from jitchat.bench.memory_runners import (
    DocumentRunner,
    EntriesRunner,
    Ingestion,
    MemoryRunner,
    RunnerName,
    sessions_of,
)
from jitchat.bench.proportions import Interval, wilson
from jitchat.bench.questions import ABSTENTION, LabelledConversation, Question
from jitchat.errors import WindowOverflow
from jitchat.index.embedder import Embedder
from jitchat.memory import Memory
from jitchat.synthesis.document_writer import DocumentWriter
from jitchat.values import Mode, Turn
from jitchat.window.budget import Budget
from jitchat.window.parts import SYSTEM_PROMPT
from jitchat.window.tokens import TokenCounter


class QuestionType(StrEnum):
    SINGLE_FACT = "single fact"
    KNOWLEDGE_UPDATE = "knowledge update"
    TIMELINE = "timeline"
    COUNTING = "counting"
    """The answer needs several turns."""
    ABSTENTION = "abstention"
    OTHER = "other"


_UPDATES = frozenset(("knowledge-update", "knowledge_update", "contradiction_resolution"))
_TIMELINE = frozenset(
    ("temporal", "temporal-reasoning", "temporal_reasoning", "event_ordering", "timeline")
)
_COUNTING = frozenset(("multi-hop", "multi-session", "multi_session_reasoning", "counting"))
_COUNTS = re.compile(r"\bhow (?:many|often)\b", re.IGNORECASE)
_NOT_SAID = "The conversation does not say."
"""The gold answer to questions that no turn answers."""


def type_of(question: Question) -> QuestionType:
    """Return a question's type, by its category and by whether it asks for a count."""
    category = question.category
    if category == ABSTENTION:
        return QuestionType.ABSTENTION
    if category in _UPDATES:
        return QuestionType.KNOWLEDGE_UPDATE
    if category in _COUNTING or _COUNTS.search(question.text):
        return QuestionType.COUNTING
    if category in _TIMELINE:
        return QuestionType.TIMELINE
    return QuestionType.SINGLE_FACT if category in SINGLE_FACT else QuestionType.OTHER


@dataclass(frozen=True, slots=True)
class Held:
    """Whether one memory's window holds the evidence for a question."""

    question: Question
    holds: bool
    """Whether the window holds all of the evidence; always False for an abstention."""
    tokens: int


@dataclass(slots=True)
class RunnerResult:
    ingestion: Ingestion = field(default_factory=Ingestion)
    held: list[Held] = field(default_factory=list)
    unfit: int = 0
    """Questions whose window does not fit."""


@dataclass(frozen=True, slots=True)
class Share:
    n: int
    holds: int
    interval: Interval
    """The 95 % interval."""

    @property
    def value(self) -> float:
        return self.holds / self.n if self.n else 0.0


def shares(held: Sequence[Held]) -> dict[QuestionType, Share]:
    """Return the share of windows that hold the answer, by type, without abstentions."""
    found: dict[QuestionType, Share] = {}
    for kind in QuestionType:
        group = [each.holds for each in held if type_of(each.question) is kind]
        if group and kind is not QuestionType.ABSTENTION:
            found[kind] = Share(len(group), sum(group), wilson(sum(group), len(group)))
    return found


@dataclass(frozen=True, slots=True)
class Measuring:
    """Runs memories with one embedder, token counter, budget and document writer."""

    embedder: Embedder
    counter: TokenCounter
    budget: Budget
    writer: Callable[[], DocumentWriter]

    def run(
        self,
        talks: Sequence[LabelledConversation],
        name: RunnerName,
        cases: Cases | None = None,
        advance: Callable[[int], object] = lambda _: None,
    ) -> RunnerResult:
        """Feed a memory with each conversation, session by session, and ask it the questions.

        The windows are added to `cases`, to be sent.
        """
        result = RunnerResult()
        for talk in talks:
            with self._opened(talk, name) as (memory, runner):
                asyncio.run(self._ingest(talk, memory, runner))
                runner.close()
                result.ingestion.add(runner.ingestion)
                self._ask(talk, memory, runner, result, cases)
            advance(1)
        return result

    async def _ingest(
        self, talk: LabelledConversation, memory: Memory, runner: MemoryRunner
    ) -> None:
        for session in sessions_of(talk.found.turns):
            stored = memory.store.append(memory.conversation.id, session)
            memory.refresh()
            self._set_clock(memory, stored)
            await runner.take(stored)

    @contextmanager
    def _opened(
        self, talk: LabelledConversation, name: RunnerName
    ) -> Iterator[tuple[Memory, MemoryRunner]]:
        """Open an empty memory for a conversation, in a temporary database."""
        with (
            TemporaryDirectory(prefix="jitchat-bench-") as folder,
            opened_store(Path(folder) / "bench.db") as store,
        ):
            conversation = store.create(talk.found.title, talk.found.id)
            memory = Memory(store, conversation, self.embedder)
            if name is RunnerName.DOCUMENT:
                yield memory, DocumentRunner(memory, self.writer())
            else:
                yield memory, EntriesRunner(memory, self.embedder)

    @staticmethod
    def _set_clock(memory: Memory, turns: Sequence[Turn]) -> None:
        """Set the clock to the last turn's time, so that "last week" means the same on any day."""
        said = [turn.created_at for turn in turns if turn.created_at is not None]
        if said:
            memory.store.now = lambda: said[-1]

    def _ask(
        self,
        talk: LabelledConversation,
        memory: Memory,
        runner: MemoryRunner,
        result: RunnerResult,
        cases: Cases | None,
    ) -> None:
        asked_at = talk.asked_at
        if asked_at is not None:
            memory.store.now = lambda: asked_at
        conversation = OpenConversation(memory, self.counter, self.budget)
        texts = {turn.position: turn.content for turn in memory.turns}
        for question in (*talk.questions, *abstentions(talk)):
            system = SYSTEM_PROMPT if cases is None else cases.system(question)
            try:
                window = runner.window(conversation, question, system)
            except WindowOverflow:
                result.unfit += 1
                continue
            if cases is not None:
                cases.take(memory.conversation.id, question, window)
            holds = holds_evidence(window, question, texts, runner.conversation)
            result.held.append(Held(question, holds, window.used))


def abstentions(talk: LabelledConversation) -> Iterator[Question]:
    nothing = frozenset[int]()
    for text in talk.abstentions:
        yield Question(text, ABSTENTION, nothing, nothing, _NOT_SAID)


def with_questions(talks: Sequence[LabelledConversation]) -> list[LabelledConversation]:
    """Return the conversations that have questions."""
    return [talk for talk in talks if talk.questions or talk.abstentions]


MODE_OF = {RunnerName.DOCUMENT: Mode.DOCUMENT, RunnerName.ENTRIES: Mode.JIT}
