"""Index lines that a small model wrote, in and out of the cold store.

They stand beside the heuristic ones and are shown in their place, so that indexing anew loses
neither. A turn's text does not change, so a line is written once.
"""

from __future__ import annotations

from collections.abc import Mapping

from jitchat.memory.cold.database import Database
from jitchat.memory.cold.path import Stretch
from jitchat.memory.cold.store import UNSETTLED
from jitchat.memory.cold.turn_rows import TURN_COLUMNS, turn_from
from jitchat.turn import Turn

_UNWRITTEN = """
    FROM turns t JOIN index_entries e ON e.turn = t.id LEFT JOIN model_lines m ON m.turn = t.id
    WHERE t.conversation = ? AND t.position BETWEEN ? AND ? AND t.status NOT IN (?, ?)
    AND m.turn IS NULL AND trim(t.content, ' ' || char(9, 10, 13)) <> ''
"""


class ModelLines:
    """The lines of every conversation."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def missing(self, conversation: str, stretch: Stretch, limit: int) -> list[Turn]:
        """List the first indexed turns of a stretch that have none, in order."""
        with self._database.read() as connection:
            found = connection.execute(
                f"SELECT {TURN_COLUMNS} {_UNWRITTEN} ORDER BY t.position LIMIT ?",
                (conversation, *stretch, *UNSETTLED, limit),
            )
            return [turn_from(row) for row in found]

    def count_missing(self, conversation: str, stretch: Stretch) -> int:
        """Count the indexed turns of a stretch that have none."""
        with self._database.read() as connection:
            found = connection.execute(
                f"SELECT count(*) {_UNWRITTEN}", (conversation, *stretch, *UNSETTLED)
            )
            return int(found.fetchone()[0])

    def put(self, model: str, lines: Mapping[Turn, str]) -> None:
        """Store lines; one that is there already stays."""
        with self._database.write() as connection:
            connection.executemany(
                "INSERT OR IGNORE INTO model_lines VALUES (?, ?, ?)",
                [(turn.id, model, line) for turn, line in lines.items()],
            )
