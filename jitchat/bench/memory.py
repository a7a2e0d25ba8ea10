"""Runs memories over the sessions of labelled conversations, and checks what their windows hold.

One is a document per project, the other an entry per message. Both have the turns themselves in the
cold store, and storing them is not measured. The document runner ends each session as the app does,
with three store operations. The entry runner works as a memory per message does: it writes an index
entry for each message, embeddings in batches of ten, and answers by retrieval.

Each question has a type, which determines the memories that can answer it. A window holds the
answer if it has the words of all evidence (`evidence`); for questions that no turn answers, only an
answerer shows whether they are left unanswered.
"""

import asyncio
import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial

from jitchat.bench.asking import Cases, OpenConversation, Setup, set_clock, temporary_store
from jitchat.bench.evidence import evidence_held
from jitchat.bench.questions import (
    LabelledConversation,
    Question,
    QuestionType,
    type_of_category,
)
from jitchat.bench.scores import Measured, Outcome
from jitchat.index.embedder import Embedder
from jitchat.index.entry import index_entry
from jitchat.index.tables import IndexTables
from jitchat.index.tool_results import searched_text
from jitchat.index.vectors import vectors_of
from jitchat.memory import Memory
from jitchat.store.documents import DocumentStore
from jitchat.synthesis.document_edits import words_of
from jitchat.synthesis.document_writer import DocumentWriter
from jitchat.synthesis.session_end import IDLE, SessionEnd
from jitchat.text.negation import stems_and_negations
from jitchat.values import Mode, Turn

_COUNTS = re.compile(r"\bhow (?:many|often)\b", re.IGNORECASE)


def type_of(question: Question) -> QuestionType:
    """Return a question's type, by its category and by whether it asks for a count."""
    kind = type_of_category(question.category)
    is_fixed = kind in (QuestionType.ABSTENTION, QuestionType.KNOWLEDGE_UPDATE)
    return kind if is_fixed or not _COUNTS.search(question.text) else QuestionType.COUNTING


def by_type(outcomes: Sequence[Outcome]) -> dict[QuestionType, list[Outcome]]:
    """Group outcomes by the type of their question; a type without questions is left out."""
    groups: dict[QuestionType, list[Outcome]] = {kind: [] for kind in QuestionType}
    for outcome in outcomes:
        groups[type_of(outcome.question)].append(outcome)
    return {kind: group for kind, group in groups.items() if group}


FLUSH = 10
"""Messages per batch of embeddings."""


class RunnerName(StrEnum):
    DOCUMENT = "document"
    ENTRIES = "entries"

    @property
    def mode(self) -> Mode:
        """The mode in which questions are asked."""
        return Mode.DOCUMENT if self is RunnerName.DOCUMENT else Mode.JIT


@dataclass(slots=True)
class Ingestion:
    """The costs of ingesting the sessions of several conversations."""

    sessions: int = 0
    messages: int = 0
    operations: int = 0
    """Store operations of the memory."""
    model_calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    seconds: float = 0.0
    bytes_stored: int = 0
    """Bytes of the memory, including all its versions but not the turns."""
    words: list[int] = field(default_factory=list)
    """Words of each final document; empty for entries."""
    fallbacks: int = 0
    """Sessions that the built-in writer wrote because the model failed."""


class DocumentRunner:
    def __init__(self, memory: Memory, writer: DocumentWriter, ingestion: Ingestion) -> None:
        self._memory, self._ending = memory, SessionEnd(memory, writer)
        self._ingestion = ingestion
        self.conversation = memory.conversation.id
        """The conversation id of the sources in its windows."""

    async def take(self, session: Sequence[Turn]) -> None:  # noqa: ARG002  it is stored already
        """Ingest a session, which is in the cold store already."""
        begun = time.perf_counter()
        ended = await self._ending.end()
        self._ingestion.seconds += time.perf_counter() - begun
        if ended is not None:
            self._ingestion.operations += len(ended.operations)
            self._ingestion.model_calls += ended.written.calls
            self._ingestion.input_tokens += ended.written.input_tokens
            self._ingestion.output_tokens += ended.written.output_tokens
            self._ingestion.fallbacks += bool(ended.written.why)

    def close(self) -> None:
        store = self._memory.store
        documents = DocumentStore(store.database, "default", store.now)
        self._ingestion.words.append(words_of(documents.latest()))
        self._ingestion.bytes_stored += documents.bytes_stored()


