"""The hot index's tables in the cold store: entries, index lines written by a model, and vectors.

A model's line is stored in addition to the rule-based summary and shown instead of it, so indexing
a turn again loses neither. A turn's text does not change, so a line is written only once.
"""

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from jitchat.index.embedder import Embedder
from jitchat.store.database import Database
from jitchat.store.packed import pack, unpack
from jitchat.store.path import Stretch
from jitchat.store.store import TURN_COLUMNS, UNSETTLED, require, turn_from
from jitchat.text.words import VERSION, fold
from jitchat.values import IndexEntry, Turn

_FLOAT = 2
"""Bytes of one number of a vector."""
_LOOKED_AT = 4_096
"""Positions checked at a time for missing entries and vectors."""
_ENTRY = """
    t.content, e.texts, m.line, e.decision, e.asks, e.tells_when, e.disclaims, e.standing
    FROM turns t JOIN index_entries e ON e.turn = t.id LEFT JOIN model_lines m ON m.turn = t.id
"""
"""The arguments of `_entry_of` after the position."""
_WITHOUT_LINE = """
    FROM turns t JOIN index_entries e ON e.turn = t.id LEFT JOIN model_lines m ON m.turn = t.id
    WHERE t.conversation = ? AND t.position BETWEEN ? AND ? AND t.status NOT IN (?, ?)
    AND m.turn IS NULL AND trim(t.content, ' ' || char(9, 10, 13)) <> ''
"""


@dataclass(frozen=True, slots=True)
class IndexRow:
    """The data that the index needs of one turn."""

    entry: IndexEntry
    speaker: str
    """Name or role, folded."""
    said_at: datetime | None
    stems: str
    """Blank-separated."""
    vector: bytes | None
    """Little-endian floats of the embedder in use, if the turn was embedded."""

    @property
    def position(self) -> int:
        return self.entry.turn

    def bare(self) -> "IndexRow":
        """Drop the searchable fields, for a caller that stores them in another form."""
        return replace(self, stems="", vector=None)


