"""The user's reports about replies: which turn was missing, and which was rightly in the window.

Each is a case that can be tested again: a message, and a turn that its window must contain.
"""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from jitchat.store.database import Records
from jitchat.store.store import TURN_COLUMNS, turn_from
from jitchat.text.figures import moment_of
from jitchat.values import Turn

_WIDTH = len(TURN_COLUMNS.split(","))
_WANTED_COLUMNS = TURN_COLUMNS.replace("t.", "w.")
_CASES = f"""
    SELECT c.id, c.kind, c.window, c.noted_at, t.conversation, {TURN_COLUMNS}, {_WANTED_COLUMNS}
    FROM cases c CROSS JOIN turns t ON t.id = c.said JOIN turns w ON w.id = c.wanted
    WHERE :id IS NULL OR t.conversation = :id ORDER BY t.conversation, t.position, w.position
"""  # noqa: S608  constants
"""CROSS makes SQLite read the tables in this order: there are few cases."""


class CaseKind(StrEnum):
    MISS = "miss"
    """The turn was not in the window, but should have been."""
    KEPT = "kept"
    """The turn was in the window, and must be found again."""


@dataclass(frozen=True, slots=True)
class Case:
    """A message, and a turn that its window must contain, whole or as an excerpt."""

    said: Turn
    """The user's turn."""
    wanted: Turn
    kind: CaseKind
    window_id: int | None
    """The archive's key of the window that was sent; None if there was none."""
    noted_at: datetime
    """Timezone-aware."""
    conversation: str = ""
    """The conversation's id."""
    id: int = 0
    """The cold store's key; 0 for a case that was not stored."""


class Cases(Records):
    def of(self, conversation: str | None = None) -> list[Case]:
        """List the cases of one conversation, or of all, in order of their messages."""
        with self._database.read() as connection:
            return [
                Case(
                    said=turn_from(turns[:_WIDTH]),
                    wanted=turn_from(turns[_WIDTH:]),
                    kind=CaseKind(kind),
                    window_id=window,
                    noted_at=moment_of(noted_at),
                    conversation=name,
                    id=identity,
                )
                for identity, kind, window, noted_at, name, *turns in connection.execute(
                    _CASES, {"id": conversation}
                ).fetchall()
            ]

    def put(self, case: Case) -> None:
        """Store a case, replacing any case with the same two turns."""
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
