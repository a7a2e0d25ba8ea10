"""Windows as they were sent, verified by hash: of a conversation, of a turn, or by their id."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from jitchat.memory import Memory
from jitchat.store.attachments import bytes_of
from jitchat.store.database import Database
from jitchat.store.store import ColdStore, require
from jitchat.store.windows import Ending, Send, WindowArchive
from jitchat.values import Role, Turn, Usage
from jitchat.window.exchange import replies_to
from jitchat.window.record import window_from
from jitchat.window.window import ContextWindow, Segment

SentExchange = tuple[ContextWindow, Ending | None]
"""A window that was sent, and how it was answered; None while it is being answered."""


@dataclass(frozen=True, slots=True)
class Replayed:
    """A send with its window."""

    send: Send
    window: ContextWindow
    said: Turn
    reply: Turn | None
    """None if there was no reply."""
    digest: str
    """SHA-256 of the messages as read now, in hexadecimal."""

    @property
    def is_as_sent(self) -> bool:
        return self.digest == self.send.digest


class Replay:
    """The sends of one conversation. Read-only; blocking, so call it in a thread."""

    def __init__(self, store: ColdStore, conversation: str) -> None:
        """`conversation` is its id."""
        self._store, self._conversation = store, conversation

    def sends(self) -> list[Send]:
        """List the sends of all branches, in the order of sending."""
        return WindowArchive(self._store.database).sends(self._conversation)

    def open(self, send: Send) -> Replayed:
        """Read a send with its window.

        Raises:
            StoreUnreadable: The stored window is damaged.

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
    """Read a window as it was sent, by its id in the archive.

    Raises:
        StoreUnreadable: It is missing or damaged.

    """
    try:
        record = WindowArchive(database).by_id(window_id)
        window = window_from(record.header, record.segments, record.ledger)
        window = _with_pictures(window, database)
        segments, budget = window.segments, window.budget
        numbers = (window.full_tokens, window.counted, window.band, budget.limit, budget.reserve)
        require(int, *numbers, *(segment.tokens for segment in segments))
        require(int, *(row.turn for row in window.ledger))
        require(str, *(segment.text for segment in segments), segments[-1].reason, window.model)
    except (ValueError, TypeError, LookupError, AttributeError) as error:
        raise database.damaged() from error
    return window


def last_reported(memory: Memory, provider: str, model: str) -> tuple[ContextWindow, Usage] | None:
    """Read the conversation's last window with the model's usage, if there is one."""
    identity = memory.archive.last_id(memory.conversation.id)
    if identity is None:
        return None
    ending = memory.archive.ending(identity)
    if ending is None or ending.provider != provider:
        return None
    window = window_of(memory.store.database, identity)
    if window.model == model and ending.usage is not None and ending.usage.input_tokens:
        return window, ending.usage
    return None


def _with_pictures(window: ContextWindow, database: Database) -> ContextWindow:
    """Add the bytes of pictures, which are stored with the files."""
    if not any(segment.file is not None and segment.file.picture for segment in window.segments):
        return window
    return replace(
        window, segments=tuple(_with_picture(each, database) for each in window.segments)
    )


def _with_picture(segment: Segment, database: Database) -> Segment:
    file = segment.file
    if file is None or file.picture is None:
        return segment
    picture = replace(file.picture, data=bytes_of(database, file.digest))
    pieces = tuple(
        piece if piece.picture is None else replace(piece, picture=picture)
        for piece in segment.pieces
    )
    return replace(segment, file=replace(file, picture=picture), pieces=pieces)


def sends_for(sends: list[Send], position: int) -> list[Send]:
    """Return the sends for a user's turn or, given a reply's position, those that produced it."""
    gave = [send for send in sends if send.reply == position]
    return gave or [send for send in sends if send.said == position]


def sent_exchange(memory: Memory, turn: Turn, reply: Turn | None = None) -> SentExchange | None:
    """Load the window that brought a reply or, without one, the last window sent for a user turn.

    None if no window was sent for it.

    Raises:
        StoreUnreadable: The stored window is damaged.

    """
    archive = memory.archive
    identity = archive.window_id(turn, reply)
    if identity is None:
        return None
    return window_of(memory.store.database, identity), archive.ending(identity)


def sent_on_path(memory: Memory, turn: Turn, chosen: Turn | None = None) -> SentExchange | None:
    """Load what `sent_exchange` does for the chosen reply, otherwise for the reply on the path.

    If that reply was not sent here, or there is none, load what was sent last for the turn.
    """
    if chosen is not None and chosen.role is Role.ASSISTANT:
        return sent_exchange(memory, turn, chosen)
    is_there = memory.turn_at(turn.position) is not None
    reply = last_reply(memory.turns, turn.position) if is_there else None
    sent = sent_exchange(memory, turn, reply) if reply is not None else None
    return sent or sent_exchange(memory, turn)


class SentBefore:
    """Reads the window that was sent for the last message on the path. Call it in a thread."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._last: tuple[int, ContextWindow, datetime | None] | None = None
        """The last window that was read: its id, and when it was sent."""

    def read(self, said: Turn) -> tuple[ContextWindow, datetime | None] | None:
        memory, archive = self._memory, self._memory.archive
        is_there = memory.turn_at(said.position) is not None
        reply = last_reply(memory.turns, said.position) if is_there else None
        identity = archive.window_id(said, reply) if reply is not None else None
        identity = identity or archive.window_id(said)
        if identity is None:
            return None
        if self._last is None or self._last[0] != identity:
            window = window_of(memory.store.database, identity)
            self._last = identity, window, archive.by_id(identity).sent_at
        return self._last[1:]


def last_reply(turns: Sequence[Turn], position: int) -> Turn | None:
    """Find the reply on a path to the message at a position: of a turn with tools, its last answer.

    None if it has none.
    """
    replies = list(replies_to(turns, position))
    return replies[-1] if replies else None
