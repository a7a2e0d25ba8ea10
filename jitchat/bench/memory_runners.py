"""Two memories for the same sessions: a document per project, and an entry per message.

Both have the turns themselves in the cold store, and storing them is not measured. The document
runner ends each session as the app does, with three store operations. The entry runner works as a
memory per message does: it writes an index entry for each message, embeddings in batches of ten,
and answers by retrieval.
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

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
from jitchat.values import Mode, Turn

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
