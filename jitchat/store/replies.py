"""A reply while it streams: durable at most half a second behind the screen.

A row in `streaming` says which process is writing the turn. When that process is gone, the
turn is what is left of an interrupted reply. A turn that somebody else closed meanwhile is
final: its writer goes on in a new turn, so that nothing is lost and nothing changes.

What the model thinks ahead of its answer is saved beside the text, as durable as that.

Read for the few replies that are on screen; the windows that were sent hold it.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from jitchat.errors import StoreError, StoreFull, StoreReadOnly
from jitchat.store.database import Database
from jitchat.store.store import ColdStore
from jitchat.text.sanitize import repair
from jitchat.values import Mode, Role, Status, Turn, Usage

if TYPE_CHECKING:
    import sqlite3


SAVE_EVERY = 0.5
"""Seconds between two saves of a growing reply."""
_SILENT_FOR = 900.0
"""Seconds without a save after which even a living process is not writing: ids are reused."""

_written_here: set[tuple[str, int]] = set()
"""(database, turn) of the replies that this very process is writing: its id may be reused."""


def _later(seconds: float, action: Callable[[], None]) -> Callable[[], None]:
    timer = threading.Timer(seconds, action)
    timer.daemon = True
    timer.start()
    return timer.cancel


@dataclass(frozen=True, slots=True)
class Place:
    """What a reply answers."""

    said: int
    """The position of the user's turn."""
    again: bool = False
    """Whether it has a reply, or gets several at once: another one stands beside. The first one
    goes behind what somebody else may have said meanwhile, so that it hides none of it."""


@dataclass(frozen=True, slots=True)
class Timing:
    """What a writer knows of time."""

    monotonic: Callable[[], float] = time.monotonic
    later: Callable[[float, Callable[[], None]], Callable[[], None]] = _later
    """Runs something in so many seconds, in a thread of its own; returns what calls it off."""


class ReplyWriter:
    """Saves one reply as it grows. Safe to use from several threads."""

    def __init__(
        self,
        store: ColdStore,
        conversation: str,
        turn: Turn,
        timing: Timing | None = None,
        place: Place | None = None,
    ) -> None:
        """Without a `place`, the reply goes to the end of the conversation."""
        self._store, self._conversation, self._turn = store, conversation, turn
        self._timing, self._place = timing or Timing(), place
        self._lock = threading.RLock()
        """Held while the store is written to, which may wait for another instance."""
        self._growing = threading.Lock()
        """Held for a moment: who adds a piece never waits for the store."""
        self._pieces: list[str] = []
        self._thoughts: list[str] = []
        self._saved_thoughts = 0, ""
        """What is stored of the reasoning, and with which turn."""
        self._saved_at = self._timing.monotonic()
        self._call_off: Callable[[], None] | None = None
        self._final: Turn | None = None
        self.stored = 0
        """How many characters of the text are durable."""

    @property
    def text(self) -> str:
        """What has arrived so far."""
        return "".join(self._pieces)

    @property
    def reasoning(self) -> str:
        """What the model has thought so far."""
        return "".join(self._thoughts)

    def add(self, piece: str) -> bool:
        """Take a piece; True when it is time to `save`, which happens by itself a bit later."""
        return self._add(piece, self._pieces)

    def add_reasoning(self, piece: str) -> bool:
        """Take a piece of the reasoning, as `add` takes one of the text."""
        return self._add(piece, self._thoughts)

    def all_was_reasoning(self) -> None:
        """Take all text so far for reasoning; it is saved so the next time."""
        with self._growing:
            self._thoughts += self._pieces
            self._pieces.clear()

    def _add(self, piece: str, pieces: list[str]) -> bool:
        with self._growing:
            is_first = not self._pieces and not self._thoughts
            pieces.append(piece)
            waited = self._timing.monotonic() - self._saved_at
            if is_first or waited >= SAVE_EVERY:
                return True
            if self._call_off is None:
                self._call_off = self._timing.later(SAVE_EVERY - waited, self._save_quietly)
            return False

    def save(self) -> None:
        """Make what arrived durable."""
        with self._lock:
            if self._final is None:
                self._write(Status.STREAMING)

    def finish(self, status: Status) -> Turn:
        """Store the final text and status, in one transaction. Once it did, that is that."""
        with self._lock:
            self._final = self._final or self._write(status)
            # Not where it was refused: nobody else is to close what is tried again.
            _written_here.discard(self._key(self._turn))
            return self._final

    def _save_quietly(self) -> None:
        """Save from the timer's thread; what cannot be stored is told by `finish`."""
        with suppress(StoreError):
            self.save()

    def _write(self, status: Status) -> Turn:
        with self._growing:
            if self._call_off is not None:
                self._call_off()
            self._call_off, self._saved_at = None, self._timing.monotonic()
            text, thoughts = repair(self.text), repair(self.reasoning)
        with self._store.database.write() as connection:
            turn = self._open_turn(connection)
            connection.execute(
                "UPDATE turns SET content = ?, status = ? WHERE id = ?", (text, status, turn.id)
            )
            if thoughts and self._saved_thoughts != (turn.id, thoughts):
                connection.execute("REPLACE INTO reasoning VALUES (?, ?)", (turn.id, thoughts))
            self._note_writer(connection, turn, status)
        self._saved_thoughts = turn.id, thoughts
        self.stored = len(text)
        self._turn = turn  # not before the commit: a row that was rolled back has no id
        return replace(turn, content=text, status=status)

    def _note_writer(self, connection: sqlite3.Connection, turn: Turn, status: Status) -> None:
        """Say that the reply is being written here, or, once it is whole, that it is looked at."""
        if status is Status.STREAMING:
            _written_here.add(self._key(turn))
            row = (turn.id, os.getpid(), self._store.now().timestamp())
            connection.execute("REPLACE INTO streaming VALUES (?, ?, ?)", row)
        else:
            connection.execute("DELETE FROM streaming WHERE turn = ?", (turn.id,))
            self._store.switch_to(self._conversation, turn.position)

    def _open_turn(self, connection: sqlite3.Connection) -> Turn:
        """The turn to write to: a new one where there is none yet, or where it was closed."""
        query = "SELECT 1 FROM turns WHERE id = ? AND status = ?"
        if connection.execute(query, (self._turn.id, Status.STREAMING)).fetchone():
            return self._turn
        return self._store.append(self._conversation, [self._turn], self._parent())[0]

    def _parent(self) -> int | None:
        """The position that a new turn follows; None for the head."""
        place = self._place
        if place is None:
            return None
        is_at_the_end = place.said in self._store.path(self._conversation)
        return None if is_at_the_end and not place.again else place.said

    def _key(self, turn: Turn) -> tuple[str, int]:
        return str(self._store.database.path), turn.id


