"""What was sent, as it was: read back from the cold store and checked against its hash."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from jitchat.store.store import ColdStore, require
from jitchat.store.windows import Send, WindowArchive
from jitchat.values import Turn
from jitchat.window.record import window_from
from jitchat.window.window import ContextWindow

if TYPE_CHECKING:
    from jitchat.store.database import Database


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
        return WindowArchive(self._store.database).sends(self._conversation)

    def open(self, send: Send) -> Replayed:
        """Read one of them whole.

        Raises:
            StoreUnreadable: What is kept of it is damaged.

        """
        window = window_of(self._store.database, send.window_id)
        reply = None if send.reply is None else self._turn(send.reply)
        return Replayed(send, window, self._turn(send.said), reply, window.digest)

    def _turn(self, position: int) -> Turn:
        turn = self._store.turn(self._conversation, position)
        if turn is None:
            raise self._store.database.damaged()
        return turn


def window_of(database: Database, window_id: int) -> ContextWindow:
    """Read one window as it was sent, by the archive's key.

    Raises:
        StoreUnreadable: It is not there, or what is kept of it is damaged.

    """
    try:
        record = WindowArchive(database).by_id(window_id)
        window = window_from(record.header, record.segments, record.ledger)
        _check(window)
    except (ValueError, TypeError, LookupError, AttributeError) as error:
        raise database.damaged() from error
    return window


def _check(window: ContextWindow) -> None:
    """Check what no constructor does.

    Raises:
        TypeError: Something is not what it must be.
        LookupError: There is no segment at all.

    """
    segments, budget = window.segments, window.budget
    last = segments[-1]
    require(int, *(segment.tokens for segment in segments), *(row.turn for row in window.ledger))
    require(int, window.full_tokens, window.counted, window.band, budget.limit, budget.reserve)
    require(str, *(segment.text for segment in segments), last.reason, window.model)


def sends_for(sends: list[Send], position: int) -> list[Send]:
    """Choose those that answered a user's turn; for the position of a reply, those that gave it."""
    gave = [send for send in sends if send.reply == position]
    return gave or [send for send in sends if send.said == position]
