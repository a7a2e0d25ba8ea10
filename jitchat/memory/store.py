"""The cold store: conversations and turns, in and out, at full fidelity, for ever.

Order is by position and by a counter of touches, never by the clock. A turn's text is never
changed once its status is final.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable, Iterable
from datetime import UTC, datetime

from jitchat.errors import UnknownConversation
from jitchat.memory.database import Database
from jitchat.text.safe import one_line, repaired, shortened
from jitchat.text.words import folded, is_unspaced, words
from jitchat.turn import Conversation, Role, Status, Turn

Clock = Callable[[], datetime]

TURN_COLUMNS = "t.id, t.position, t.role, t.name, t.content, t.created_at, t.status"
"""Of the table `turns` as t, in the order that `turn_from` takes them."""
UNSETTLED = (Status.STREAMING, Status.UNANSWERED)
"""A turn that is being written, or that nobody answered, is no part of what can be recalled."""
_EXCERPT = 160
_MOST, _WIDEST = 32, 200
_LISTED = """
    SELECT c.id, c.title, c.created_at, c.updated_at,
           (SELECT COALESCE(MAX(position), 0) FROM turns WHERE conversation = c.id) AS turns
    FROM conversations c
"""

_BY_WORD = """
    SELECT t.conversation, t.position, snippet(turns_fts, 0, '', '', '…', 12)
    FROM turns_fts JOIN turns t ON t.id = turns_fts.rowid
    WHERE turns_fts MATCH ? ORDER BY turns_fts.rank LIMIT ?
"""
_BY_PIECE = """
    SELECT conversation, position,
           substr(content, max(1, instr(lower(content), json_extract(?1, '$[0]')) - 40), 160)
    FROM turns WHERE NOT EXISTS (
        SELECT 1 FROM json_each(?1) AS piece WHERE instr(lower(content), piece.value) = 0
    ) ORDER BY id DESC LIMIT ?2
"""
"""For scripts without blanks: the full-text index takes a whole run of them for one word."""


def local_now() -> datetime:
    """The default clock: the user's own time, with its offset, as screens and windows show it."""
    return datetime.now().astimezone()


