"""What the user set in a conversation: pins, exclusions, instructions; and the theme.

Pins belong to turns: a turn that two branches share is pinned in both.
"""

from collections.abc import Mapping

from jitchat.store import search_index
from jitchat.store.database import Records
from jitchat.store.path import Path
from jitchat.text.sanitize import repair
from jitchat.values import Instructions, Turn

_PINS = """
    SELECT t.position, h.hold FROM held_turns h CROSS JOIN turns t ON t.id = h.turn
    WHERE t.conversation = ? ORDER BY t.position
"""
"""CROSS makes SQLite read the tables in this order: few turns are pinned."""


class Pins(Records):
    """The turns that the user pinned or excluded, in every conversation."""

    def of(self, conversation: str, path: Path) -> Mapping[int, str]:
        """Return which turns of a path are `pinned` or `excluded`, by position."""
        pins = self._database.fetch_all(_PINS, (conversation,))
        return {position: hold for position, hold in pins if position in path}

    def put(self, turn: Turn, hold: str | None) -> None:
        """Set a turn to pinned or excluded; None to neither."""
        with self._database.write() as connection:
            connection.execute("DELETE FROM held_turns WHERE turn = ?", (turn.id,))
            if hold is not None:
                connection.execute("INSERT INTO held_turns VALUES (?, ?)", (turn.id, hold))


class OwnInstructions(Records):
    """The system texts, personas and window sizes that are set for single conversations."""

    def get(self, conversation: str) -> Instructions:
        query = "SELECT system, persona, size FROM conversations WHERE id = ?"
        row = self._database.fetch_one(query, (conversation,))
        return Instructions() if row is None else Instructions(*row)

    def put(self, conversation: str, own: Instructions) -> None:
        """Store instructions, replacing the previous ones; an empty system text counts as none."""
        system = repair(own.system) if own.system and own.system.strip() else None
        persona = None if own.persona is None else repair(own.persona)
        with search_index.changing(self._database, conversation=conversation) as connection:
            connection.execute(
                "UPDATE conversations SET system = ?, persona = ?, size = ? WHERE id = ?",
                (system, persona, own.size, conversation),
            )


_OWN_MODE = """
    SELECT mode FROM conversations
    WHERE id = :id AND mode IS NOT NULL AND EXISTS (SELECT 1 FROM turns WHERE conversation = :id)
"""


class PickedMode(Records):
    """The mode that the user picked in a conversation, and the one picked last in any.

    A conversation without turns counts as new.
    """

    def get(self, conversation: str) -> tuple[str, str]:
        """Return both modes by name; an empty name for one that was never picked."""
        row = self._database.fetch_one(_OWN_MODE, {"id": conversation})
        own = "" if row is None else str(row[0])
        return own, ScreenState(self._database).get("mode")

    def put(self, conversation: str, mode: str) -> None:
        with self._database.write() as connection:
            statement = "UPDATE conversations SET mode = ? WHERE id = ?"
            connection.execute(statement, (mode, conversation))
            connection.execute("INSERT OR REPLACE INTO screen_state VALUES ('mode', ?)", (mode,))


class ScreenState(Records):
    """The screen's state from the last session, by name; empty for what was never set."""

    def get(self, name: str) -> str:
        row = self._database.fetch_one("SELECT value FROM screen_state WHERE name = ?", (name,))
        return "" if row is None else str(row[0])

    def put(self, name: str, value: str) -> None:
        self._database.execute("INSERT OR REPLACE INTO screen_state VALUES (?, ?)", (name, value))


class AllowedFolders(Records):
    """Hidden folders, and folders outside the current one, whose files mentions may attach."""

    def all(self) -> frozenset[str]:
        rows = self._database.fetch_all("SELECT path FROM allowed_folders")
        return frozenset(str(path) for (path,) in rows)

    def add(self, path: str) -> None:
        self._database.execute("INSERT OR IGNORE INTO allowed_folders VALUES (?)", (path,))

    def remove(self, path: str) -> None:
        self._database.execute("DELETE FROM allowed_folders WHERE path = ?", (path,))
