"""A turn as a row of the cold store: in, and out again."""

from __future__ import annotations

import sqlite3
from datetime import UTC, datetime

from jitchat.text.safe import one_line, repaired
from jitchat.turn import Role, Status, Turn

TURN_COLUMNS = "t.id, t.position, t.role, t.name, t.content, t.created_at, t.status, t.parent"
"""Of the table `turns` as t, in the order that `turn_from` takes them."""
_ROLES: dict[str, Role] = {each.value: each for each in Role}
_STATUSES: dict[str, Status] = {each.value: each for each in Status}
"""Looked up, for each of 100,000 turns, in a third of what the enumeration takes."""


def insert_turn(
    connection: sqlite3.Connection, conversation: str, turn: Turn, position: int, parent: int | None
) -> Turn:
    """Store a turn at a position; as it is then. `parent` is as a turn has it."""
    moment = _aware(turn.created_at)
    name = one_line(repaired(turn.name)) if turn.name else None
    content = repaired(turn.content)
    cursor = connection.execute(
        "INSERT INTO turns"
        " (conversation, position, role, name, content, created_at, status, parent)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (
            *(conversation, position, turn.role, name, content),
            *(moment.isoformat() if moment else None, turn.status, parent),
        ),
    )
    identity = cursor.lastrowid or 0
    return Turn(position, turn.role, content, moment, name, turn.status, identity, parent)


def turn_from(row: tuple[int, int, str, str | None, str, str | None, str, int | None]) -> Turn:
    """Make a turn of TURN_COLUMNS.

    Raises:
        ValueError: A column holds what it cannot.
        TypeError: A column holds another type.

    """
    identity, position, role, name, content, moment, status, parent = row
    if not (isinstance(content, str) and isinstance(identity, int) and isinstance(position, int)):
        raise TypeError("not a turn")
    if name is not None:
        require(str, name)
    created_at = _aware(datetime.fromisoformat(moment)) if moment else None
    spoken, ended = _ROLES.get(role) or Role(role), _STATUSES.get(status) or Status(status)
    return Turn(position, spoken, content, created_at, name, ended, identity, parent)


def require(kind: type, *values: object) -> None:
    """Check that a row gave what its columns are declared to hold: SQLite does not.

    Raises:
        TypeError: It gave something else.

    """
    if not all(isinstance(value, kind) for value in values):
        raise TypeError(f"not {kind.__name__}")


def _aware(moment: datetime | None) -> datetime | None:
    """The moment; one without a zone is in UTC, so that all can be compared."""
    return moment.replace(tzinfo=UTC) if moment and moment.tzinfo is None else moment
