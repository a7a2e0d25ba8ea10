"""What the screen had when it was left: the draft of each conversation, and the theme."""

from __future__ import annotations

from jitchat.memory.cold.database import Database
from jitchat.text.safe import repaired


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
                    (repaired(text), conversation),
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
