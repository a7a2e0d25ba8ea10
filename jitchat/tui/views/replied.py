"""The reply that a view is about, what it answers, and the window that brought it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from jitchat.memory.cold.sends import Sends
from jitchat.replay import window_of
from jitchat.text.objections import objects
from jitchat.tui.views.subject import Subject
from jitchat.turn import Role, Turn

if TYPE_CHECKING:
    from jitchat.window.window import ContextWindow

NO_REPLY = (
    "There is no reply here yet. Send a message; or choose a reply: F6 goes to the conversation."
)
STREAMING = "The reply is still being written. Open this again when it is there."


@dataclass(frozen=True, slots=True)
class Replied:
    """A message of the user, and one reply to it."""

    said: Turn
    reply: Turn
    window_id: int | None = None
    """The archive's key; None where the reply came from elsewhere, such as an import."""
    window: ContextWindow | None = None
    """As it was sent; None likewise."""


def replied(subject: Subject) -> Replied | None:
    """Find the reply under the cursor, or to the message that is; without one, the last.

    Of a last message that only says that the reply before it is wrong, it is that reply. Slow:
    it reads the window.

    Raises:
        StoreError: The store, or what it keeps of the window, cannot be read.

    """
    memory, sent = subject.session.memory, subject.sent
    shown = None if sent is not None and objects(sent.content) else sent
    pair = exchange_of(memory.turns, subject.chosen or shown)
    if pair is None:
        return None
    database = memory.store.database
    identity = Sends(database).window_id(*pair)
    if identity is None:
        return Replied(*pair)
    return Replied(*pair, identity, window_of(database, identity))


def why_none(subject: Subject) -> str:
    """Say why there is no reply to look at."""
    return STREAMING if subject.is_busy() else NO_REPLY


def exchange_of(turns: Sequence[Turn], chosen: Turn | None) -> tuple[Turn, Turn] | None:
    """Find a message and its reply among the turns of a path; None where there is no such pair."""
    pairs = [
        (said, reply)
        for said, reply in pairwise(turns)
        if said.role is Role.USER and reply.role is Role.ASSISTANT
    ]
    if chosen is not None:
        return next((pair for pair in pairs if chosen.position in _positions(pair)), None)
    while len(pairs) > 1 and objects(pairs[-1][0].content):
        pairs.pop()
    return pairs[-1] if pairs else None


def _positions(pair: tuple[Turn, Turn]) -> tuple[int, int]:
    return pair[0].position, pair[1].position