class IndexTables:
    def __init__(self, database: Database, conversation: str) -> None:
        self._database, self._conversation = database, conversation

    def missing(
        self, embedder: Embedder, after: int = 0, limit: int = -1, *, wants_vectors: bool = True
    ) -> list[Turn]:
        """List the first `limit` finished turns after position `after` that are not fully indexed.

        These lack an entry or a complete vector, or their entry has stems of an earlier version,
        though it is used until it is replaced. The connection is released between parts, because
        checking a million turns takes seconds.
        """
        found = list[Turn]()
        for start in range(after, self.last_position(), _LOOKED_AT):
            left = limit - len(found) if limit >= 0 else limit
            found += self._missing(embedder, (start, start + _LOOKED_AT), left, wants_vectors)
            if len(found) == limit:
                break
        return found

    def _missing(
        self, embedder: Embedder, between: tuple[int, int], limit: int, wants_vectors: bool
    ) -> list[Turn]:
        """List the missing turns after the first of two positions, up to the second."""
        with self._database.read() as connection:
            rows = connection.execute(
                f"SELECT {TURN_COLUMNS} FROM turns t LEFT JOIN index_entries e ON e.turn = t.id"  # noqa: S608  constant
                " LEFT JOIN vectors v ON v.turn = t.id AND v.embedder = ? AND v.dimension = ?"
                " AND length(CAST(v.vector AS BLOB)) IN (0, ?)"
                " WHERE t.conversation = ? AND t.position > ? AND t.position <= ?"
                " AND t.status NOT IN (?, ?)"
                " AND (e.turn IS NULL OR e.stems_version < ? OR (v.turn IS NULL AND ?))"
                " ORDER BY t.position LIMIT ?",
                (
                    *(embedder.id, embedder.dimension, _FLOAT * embedder.dimension),
                    *(self._conversation, *between, *UNSETTLED, VERSION),
                    *(wants_vectors and embedder.dimension > 0, limit),
                ),
            )
            return [turn_from(row) for row in rows]

    def embedded(self, turns: Sequence[Turn], embedder: Embedder) -> frozenset[int]:
        """Return the ids of those `turns` that have a complete vector."""
        with self._database.read() as connection:
            rows = connection.execute(
                "SELECT turn FROM vectors WHERE embedder = ? AND dimension = ?"
                " AND length(CAST(vector AS BLOB)) IN (0, ?)"
                " AND turn IN (SELECT value FROM json_each(?))",
                (
                    *(embedder.id, embedder.dimension, _FLOAT * embedder.dimension),
                    json.dumps([turn.id for turn in turns]),
                ),
            )
            return frozenset(row[0] for row in rows)

    def first_gap(self, stretches: Iterable[Stretch]) -> int | None:
        """Find the first position in ascending stretches whose finished turn has no entry."""
        for stretch in stretches:
            row = self._database.fetch_one(
                "SELECT t.position FROM turns t LEFT JOIN index_entries e ON e.turn = t.id"
                " WHERE t.conversation = ? AND t.position BETWEEN ? AND ?"
                " AND t.status NOT IN (?, ?) AND e.turn IS NULL ORDER BY t.position LIMIT 1",
                (self._conversation, *stretch, *UNSETTLED),
            )
            if row is not None:
                return int(row[0])
        return None

    def rows(self, turns: Sequence[Turn], embedder: Embedder) -> list[IndexRow]:
        """Read the index rows of those `turns` that have an entry, in the order given."""
        if not turns:
            return []
        with self._database.read() as connection:
            rows = connection.execute(
                f"SELECT e.turn, v.vector, {_ENTRY}"
                " LEFT JOIN vectors v ON v.turn = t.id AND v.embedder = ? AND v.dimension = ?"
                " WHERE t.conversation = ? AND t.position BETWEEN ? AND ?",
                (
                    *(embedder.id, embedder.dimension, self._conversation),
                    *(turns[0].position, turns[-1].position),
                ),
            ).fetchall()
            columns = {row[0]: row[1:] for row in rows}
            return [_row(turn, columns[turn.id]) for turn in turns if turn.id in columns]

    def entries(self, positions: Sequence[int]) -> list[IndexEntry]:
        """Read the entries of the turns at `positions`, in that order. All must have an entry."""
        if not positions:
            return []
        with self._database.read() as connection:
            rows = connection.execute(
                f"SELECT t.position, {_ENTRY}"  # noqa: S608  a constant
                " WHERE t.conversation = ? AND t.position IN (SELECT value FROM json_each(?))",
                (self._conversation, json.dumps(positions)),
            )
            found = {row[0]: _entry_of(*row)[0] for row in rows}
            return [found[position] for position in positions]

    def last_position(self) -> int:
        """Return the conversation's last position; 0 if it has no turns."""
        query = "SELECT COALESCE(MAX(position), 0) FROM turns WHERE conversation = ?"
        return int(self._database.fetch_one(query, (self._conversation,))[0])

    def write(
        self,
        entries: Iterable[tuple[Turn, IndexEntry, str]],
        vectors: Iterable[tuple[Turn, bytes]],
        embedder: Embedder,
    ) -> None:
        """Store entries, each with the turn's stems, and vectors, in one transaction."""
        written = list(entries)
        with self._database.write() as connection:
            first = min((turn.position for turn, _, _ in written), default=sys.maxsize)
            connection.execute(  # segments with these turns are outdated
                "DELETE FROM index_segments WHERE conversation = ? AND last >= ?",
                (self._conversation, first),
            )
            connection.executemany(
                "REPLACE INTO index_entries VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                [
                    (
                        *(turn.id, entry.decision, entry.asks, entry.tells_when, entry.disclaims),
                        *(VERSION, entry.standing, _packed(turn, entry, stems)),
                    )
                    for turn, entry, stems in written
                ],
            )
            connection.executemany(
                "REPLACE INTO vectors VALUES (?, ?, ?, ?)",
                [(turn.id, embedder.id, embedder.dimension, vector) for turn, vector in vectors],
            )

    def bytes_stored(self) -> int:
        """Count the bytes of the conversation's entries and vectors."""
        query = (
            "SELECT COALESCE(SUM("
            "LENGTH(CAST(e.texts AS BLOB)) + COALESCE(LENGTH(CAST(v.vector AS BLOB)), 0)), 0)"
            " FROM turns t JOIN index_entries e ON e.turn = t.id"
            " LEFT JOIN vectors v ON v.turn = t.id WHERE t.conversation = ?"
        )
        return int(self._database.fetch_one(query, (self._conversation,))[0])

    def without_model_line(self, stretches: Iterable[Stretch], limit: int) -> list[Turn]:
        """List the first `limit` indexed turns of some stretches without a model's index line."""
        query = f"SELECT {TURN_COLUMNS} {_WITHOUT_LINE} ORDER BY t.position LIMIT ?"
        turns: list[Turn] = []
        with self._database.read() as connection:
            for stretch in stretches:
                key = (self._conversation, *stretch, *UNSETTLED, limit - len(turns))
                turns += map(turn_from, connection.execute(query, key))
        return turns

    def count_without_model_line(self, stretches: Iterable[Stretch]) -> int:
        """Count the indexed turns of some stretches without a model's index line."""
        query = f"SELECT count(*) {_WITHOUT_LINE}"
        keys = ((self._conversation, *stretch, *UNSETTLED) for stretch in stretches)
        return sum(self._database.fetch_one(query, key)[0] for key in keys)

    def write_model_lines(self, model: str, lines: Mapping[Turn, str]) -> None:
        """Store index lines written by `model`; existing lines are kept."""
        with self._database.write() as connection:
            connection.executemany(
                "INSERT OR IGNORE INTO model_lines VALUES (?, ?, ?)",
                [(turn.id, model, line) for turn, line in lines.items()],
            )


def _packed(turn: Turn, entry: IndexEntry, stems: str) -> bytes:
    """Pack the texts of an entry, most of which repeat parts of the turn's."""
    texts = entry.summary, "\n".join(entry.entities), "\n".join(entry.dates), stems
    return pack(texts, turn.content)


def _entry_of(
    position: int, content: str, packed: bytes, line: str | None, *flags: int
) -> tuple[IndexEntry, str]:
    """Make an entry from its columns; return it with the stems of its turn.

    Raises TypeError or ValueError if a column is damaged.
    """
    summary, entities, dates, stems = unpack(packed, content)
    shown = summary if line is None else line
    require(str, shown, entities, dates, stems)
    names, days = (tuple(filter(None, lines.split("\n"))) for lines in (entities, dates))
    return IndexEntry(position, shown, names, days, *map(bool, flags)), stems


def _row(turn: Turn, columns: tuple[Any, ...]) -> IndexRow:
    """Make a row from the columns from `vector` on, in the order of the query."""
    vector, *described = columns
    entry, stems = _entry_of(turn.position, *described)
    return IndexRow(entry, fold(turn.speaker), turn.created_at, stems, vector)