class ColdStore:
    """Every conversation in one database."""

    def __init__(self, database: Database, clock: Clock = local_now) -> None:
        self.database = database
        self._clock = clock

    def now(self) -> datetime:
        """The time, by this store's clock."""
        return self._clock()

    def create(self, title: str, wanted_id: str | None = None) -> Conversation:
        """A new, empty conversation. Its id is `wanted_id` made unique, or `chat-N`."""
        moment = self._clock()
        with self.database.write() as connection:
            fresh = _unused_id(connection, wanted_id)
            connection.execute(
                "INSERT INTO conversations (id, title, touched, created_at, updated_at)"
                " VALUES (?, ?, ?, ?, ?)",
                (fresh, one_line(title), _next_touch(connection), *([moment.isoformat()] * 2)),
            )
        return Conversation(fresh, one_line(title), 0, moment, moment)

    def conversations(self) -> list[Conversation]:
        """All of them, the one touched last first."""
        with self.database.read() as connection:
            rows = connection.execute(f"{_LISTED} ORDER BY c.touched DESC")
            return [_conversation(row) for row in rows]

    def conversation(self, wanted: str) -> Conversation:
        """By id, or by title where only one has it."""
        known = self.conversations()
        by_id = [each for each in known if each.id == wanted]
        by_title = [each for each in known if folded(each.title) == folded(wanted)]
        if by_id or len(by_title) == 1:
            return (by_id or by_title)[0]
        raise UnknownConversation(
            f"There is no conversation {wanted!r}.",
            "`jitchat conversations` lists them." if known else "Import one, or start a chat.",
        )

    def latest(self) -> Conversation | None:
        """The conversation that was touched last."""
        return next(iter(self.conversations()), None)

    def rename(self, conversation: str, title: str) -> None:
        """Give it another title."""
        with self.database.write() as connection:
            connection.execute(
                "UPDATE conversations SET title = ? WHERE id = ?", (one_line(title), conversation)
            )

    def turns(self, conversation: str, after: int = 0) -> list[Turn]:
        """The turns behind position `after`, in order."""
        with self.database.read() as connection:
            rows = connection.execute(
                f"SELECT {TURN_COLUMNS} FROM turns t"  # noqa: S608  a constant
                " WHERE conversation = ? AND position > ? ORDER BY position",
                (conversation, after),
            )
            return [turn_from(row) for row in rows]

    def append(self, conversation: str, turns: Iterable[Turn]) -> list[Turn]:
        """Store turns at the end, in one transaction; positions are given here."""
        with self.database.write() as connection:
            last = connection.execute(
                "SELECT COALESCE(MAX(position), 0) FROM turns WHERE conversation = ?",
                (conversation,),
            ).fetchone()[0]
            stored = [
                _insert(connection, conversation, turn, position)
                for position, turn in enumerate(turns, start=last + 1)
            ]
            self._touch(connection, conversation)
        return stored

    def set_status(self, turn: Turn, status: Status) -> None:
        """Mark how a turn ended."""
        with self.database.write() as connection:
            connection.execute("UPDATE turns SET status = ? WHERE id = ?", (status, turn.id))

    def prompts(self, limit: int) -> list[str]:
        """The latest messages that were sent from here, of any conversation, the newest first."""
        with self.database.read() as connection:
            rows = connection.execute(
                "SELECT content FROM turns WHERE id IN (SELECT turn FROM windows)"
                " ORDER BY id DESC LIMIT ?",
                (limit,),
            )
            return [str(row[0]) for row in rows]

    def search(self, text: str, limit: int = 50) -> list[tuple[str, int, str]]:
        """Find turns of any conversation with all words of `text`, the last of them begun.

        Gives (conversation, position, excerpt), the best first.
        """
        text = repaired(text).lower()
        if not words(text):
            return []
        pieces = [piece[:_WIDEST] for piece in text.split()[:_MOST]]
        query, asked = _BY_PIECE, json.dumps(pieces)
        if not is_unspaced(text):
            phrases = [piece.replace('"', '""') for piece in pieces]
            query, asked = _BY_WORD, " ".join(f'"{phrase}"' for phrase in phrases) + "*"
        with self.database.read() as connection:
            rows = connection.execute(query, (asked, limit))
            return [(found, place, shortened(piece, _EXCERPT)) for found, place, piece in rows]

    def _touch(self, connection: sqlite3.Connection, conversation: str) -> None:
        connection.execute(
            "UPDATE conversations SET touched = ?, updated_at = ? WHERE id = ?",
            (_next_touch(connection), self._clock().isoformat(), conversation),
        )


def _insert(connection: sqlite3.Connection, conversation: str, turn: Turn, position: int) -> Turn:
    moment = _aware(turn.created_at)
    name = one_line(repaired(turn.name)) if turn.name else None
    content = repaired(turn.content)
    cursor = connection.execute(
        "INSERT INTO turns (conversation, position, role, name, content, created_at, status)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)",
        (
            *(conversation, position, turn.role, name, content),
            *(moment.isoformat() if moment else None, turn.status),
        ),
    )
    identity = cursor.lastrowid or 0
    return Turn(position, turn.role, content, moment, name, turn.status, identity)


def turn_from(row: tuple[int, int, str, str | None, str, str | None, str]) -> Turn:
    """Make a turn of TURN_COLUMNS.

    Raises:
        ValueError: A column holds what it cannot.
        TypeError: A column holds another type.

    """
    identity, position, role, name, content, moment, status = row
    require(str, content, name or "")
    require(int, identity, position)
    created_at = _aware(datetime.fromisoformat(moment)) if moment else None
    return Turn(position, Role(role), content, created_at, name, Status(status), identity)


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


def _conversation(row: tuple[str, str, str, str, int]) -> Conversation:
    identity, title, created_at, updated_at, turns = row
    require(str, identity, title)
    require(int, turns)
    created, updated = datetime.fromisoformat(created_at), datetime.fromisoformat(updated_at)
    return Conversation(identity, title, turns, created, updated)


def _next_touch(connection: sqlite3.Connection) -> int:
    query = "SELECT COALESCE(MAX(touched), 0) + 1 FROM conversations"
    return int(connection.execute(query).fetchone()[0])


def _unused_id(connection: sqlite3.Connection, wanted: str | None) -> str:
    used = {row[0] for row in connection.execute("SELECT id FROM conversations")}
    base = re.sub(r"[^a-z0-9._-]+", "-", folded(wanted or "chat")).strip("-.") or "chat"
    if wanted and base not in used:
        return base
    number = 2 if wanted else 1
    while f"{base}-{number}" in used:
        number += 1
    return f"{base}-{number}"
