"""Indexing: stored turns without an entry or a vector get theirs, a batch at a time.

Each batch is one transaction, so a crash costs at most the batch at hand, and the next start
goes on from there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from jitchat.memory.embedder import Embedder
from jitchat.memory.indexer import index_entry
from jitchat.memory.search import IndexRow
from jitchat.memory.store import ColdStore
from jitchat.text.sentences import is_question
from jitchat.text.words import folded, stems
from jitchat.turn import IndexEntry, Status, Turn

BATCH = 128


class Indexer:
    """Writes the hot index of one conversation and reads it back as rows."""

    def __init__(self, store: ColdStore, conversation: str, embedder: Embedder) -> None:
        self._store, self._conversation, self._embedder = store, conversation, embedder

    def missing(self) -> list[int]:
        """Ids of the finished turns that lack an entry or a vector, in order."""
        with self._store.database.read() as connection:
            rows = connection.execute(
                "SELECT t.id FROM turns t LEFT JOIN index_entries e ON e.turn = t.id"
                " LEFT JOIN vectors v ON v.turn = t.id AND v.embedder = ?"
                " WHERE t.conversation = ? AND t.status NOT IN (?, ?)"
                " AND (e.turn IS NULL OR (v.turn IS NULL AND ?)) ORDER BY t.position",
                (
                    self._embedder.id,
                    self._conversation,
                    Status.STREAMING,
                    Status.UNANSWERED,
                    self._embedder.dimension > 0,
                ),
            ).fetchall()
        return [row[0] for row in rows]

    def catch_up(self, turns: Sequence[Turn]) -> Iterator[list[IndexEntry]]:
        """Index what is missing among `turns`; yields the entries of each finished batch."""
        wanted = set(self.missing())
        todo = [turn for turn in turns if turn.id in wanted]
        for start in range(0, len(todo), BATCH):
            yield self._write(todo[start : start + BATCH])

    def rows(self, turns: Sequence[Turn]) -> list[IndexRow]:
        """The index rows of those `turns` that have an entry, in the order given."""
        if not turns:
            return []
        with self._store.database.read() as connection:
            found = connection.execute(
                "SELECT e.turn, e.stems, e.summary, e.entities, e.dates, e.decision, v.vector"
                " FROM turns t JOIN index_entries e ON e.turn = t.id"
                " LEFT JOIN vectors v ON v.turn = t.id AND v.embedder = ? AND v.dimension = ?"
                " WHERE t.conversation = ? AND t.position BETWEEN ? AND ?",
                (
                    self._embedder.id,
                    self._embedder.dimension,
                    self._conversation,
                    turns[0].position,
                    turns[-1].position,
                ),
            ).fetchall()
        by_id = {row[0]: row[1:] for row in found}
        return [_row(turn, by_id[turn.id]) for turn in turns if turn.id in by_id]

    def _write(self, turns: Sequence[Turn]) -> list[IndexEntry]:
        entries = [index_entry(turn) for turn in turns]
        vectors = self._embedder.embed([turn.content for turn in turns])
        with self._store.database.write() as connection:
            connection.executemany(
                "REPLACE INTO index_entries VALUES (?, ?, ?, ?, ?, ?)",
                [
                    (turn.id, *_columns(entry), " ".join(stems(turn.content)))
                    for turn, entry in zip(turns, entries, strict=True)
                ],
            )
            connection.executemany(
                "REPLACE INTO vectors VALUES (?, ?, ?, ?)",
                [
                    (turn.id, self._embedder.id, self._embedder.dimension, row.astype("<f4").tobytes())
                    for turn, row in zip(turns, vectors, strict=True)
                    if self._embedder.dimension
                ],
            )
        return entries


def _columns(entry: IndexEntry) -> tuple[str, str, str, bool]:
    return entry.summary, "\n".join(entry.entities), "\n".join(entry.dates), entry.decision


def _row(turn: Turn, columns: tuple[str, str, str, str, int, bytes | None]) -> IndexRow:
    stemmed, summary, named, dates, decision, vector = columns
    return IndexRow(
        position=turn.position,
        speaker=folded(turn.speaker),
        asks=is_question(turn.content),
        said_at=turn.created_at,
        stems=stemmed,
        summary=summary,
        entities=named,
        dates=dates,
        decision=bool(decision),
        vector=vector,
    )
