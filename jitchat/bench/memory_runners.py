"""Two memories for the same sessions: a document per project, and an entry per message.

Both have the turns themselves in the cold store, and storing them is not measured. The document
runner ends each session as the app does, with three store operations. The entry runner works as a
memory per message does: it writes an index entry for each message, embeddings in batches of ten,
and answers by retrieval. Each then plans the window for a question.
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from jitchat.bench.asking import OpenConversation
from jitchat.bench.questions import Question
from jitchat.index.embedder import Embedder
from jitchat.index.entry import index_entry
from jitchat.index.tables import IndexTables
from jitchat.index.tool_results import searched_text
from jitchat.index.vectors import vectors_of
from jitchat.memory import Memory
from jitchat.store.documents import DocumentStore
from jitchat.synthesis.document_writer import DocumentWriter
from jitchat.synthesis.fitting import words_of
from jitchat.synthesis.session_end import IDLE, SessionEnd
from jitchat.text.negation import stems_and_negations
from jitchat.values import Mode, Retrieval, Turn
from jitchat.window.window import ContextWindow

FLUSH = 10
"""Messages per batch of embeddings."""


class RunnerName(StrEnum):
    DOCUMENT = "document"
    ENTRIES = "entries"


@dataclass(slots=True)
class Ingestion:
    """The costs of ingesting sessions."""

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

    def add(self, other: "Ingestion") -> None:
        self.sessions += other.sessions
        self.messages += other.messages
        self.operations += other.operations
        self.model_calls += other.model_calls
        self.input_tokens += other.input_tokens
        self.output_tokens += other.output_tokens
        self.seconds += other.seconds
        self.bytes_stored += other.bytes_stored
        self.words += other.words
        self.fallbacks += other.fallbacks


class MemoryRunner(Protocol):
    """A memory of one conversation."""

    mode: Mode
    """The mode in which questions are asked."""
    ingestion: Ingestion

    async def take(self, session: Sequence[Turn]) -> None:
        """Ingest a session, which is in the cold store already."""

    def close(self) -> None:
        """Write pending data after the last session."""

    def window(
        self, conversation: OpenConversation, question: Question, system: str
    ) -> ContextWindow:
        """Plan a question's window.

        Raises:
            WindowOverflow: The window does not fit.

        """

    @property
    def conversation(self) -> str:
        """The conversation id of sources in its windows; empty if they have only positions."""


class DocumentRunner:
    mode = Mode.DOCUMENT

    def __init__(self, memory: Memory, writer: DocumentWriter) -> None:
        self.ingestion = Ingestion()
        self._memory, self._ending = memory, SessionEnd(memory, writer)

    @property
    def conversation(self) -> str:
        return self._memory.conversation.id

    async def take(self, session: Sequence[Turn]) -> None:
        begun = time.perf_counter()
        ended = await self._ending.end()
        taken = self.ingestion
        taken.seconds += time.perf_counter() - begun
        taken.sessions += 1
        taken.messages += len(session)
        if ended is not None:
            taken.operations += len(ended.operations)
            taken.model_calls += ended.written.calls
            taken.input_tokens += ended.written.input_tokens
            taken.output_tokens += ended.written.output_tokens
            taken.fallbacks += bool(ended.written.why)

    def close(self) -> None:
        store = self._memory.store
        documents = DocumentStore(store.database, "default", store.now)
        self.ingestion.words = [words_of(documents.latest())]
        self.ingestion.bytes_stored = documents.bytes_stored()

    def window(
        self, conversation: OpenConversation, question: Question, system: str
    ) -> ContextWindow:
        return conversation.window(self.mode, question.text, Retrieval(), system)[0]


class EntriesRunner:
    mode = Mode.JIT
    conversation = ""

    def __init__(self, memory: Memory, embedder: Embedder) -> None:
        self.ingestion = Ingestion()
        self._memory, self._embedder = memory, embedder
        self._tables = IndexTables(memory.store.database, memory.conversation.id)
        self._waiting: list[Turn] = []

    async def take(self, session: Sequence[Turn]) -> None:
        taken, begun = self.ingestion, time.perf_counter()
        for turn in session:
            stems = " ".join(stems_and_negations(searched_text(turn)))
            self._tables.write([(turn, index_entry(turn), stems)], [], self._embedder)
            taken.operations += 1
            self._waiting.append(turn)
            if len(self._waiting) == FLUSH:
                self._flush()
        taken.seconds += time.perf_counter() - begun
        taken.sessions += 1
        taken.messages += len(session)

    def close(self) -> None:
        begun = time.perf_counter()
        if self._waiting:
            self._flush()
        self.ingestion.seconds += time.perf_counter() - begun
        self.ingestion.bytes_stored = self._tables.bytes_stored()
        list(self._memory.index.catch_up())

    def _flush(self) -> None:
        """Write the embeddings of the pending messages."""
        turns, self._waiting = self._waiting, []
        if not self._embedder.dimension:
            return
        made = vectors_of(self._embedder, [searched_text(turn) for turn in turns])
        rows = [row.astype("<f4").tobytes() if row.any() else b"" for row in made]
        self._tables.write([], zip(turns, rows, strict=True), self._embedder)
        self.ingestion.operations += 1

    def window(
        self, conversation: OpenConversation, question: Question, system: str
    ) -> ContextWindow:
        retrieval, _ = conversation.retrieve(question.text)
        return conversation.window(self.mode, question.text, retrieval, system)[0]


def sessions_of(turns: Sequence[Turn]) -> Iterator[list[Turn]]:
    """Split a conversation at pauses of twenty minutes, as the app does.

    Turns without a time belong to the session of the turns before them.
    """
    session: list[Turn] = []
    for turn in turns:
        before = next((each.created_at for each in reversed(session) if each.created_at), None)
        said = turn.created_at
        if before is not None and said is not None and abs(before - said) >= IDLE:
            yield session
            session = []
        session.append(turn)
    if session:
        yield session
