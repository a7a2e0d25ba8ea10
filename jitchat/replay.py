"""What was sent, as it was: read back from the cold store and checked against its hash."""

from __future__ import annotations

from dataclasses import dataclass

from jitchat.memory.cold.archive import WindowArchive, WindowRecord
from jitchat.memory.cold.sends import Send, Sends
from jitchat.memory.cold.sqlite_errors import damaged
from jitchat.memory.cold.store import ColdStore
from jitchat.memory.cold.turn_rows import require
from jitchat.turn import Turn
from jitchat.window.record import window_from
from jitchat.window.window import ContextWindow


@dataclass(frozen=True, slots=True)
class Replayed:
    """A send with the window that left, what it was for, and what came of it."""

    send: Send
    window: ContextWindow
    said: Turn
    reply: Turn | None
    """None where nothing came."""
    digest: str
    """SHA-256 of the messages as they are now, in hexadecimal."""

    @property
    def is_as_sent(self) -> bool:
        """Whether the messages are those that left, byte for byte."""
        return self.digest == self.send.digest


class Replay:
    """The sends of one conversation. Reads, and changes nothing; takes a thread's time."""

    def __init__(self, store: ColdStore, conversation: str) -> None:
        """`conversation` is its id."""
        self._store, self._conversation = store, conversation

    def sends(self) -> list[Send]:
        """List all of them, of every branch, in the order of sending."""
        return Sends(self._store.database).of(self._conversation)

    def open(self, send: Send) -> Replayed:
        """Read one of them whole.

        Raises:
            StoreUnreadable: What is kept of it is damaged.

        """
        window, digest = self._window(WindowArchive(self._store.database).by_id(send.window_id))
        reply = None if send.reply is None else self._turn(send.reply)
        return Replayed(send, window, self._turn(send.said), reply, digest)

    def _window(self, record: WindowRecord) -> tuple[ContextWindow, str]:
        try:
            window = window_from(record.header, record.segments, record.ledger)
            require(int, *(segment.tokens for segment in window.segments))
        except (ValueError, TypeError, LookupError, AttributeError) as error:
            raise damaged(self._store.database.path) from error
        return window, window.digest

    def _turn(self, position: int) -> Turn:
        turn = self._store.turn(self._conversation, position)
        if turn is None:
            raise damaged(self._store.database.path)
        return turn


def sends_for(sends: list[Send], position: int) -> list[Send]:
    """Choose those that answered a user's turn; for the position of a reply, those that gave it."""
    gave = [send for send in sends if send.reply == position]
    return gave or [send for send in sends if send.said == position]
