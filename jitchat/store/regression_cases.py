"""What the user noted about replies: which turn was missing, and which was rightly there.

Each is a case that can be tried again: a message, and a turn that its window is to have.
"""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from jitchat.store.database import Database
from jitchat.store.store import TURN_COLUMNS, turn_from
from jitchat.values import Turn

_WIDTH = len(TURN_COLUMNS.split(","))
_WANTED_COLUMNS = TURN_COLUMNS.replace("t.", "w.")
_CASES = f"""
    SELECT c.id, c.kind, c.window, c.noted_at, t.conversation, {TURN_COLUMNS}, {_WANTED_COLUMNS}
    FROM cases c CROSS JOIN turns t ON t.id = c.said JOIN turns w ON w.id = c.wanted
    WHERE ?1 IS NULL OR t.conversation = ?1 ORDER BY t.conversation, t.position, w.position
"""  # noqa: S608  constants
"""CROSS, for SQLite takes the tables in this order then: there are few cases."""


class CaseKind(StrEnum):
    MISS = "miss"
    """It should have been in the window."""
    KEPT = "kept"
    """It was there, and is to be found again."""


@dataclass(frozen=True, slots=True)
class Case:
    """A message, and a turn that its window is to have, whole or as an excerpt."""

    said: Turn
    """The user's."""
    wanted: Turn
    kind: CaseKind
    window_id: int | None
    """Of the window that was sent when it was noted, by the archive's key; None without one."""
    noted_at: datetime
    """Aware."""
    conversation: str = ""
    """Its id."""
    id: int = 0
    """The cold store's key; 0 for a case that was not stored."""


class Cases:
    def __init__(self, database: Database) -> None:
        self._database = database

    def of(self, conversation: str | None = None) -> list[Case]:
        """List the cases of a conversation by its id, or of all, in order of their messages."""
        with self._database.read() as connection:
            return [
                Case(
                    said=turn_from(turns[:_WIDTH]),
                    wanted=turn_from(turns[_WIDTH:]),
                    kind=CaseKind(kind),
                    window_id=window,
                    noted_at=datetime.fromisoformat(noted_at),
                    conversation=name,
                    id=identity,
                )
                for identity, kind, window, noted_at, name, *turns in connection.execute(
                    _CASES, (conversation,)
                ).fetchall()
            ]

    def put(self, case: Case) -> None:
        """Note a case, in place of what was noted about the same two turns."""
        row = (case.said.id, case.wanted.id, case.kind, case.window_id, case.noted_at.isoformat())
        self._database.execute(
            "INSERT INTO cases (said, wanted, kind, window, noted_at) VALUES (?, ?, ?, ?, ?)"
            " ON CONFLICT (said, wanted) DO UPDATE SET"
            " kind = excluded.kind, window = excluded.window, noted_at = excluded.noted_at",
            row,
        )

    def remove(self, case: Case) -> None:
        statement = "DELETE FROM cases WHERE said = ? AND wanted = ?"
        self._database.execute(statement, (case.said.id, case.wanted.id))