class EntriesRunner:
    conversation = ""
    """The sources in its windows have only positions."""

    def __init__(self, memory: Memory, embedder: Embedder, ingestion: Ingestion) -> None:
        self._memory, self._embedder = memory, embedder
        self._ingestion = ingestion
        self._tables = IndexTables(memory.store.database, memory.conversation.id)
        self._waiting: list[Turn] = []

    async def take(self, session: Sequence[Turn]) -> None:
        """Ingest a session, which is in the cold store already."""
        begun = time.perf_counter()
        for turn in session:
            stems = " ".join(stems_and_negations(searched_text(turn)))
            self._tables.write([(turn, index_entry(turn), stems)], [], self._embedder)
            self._ingestion.operations += 1
            self._waiting.append(turn)
            if len(self._waiting) == FLUSH:
                self._flush()
        self._ingestion.seconds += time.perf_counter() - begun

    def close(self) -> None:
        """Write the embeddings of the last messages."""
        begun = time.perf_counter()
        if self._waiting:
            self._flush()
        self._ingestion.seconds += time.perf_counter() - begun
        self._ingestion.bytes_stored += self._tables.bytes_stored()
        list(self._memory.index.catch_up())

    def _flush(self) -> None:
        """Write the embeddings of the pending messages."""
        turns = self._waiting
        self._waiting = []
        if self._embedder.dimension:
            vectors = vectors_of(self._embedder, [searched_text(turn) for turn in turns])
            rows = [row.astype("<f4").tobytes() if row.any() else b"" for row in vectors]
            self._tables.write([], zip(turns, rows, strict=True), self._embedder)
            self._ingestion.operations += 1


def sessions_of(turns: Sequence[Turn]) -> Iterator[list[Turn]]:
    """Split a conversation at pauses of twenty minutes, as the app does.

    Turns without a time belong to the session of the turns before them.
    """
    session: list[Turn] = []
    before = None
    for turn in turns:
        moment = turn.created_at or before
        if before is not None and moment is not None and abs(before - moment) >= IDLE:
            yield session
            session = []
        session.append(turn)
        before = moment
    if session:
        yield session


@dataclass(frozen=True, slots=True)
class Measuring:
    """Runs memories with one setup and document writer."""

    setup: Setup
    writer: Callable[[], DocumentWriter]
    cases: Cases | None = None
    """Collects the windows, to be sent."""
    measured: Measured = field(default_factory=Measured)
    """By the runners' names; turns count as held if their words are in the window."""
    ingestions: dict[RunnerName, Ingestion] = field(default_factory=dict)

    def run(self, talk: LabelledConversation, name: RunnerName) -> None:
        """Feed a memory with a conversation, session by session, and ask it the questions."""
        ingestion = self.ingestions.setdefault(name, Ingestion())
        setup, embedder = self.setup, self.setup.embedder
        with temporary_store() as store:
            memory = Memory(store, store.create(talk.found.title, talk.found.id), embedder)
            runner: DocumentRunner | EntriesRunner
            if name is RunnerName.DOCUMENT:
                runner = DocumentRunner(memory, self.writer(), ingestion)
            else:
                runner = EntriesRunner(memory, embedder, ingestion)
            asyncio.run(_ingest(talk, memory, runner, ingestion))
            set_clock(store, (), talk.asked_at)
            asked_in = memory
            if name is RunnerName.DOCUMENT:  # from a new conversation, which has nothing else
                asked_in = Memory(store, store.create("Questions"), embedder)
            opened = OpenConversation(asked_in, setup.counter, setup.budget, setup.asking)
            texts = {turn.position: turn.content for turn in memory.turns}
            source = runner.conversation
            for question in (*talk.questions, *talk.abstentions):
                held = partial(evidence_held, question=question, texts=texts, conversation=source)
                self.measured.add(name, opened.ask(question, name.mode, self.cases, held))


async def _ingest(
    talk: LabelledConversation,
    memory: Memory,
    runner: DocumentRunner | EntriesRunner,
    ingestion: Ingestion,
) -> None:
    for session in sessions_of(talk.found.turns):
        stored = memory.store.append(memory.conversation.id, session)
        memory.refresh()
        set_clock(memory.store, stored)
        await runner.take(stored)
        ingestion.sessions += 1
        ingestion.messages += len(stored)
    runner.close()