def begin_reply(
    store: ColdStore, conversation: str, started: datetime, place: Place | None = None
) -> ReplyWriter:
    """Make a writer for the answer; nothing is stored before its first piece."""
    empty = Turn(0, Role.ASSISTANT, "", started, None, Status.STREAMING)
    return ReplyWriter(store, conversation, empty, place=place)


def close_interrupted(store: ColdStore) -> int:
    """Mark the replies whose writer is gone; how many there were.

    Where the disk refuses, none is marked: it can wait until the store is written to again.
    """
    if not _abandoned(store):
        return 0
    try:
        with store.database.write() as connection:
            gone = _abandoned(store)
            connection.executemany(
                "UPDATE turns SET status = ? WHERE id = ?",
                [(Status.INTERRUPTED, turn) for turn in gone],
            )
            connection.executemany("DELETE FROM streaming WHERE turn = ?", [(t,) for t in gone])
    except (StoreFull, StoreReadOnly):
        return 0
    return len(gone)


def _abandoned(store: ColdStore) -> list[int]:
    now, database = store.now().timestamp(), str(store.database.path)
    with store.database.read() as connection:
        rows = connection.execute("SELECT turn, process, seen_at FROM streaming").fetchall()
        return [
            turn
            for turn, process, seen_at in rows
            if not (
                (database, turn) in _written_here
                if process == os.getpid()
                else _is_alive(process) and abs(now - seen_at) < _SILENT_FOR
            )
        ]


def _is_alive(process: int) -> bool:
    if sys.platform == "win32":
        return True  # there, signal 0 would end the process: the time of the last save decides
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True


_REPLIES = """
    SELECT t.value, COALESCE(json_extract(w.header, '$.model'), ''), COALESCE(w.provider, ''),
           w.stop, w.cost, COALESCE(r.content, ''), w.input_tokens, w.output_tokens,
           COALESCE(w.cached_tokens, 0), COALESCE(w.written_tokens, 0),
           COALESCE(w.reasoning_tokens, 0), w.charged
    FROM json_each(?) AS t
    LEFT JOIN windows w ON w.id = (SELECT MAX(id) FROM windows WHERE reply = t.value)
    LEFT JOIN reasoning r ON r.turn = t.value
    WHERE w.id IS NOT NULL OR r.turn IS NOT NULL
"""


@dataclass(frozen=True, slots=True)
class ReplyNote:
    """The record of one reply."""

    model: str
    """Its own name; empty where no window is known that the reply answers."""
    provider: str
    """As the settings call it; empty where that was not kept."""
    stop: str | None
    """The provider's word for why it ended; None where it did not say, or that was not kept."""
    usage: Usage | None
    """As the provider reported it, if it did."""
    cost: float | None
    """In US dollars; None where no price was known."""
    reasoning: str = ""
    """What the model thought ahead of its answer."""


class ReplyNotes:
    """The notes of every conversation."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def of(self, replies: Iterable[int]) -> dict[int, ReplyNote]:
        """Read the notes of these turns, given by id; those of which nothing is known are left."""
        with self._database.read() as connection:
            rows = connection.execute(_REPLIES, (json.dumps(list(replies)),))
            return {identity: _note(*columns) for identity, *columns in rows}


def _note(model: str, provider: str, stop: str | None, *rest: Any) -> ReplyNote:  # noqa: ANN401  as SQLite gives it
    cost, reasoning, *counts = rest
    is_reported = counts[0] is not None or counts[1] is not None
    usage = Usage(*counts) if is_reported else None
    return ReplyNote(model, provider, stop, usage, cost, reasoning)


_ANSWERS = """
    SELECT json_extract(w.header, '$.mode'), r.position
    FROM windows w JOIN turns r ON r.id = w.reply
    WHERE w.turn = ? AND r.position > ? ORDER BY w.id
"""


def answers_to(database: Database, turn_id: int, after: int = 0) -> dict[Mode, int]:
    """Tell the position of the latest reply in each mode that brought one.

    `turn_id` is the cold store's key of the user's turn; replies up to position `after` are
    passed over.

    Raises:
        StoreError: The store cannot be read.

    """
    with database.read() as connection:
        rows = connection.execute(_ANSWERS, (turn_id, after))
        return {Mode(mode): int(position) for mode, position in rows}
