"""A reply while it streams: durable at most a second behind the screen.

A row in `streaming` says which process is writing the turn. When that process is gone, the
turn is what is left of an interrupted reply.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from datetime import datetime

from jitchat.memory.store import ColdStore
from jitchat.text.safe import repaired
from jitchat.turn import Role, Status, Turn

SAVE_EVERY = 0.5
"""Seconds between two saves of a growing reply."""
_STALE_AFTER = 120.0
"""Seconds without a save after which even a living process is not writing: ids are reused."""


class ReplyWriter:
    """Saves one reply as it grows."""

    def __init__(
        self,
        store: ColdStore,
        conversation: str,
        turn: Turn,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._store, self._conversation = store, conversation
        self._monotonic = monotonic
        self._pieces: list[str] = []
        self._saved_at = monotonic()
        self._turn = turn

    @property
    def text(self) -> str:
        """What has arrived so far."""
        return "".join(self._pieces)

    def add(self, piece: str) -> bool:
        """Take a piece; True when it is time to `save`."""
        self._pieces.append(piece)
        return len(self._pieces) == 1 or self._monotonic() - self._saved_at >= SAVE_EVERY

    def save(self) -> None:
        """Make what arrived durable."""
        self._saved_at = self._monotonic()
        with self._store.database.write() as connection:
            self._ensure_stored()
            connection.execute(
                "UPDATE turns SET content = ? WHERE id = ?", (repaired(self.text), self._turn.id)
            )
            connection.execute(
                "REPLACE INTO streaming VALUES (?, ?, ?)", (self._turn.id, os.getpid(), time.time())
            )

    def finish(self, status: Status) -> Turn:
        """The final text and status, in one transaction."""
        with self._store.database.write() as connection:
            self._ensure_stored()
            text = repaired(self.text)
            connection.execute(
                "UPDATE turns SET content = ?, status = ? WHERE id = ?",
                (text, status, self._turn.id),
            )
            connection.execute("DELETE FROM streaming WHERE turn = ?", (self._turn.id,))
        made = self._turn
        return Turn(made.position, made.role, text, made.created_at, None, status, made.id)

    def _ensure_stored(self) -> None:
        if not self._turn.id:
            self._turn = self._store.append(self._conversation, [self._turn])[0]


def begin_reply(store: ColdStore, conversation: str, started: datetime) -> ReplyWriter:
    """A writer for the answer; nothing is stored before its first piece."""
    empty = Turn(0, Role.ASSISTANT, "", started, None, Status.STREAMING)
    return ReplyWriter(store, conversation, empty)


def close_interrupted(store: ColdStore) -> int:
    """Mark the replies whose writer is gone; how many there were."""
    with store.database.write() as connection:
        rows = connection.execute("SELECT turn, process, seen_at FROM streaming").fetchall()
        gone = [turn for turn, process, seen_at in rows if not _writing(process, seen_at)]
        for turn in gone:
            connection.execute(
                "UPDATE turns SET status = ? WHERE id = ?", (Status.INTERRUPTED, turn)
            )
            connection.execute("DELETE FROM streaming WHERE turn = ?", (turn,))
    return len(gone)


def _writing(process: int, seen_at: float) -> bool:
    fresh = abs(time.time() - seen_at) < _STALE_AFTER
    return fresh and process != os.getpid() and _alive(process)


def _alive(process: int) -> bool:
    if sys.platform == "win32":
        return True  # there, signal 0 would end the process: the time of the last save decides
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
