"""Indexing: stored turns without an entry or a vector get theirs, a batch at a time.

Those of every branch do: who goes back to one finds it indexed.

Each part of a batch is one transaction, so a crash costs at most the part at hand, and the next
start goes on from there. Where the embedder fails, entries are written without vectors, which
stay missing until a later try.
"""

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from itertools import chain
from typing import Any, TypeVar

from jitchat.errors import EmbedderUnavailable
from jitchat.index.embedder import Embedder, vectors_of
from jitchat.index.entry import index_entry
from jitchat.index.pace import BATCH, Pace, parts_of, slices_of
from jitchat.index.rows import IndexRow
from jitchat.store.path import Stretch
from jitchat.store.store import TURN_COLUMNS, UNSETTLED, ColdStore, require, turn_from
from jitchat.text.words import fold, stems
from jitchat.values import IndexEntry, Turn

_FLOAT = 4
"""Bytes of one number of a vector."""
_Piece = TypeVar("_Piece")
_Made = TypeVar("_Made")


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the indexing of a conversation is.

    By position: to count what is missing, every row would have to be looked at.
    """

    done: int
    """Up to this position every finished turn has its entry, and a vector if one can be had."""
    of: int
    """The last position there is."""


OnProgress = Callable[[Progress], None]


class Indexer:
    """Writes the hot index of one conversation and reads it back as rows."""

    def __init__(
        self,
        store: ColdStore,
        conversation: str,
        embedder: Embedder,
        pace: Pace | None = None,
        before_write: Callable[[int], object] = lambda _: None,
    ) -> None:
        """`before_write` is told the first position of what is about to be written."""
        self._store, self._conversation, self._embedder = store, conversation, embedder
        self._before_write = before_write
        self._pace = pace or Pace()
        self.failure: EmbedderUnavailable | None = None
        """Why some of what was written has no vectors."""
        self.is_through = False
        """Whether nothing of what was found missing is, entry or vector, since it last looked."""

    def missing(self, after: int = 0, limit: int = -1) -> list[Turn]:
        """List the finished turns that lack an entry or a whole vector, in order.

        Only those behind position `after`, and only the first `limit` of them.
        """
        embedder = self._embedder
        wants_vectors = embedder.dimension > 0 and self.failure is None
        with self._store.database.read() as connection:
            found = connection.execute(
                f"SELECT {TURN_COLUMNS} FROM turns t LEFT JOIN index_entries e ON e.turn = t.id"  # noqa: S608  constant
                " LEFT JOIN vectors v ON v.turn = t.id AND v.embedder = ? AND v.dimension = ?"
                " AND length(CAST(v.vector AS BLOB)) IN (0, ?)"
                " WHERE t.conversation = ? AND t.position > ? AND t.status NOT IN (?, ?)"
                " AND (e.turn IS NULL OR (v.turn IS NULL AND ?)) ORDER BY t.position LIMIT ?",
                (
                    *(embedder.id, embedder.dimension, _FLOAT * embedder.dimension),
                    *(self._conversation, after),
                    *(*UNSETTLED, wants_vectors, limit),
                ),
            )
            return [turn_from(row) for row in found]

    def first_gap(self, stretch: Stretch) -> int | None:
        """Find the first position of a stretch whose finished turn has no entry."""
        with self._store.database.read() as connection:
            found = connection.execute(
                "SELECT t.position FROM turns t LEFT JOIN index_entries e ON e.turn = t.id"
                " WHERE t.conversation = ? AND t.position BETWEEN ? AND ?"
                " AND t.status NOT IN (?, ?) AND e.turn IS NULL ORDER BY t.position LIMIT 1",
                (self._conversation, *stretch, *UNSETTLED),
            ).fetchone()
        return None if found is None else int(found[0])

    def catch_up(
        self,
        one_at_a_time: AbstractContextManager[object] | None = None,
        batches: int = sys.maxsize,
        on_progress: OnProgress = lambda _: None,
        after: int = 0,
    ) -> Iterator[list[IndexEntry]]:
        """Index what is missing behind position `after`, in so many `batches` at most.

        Yields the entries of each batch. `one_at_a_time` is held for a batch, so that two threads
        share the work. `on_progress` is told where each part of one begins, and must not wait. A
        pace that is halted ends it; what was not written then is missing still.
        """
        for _ in range(batches):
            with one_at_a_time or nullcontext():
                turns = self.missing(after, BATCH)
                entries = self._write(turns, on_progress)
                is_all = len(turns) < BATCH and len(entries) == len(turns)
                self.is_through = is_all and self.failure is None
            if entries:
                yield entries
            if not turns or len(entries) < len(turns):
                return
            after = turns[-1].position

    def rows(self, turns: Sequence[Turn]) -> list[IndexRow]:
        """Read the index rows of those `turns` that have an entry, in the order given."""
        if not turns:
            return []
        with self._store.database.read() as connection:
            found = connection.execute(
                "SELECT e.turn, e.stems, COALESCE(m.line, e.summary), e.entities, e.dates,"
                " e.decision, e.asks, e.tells_when, e.disclaims, v.vector"
                " FROM turns t JOIN index_entries e ON e.turn = t.id"
                " LEFT JOIN model_lines m ON m.turn = t.id"
                " LEFT JOIN vectors v ON v.turn = t.id AND v.embedder = ? AND v.dimension = ?"
                " WHERE t.conversation = ? AND t.position BETWEEN ? AND ?",
                (
                    *(self._embedder.id, self._embedder.dimension, self._conversation),
                    *(turns[0].position, turns[-1].position),
                ),
            ).fetchall()
            columns = {row[0]: row[1:] for row in found}
            return [_row(turn, columns[turn.id]) for turn in turns if turn.id in columns]

    def _write(self, turns: Sequence[Turn], on_progress: OnProgress) -> list[IndexEntry]:
        written: list[IndexEntry] = []
        last = self._last_position() if turns else 0
        for part in parts_of(turns):
            on_progress(Progress(part[0].position - 1, last))
            entries = self._write_part(part)
            if not entries:
                break
            written += entries
        return written

    def _last_position(self) -> int:
        with self._store.database.read() as connection:
            found = connection.execute(
                "SELECT COALESCE(MAX(position), 0) FROM turns WHERE conversation = ?",
                (self._conversation,),
            ).fetchone()
            return int(found[0])

    def _write_part(self, turns: Sequence[Turn]) -> list[IndexEntry]:
        """Index `turns` in one transaction; nothing where the pace was halted meanwhile."""
        made = list(self._paced(turns, _entry_and_stems))
        vectors = list(chain.from_iterable(self._paced(slices_of(turns), self._vectors)))
        if self._pace.halted:
            return []
        self._before_write(turns[0].position)
        with self._store.database.write() as connection:
            connection.executemany(
                "REPLACE INTO index_entries VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                [
                    (turn.id, *_columns(entry, text))
                    for turn, (entry, text) in zip(turns, made, strict=True)
                ],
            )
            connection.executemany(
                "REPLACE INTO vectors VALUES (?, ?, ?, ?)",
                [
                    (identity, self._embedder.id, self._embedder.dimension, vector)
                    for identity, vector in vectors
                ],
            )
        return [entry for entry, _ in made]

    def _paced(self, pieces: Iterable[_Piece], work: Callable[[_Piece], _Made]) -> Iterator[_Made]:
        """Do the `work` on each piece, and rest after it while somebody uses the app."""
        begun = self._pace.now()
        for piece in pieces:
            if self._pace.halted:
                return
            yield work(piece)
            begun = self._pace.rest_after(begun)

    def _vectors(self, turns: Sequence[Turn]) -> list[tuple[int, bytes]]:
        """Each turn's id with its vector; empty bytes where there is nothing to embed."""
        if not self._embedder.dimension or self.failure:
            return []
        try:
            made = vectors_of(self._embedder, [turn.content for turn in turns])
        except EmbedderUnavailable as error:
            self.failure = error
            return []
        return [
            (turn.id, row.astype("<f4").tobytes() if row.any() else b"")
            for turn, row in zip(turns, made, strict=True)
        ]


def _entry_and_stems(turn: Turn) -> tuple[IndexEntry, str]:
    return index_entry(turn), " ".join(stems(turn.content))


def _columns(entry: IndexEntry, text: str) -> tuple[str | bool, ...]:
    return (
        *(entry.summary, "\n".join(entry.entities), "\n".join(entry.dates), entry.decision, text),
        *(entry.asks, entry.tells_when, entry.disclaims),
    )


def _row(turn: Turn, columns: tuple[Any, ...]) -> IndexRow:
    stemmed, summary, named, dates, decision, asks, tells_when, disclaims, vector = columns
    require(str, stemmed, summary, named, dates)
    return IndexRow(
        position=turn.position,
        speaker=fold(turn.speaker),
        said_at=turn.created_at,
        stems=stemmed,
        summary=summary,
        entities=named,
        dates=dates,
        decision=bool(decision),
        asks=bool(asks),
        tells_when=bool(tells_when),
        disclaims=bool(disclaims),
        vector=vector,
    )
