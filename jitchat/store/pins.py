"""What the user set in a conversation: pins and exclusions, the draft, the state of the screen.

It is the turn that is held, so a turn that two branches share is held in both.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from jitchat.store.path import Path
from jitchat.text.sanitize import repair
from jitchat.values import Turn

if TYPE_CHECKING:
    from jitchat.store.database import Database


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


class Drafts:
    """Texts that were typed and not sent, one a conversation."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def get(self, conversation: str) -> str:
        """Read a draft by the id of its conversation; empty where there is none."""
        with self._database.read() as connection:
            row = connection.execute(
                "SELECT text FROM drafts WHERE conversation = ?", (conversation,)
            ).fetchone()
            return "" if row is None else str(row[0])

    def put(self, conversation: str, text: str) -> None:
        """Keep a draft in place of the one before; an empty one is none."""
        with self._database.write() as connection:
            connection.execute("DELETE FROM drafts WHERE conversation = ?", (conversation,))
            if text:
                connection.execute(
                    "INSERT INTO drafts SELECT id, ? FROM conversations WHERE id = ?",
                    (repair(text), conversation),
                )


class ChosenTheme:
    """The theme that was picked last."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def get(self) -> str:
        """Read its name; empty where none was ever picked."""
        with self._database.read() as connection:
            row = connection.execute("SELECT name FROM chosen_theme").fetchone()
            return "" if row is None else str(row[0])

    def put(self, name: str) -> None:
        """Keep the pick."""
        with self._database.write() as connection:
            connection.execute("INSERT OR REPLACE INTO chosen_theme VALUES (1, ?)", (name,))
