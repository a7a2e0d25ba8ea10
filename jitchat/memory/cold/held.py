"""What the user decided about turns: which are pinned, and which are kept out.

It is the turn that is held, so a turn that two branches share is held in both.
"""

from __future__ import annotations

from collections.abc import Mapping

from jitchat.memory.cold.database import Database
from jitchat.memory.cold.path import Path
from jitchat.turn import Turn

_HELD = """
    SELECT t.position, h.hold FROM held_turns h CROSS JOIN turns t ON t.id = h.turn
    WHERE t.conversation = ? ORDER BY t.position
"""
"""CROSS, for SQLite takes the tables in this order then: few turns are held."""


class HeldTurns:
    """Those of every conversation."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def of(self, conversation: str, path: Path) -> Mapping[int, str]:
        """Tell for each held turn of a path, by its position, how: `pinned` or `excluded`."""
        with self._database.read() as connection:
            held = connection.execute(_HELD, (conversation,)).fetchall()
        return {position: hold for position, hold in held if position in path}

    def put(self, turn: Turn, hold: str | None) -> None:
        """Hold a turn in this way and in no other; with None, no longer."""
        with self._database.write() as connection:
            connection.execute("DELETE FROM held_turns WHERE turn = ?", (turn.id,))
            if hold is not None:
                connection.execute("INSERT INTO held_turns VALUES (?, ?)", (turn.id, hold))
