"""A reply while it streams: durable at most half a second after it is on screen.

A row in `streaming` records which process is writing the turn. When that process is gone, the
turn is the partial text of an interrupted reply. A turn that another process closed meanwhile is
final: its writer continues in a new turn, so that nothing is lost and nothing changes.

The model's reasoning is saved next to the text, and is equally durable.

A message has a row there, too, until it is answered: meanwhile, no window of another program holds
it.
"""

import os
import sqlite3
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace

from jitchat.errors import StoreError, StoreFull, StoreReadOnly
from jitchat.store import search_index
from jitchat.store.processes import RowsInUse
from jitchat.store.store import ColdStore, tools_column
from jitchat.text.sanitize import repair
from jitchat.values import NO_TOOL_USE, Role, Status, ToolUse, Turn

SAVE_EVERY = 0.5
"""Seconds between two saves of a growing reply."""
_turns_in_use = RowsInUse(silent_for=900.0)
"""The replies that are being written."""
_RECORD = "REPLACE INTO streaming VALUES (?, ?, ?)"
_FORGET_EARLIER = """
    DELETE FROM streaming WHERE process = ?
    AND turn IN (SELECT id FROM turns WHERE conversation = ? AND role = 'user')
"""
_FORGET_ANSWERED = """
    DELETE FROM streaming
    WHERE turn IN (SELECT id FROM turns WHERE conversation = ? AND position = ?)
"""
_BEING_ANSWERED = """
    SELECT t.position, s.turn, s.process, s.seen_at FROM streaming s JOIN turns t ON t.id = s.turn
    WHERE t.conversation = ? AND t.role = 'user' AND t.position < ? AND s.process <> ?
"""
_ANSWERED_LATER = """
    SELECT question FROM turns WHERE conversation = ? AND question IS NOT NULL AND question < ?
    GROUP BY question HAVING MIN(position) > ?
"""


def _later(seconds: float, action: Callable[[], None]) -> Callable[[], None]:
    timer = threading.Timer(seconds, action)
    timer.daemon = True
    timer.start()
    return timer.cancel


@dataclass(frozen=True, slots=True)
class Place:
    said: int
    """The position of the turn to follow: the user's, or the last of an earlier step."""
    again: bool = False
    """Whether the turn has a reply already, or gets several at once: this reply is a sibling then.
    Otherwise it goes to the end of the path, after turns that were added meanwhile, so that it
    hides none of them."""
    question: int | None = None
    """The position of the message that the reply answers; None for the last one before it."""


@dataclass(frozen=True, slots=True)
class Timing:
    monotonic: Callable[[], float] = time.monotonic
    later: Callable[[float, Callable[[], None]], Callable[[], None]] = _later
    """Runs an action after some seconds, in a separate thread; returns a function to cancel it."""


class ReplyWriter:
    """Saves one reply as it grows. Safe to use from several threads."""

    def __init__(
        self,
        store: ColdStore,
        conversation: str,
        place: Place | None = None,
        timing: Timing | None = None,
    ) -> None:
        """Nothing is stored before the first delta; without a `place`, the reply is appended."""
        self._store, self._conversation = store, conversation
        self._timing, self._place = timing or Timing(), place
        self._turn = Turn(0, Role.ASSISTANT, "", store.now(), None, Status.STREAMING)
        self._lock = threading.RLock()
        """Held while the store is written to, which can wait for another instance."""
        self._growing = threading.Lock()
        """Held only briefly: adding a delta never waits for the store."""
        self._deltas: list[str] = []
        self._thoughts: list[str] = []
        self._use = NO_TOOL_USE
        self._saved_thoughts = 0, ""
        """(turn id, stored reasoning)."""
        self._saved_at = self._timing.monotonic()
        self._call_off: Callable[[], None] | None = None
        self._final: Turn | None = None
        self.stored = 0
        """Number of characters of the text that are durable."""

    @property
    def text(self) -> str:
        return "".join(self._deltas)

    @property
    def reasoning(self) -> str:
        return "".join(self._thoughts)

    def add(self, delta: str) -> bool:
        """Add a delta. Return True when it is time to `save`, which otherwise happens later."""
        return self._add(delta, self._deltas)

    def add_reasoning(self, delta: str) -> bool:
        return self._add(delta, self._thoughts)

    @property
    def use(self) -> ToolUse:
        return self._use

    def set_use(self, use: ToolUse) -> bool:
        """Set the answer's tool calls so far. Return True when it is time to `save`.

        No call runs before the whole answer is stored: a call is no more urgent than a text.
        """
        self._use = use
        return self._add("", self._deltas)

    def all_was_reasoning(self) -> None:
        """Treat all text so far as reasoning, from the next save on."""
        with self._growing:
            self._thoughts += self._deltas
            self._deltas.clear()

    def _add(self, delta: str, deltas: list[str]) -> bool:
        with self._growing:
            is_first = not self._deltas and not self._thoughts
            deltas.append(delta)
            waited = self._timing.monotonic() - self._saved_at
            if is_first or waited >= SAVE_EVERY:
                return True
            if self._call_off is None:
                self._call_off = self._timing.later(SAVE_EVERY - waited, self._save_quietly)
            return False

    def save(self) -> None:
        with self._lock:
            if self._final is None:
                self._write(Status.STREAMING)

    def finish(self, status: Status) -> Turn:
        """Store the final text and status in one transaction. After success, calls do nothing."""
        with self._lock:
            self._final = self._final or self._write(status)
            # Not reached if the store refused: no other process must close a turn to be retried.
            _turns_in_use.discard(self._store.database, self._turn.id)
            return self._final

    def _save_quietly(self) -> None:
        with suppress(StoreError):  # `finish` reports what cannot be stored
            self.save()

    def _write(self, status: Status) -> Turn:
        with self._growing:
            if self._call_off is not None:
                self._call_off()
            self._call_off, self._saved_at = None, self._timing.monotonic()
            text, thoughts, use = repair(self.text), repair(self.reasoning), self._use
        with self._store.database.write() as connection:
            turn = self._open_turn(connection)
            connection.execute(
                "UPDATE turns SET content = ?, status = ?, tools = ? WHERE id = ?",
                (text, status, tools_column(use), turn.id),
            )
            if thoughts and self._saved_thoughts != (turn.id, thoughts):
                connection.execute("REPLACE INTO reasoning VALUES (?, ?)", (turn.id, thoughts))
            if status is Status.STREAMING:
                _turns_in_use.add(self._store.database, turn.id)
                row = (turn.id, os.getpid(), self._store.now().timestamp())
                connection.execute(_RECORD, row)
            else:
                connection.execute("DELETE FROM streaming WHERE turn = ?", (turn.id,))
                if self._place is not None and not use.calls:
                    answered = self._conversation, self._place.question
                    connection.execute(_FORGET_ANSWERED, answered)
                search_index.add(connection, [turn.id])
                self._store.switch_to(self._conversation, turn.position)
        self._saved_thoughts = turn.id, thoughts
        self.stored = len(text)
        self._turn = turn  # only after the commit: a row that was rolled back has no id
        return replace(turn, content=text, status=status, use=use)

    def _open_turn(self, connection: sqlite3.Connection) -> Turn:
        """Return the turn to write to: a new one if there is none yet, or if it was closed."""
        query = "SELECT 1 FROM turns WHERE id = ? AND status = ?"
        if connection.execute(query, (self._turn.id, Status.STREAMING)).fetchone():
            return self._turn
        place, parent, turn = self._place, None, self._turn
        path = self._store.path(self._conversation)
        if place and (place.again or place.said not in path):
            parent = place.said
        if place and place.question is not None:
            follows = path.head if parent is None else parent
            is_last = self._store.last_message(self._conversation, follows) == place.question
            turn = replace(turn, question=None if is_last else place.question)
        return self._store.append(self._conversation, [turn], parent)[0]


def begin_answering(store: ColdStore, conversation: str, message: Turn) -> None:
    """Record that this process has a message answered; call it in the message's transaction."""
    store.database.execute(_FORGET_EARLIER, (os.getpid(), conversation))
    store.database.execute(_RECORD, (message.id, os.getpid(), store.now().timestamp()))


def end_answering(store: ColdStore, message: Turn) -> None:
    store.database.execute("DELETE FROM streaming WHERE turn = ?", (message.id,))


def open_questions(store: ColdStore, conversation: str, before: int) -> frozenset[int]:
    """Return the messages before a position whose replies are not before it.

    Another program has them answered now, or had when the turn at that position was written.
    """
    later = store.database.fetch_all(_ANSWERED_LATER, (conversation, before, before))
    answering = store.database.fetch_all(_BEING_ANSWERED, (conversation, before, os.getpid()))
    now = store.now().timestamp()
    return frozenset(position for (position,) in later) | {
        position
        for position, turn, process, seen_at in answering
        if _turns_in_use.is_in_use(store.database, turn, process, now - seen_at)
    }


def close_interrupted(store: ColdStore) -> int:
    """Mark the replies whose writer is gone as interrupted; return their number.

    If the disk cannot be written, none is marked: that can wait for the next write.
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
            search_index.add(connection, gone)
    except (StoreFull, StoreReadOnly):
        return 0
    return len(gone)


def _abandoned(store: ColdStore) -> list[int]:
    now, database = store.now().timestamp(), store.database
    with database.read() as connection:
        rows = connection.execute(
            "SELECT s.turn, s.process, s.seen_at FROM streaming s JOIN turns t ON t.id = s.turn"
            " WHERE t.role = 'assistant'"
        ).fetchall()
        return [
            turn
            for turn, process, seen_at in rows
            if not _turns_in_use.is_in_use(database, turn, process, now - seen_at)
        ]
