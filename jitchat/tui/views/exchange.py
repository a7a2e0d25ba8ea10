"""A message of the user with one reply to it, and the window that was sent for it."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from textual.content import Content
from textual.reactive import reactive
from textual.widget import Widget

from jitchat.replay import window_of
from jitchat.store.windows import WindowArchive
from jitchat.text.sanitize import one_line, shorten
from jitchat.text.stance import objects
from jitchat.tui.views.view import Subject
from jitchat.values import Role, Turn
from jitchat.window.window import ContextWindow

_LEAST_WIDTH = 20
NO_REPLY = (
    "There is no reply here yet. Send a message; or choose a reply: F6 goes to the conversation."
)
STREAMING = "The reply is still being written. Open this again when it is there."


@dataclass(frozen=True, slots=True)
class Exchange:
    """A message of the user, and one reply to it."""

    message: Turn
    reply: Turn
    window_id: int | None = None
    """The archive's key; None where the reply came from elsewhere, such as an import."""
    window: ContextWindow | None = None
    """As it was sent; None likewise."""


class ExchangeHeading(Widget):
    """The message and the reply, a line each."""

    exchange: reactive[Exchange | None] = reactive(None, layout=True)

    def render(self) -> Content:
        return Content(self.text(max(_LEAST_WIDTH, self.size.width)))

    def text(self, width: int) -> str:
        """Write both, cut to so many cells."""
        if self.exchange is None:
            return ""
        turns = (("message", self.exchange.message), ("reply", self.exchange.reply))
        return "\n".join(
            shorten(f"{name} #{turn.position}: {one_line(turn.content[:width])}", width)
            for name, turn in turns
        )


def find_exchange(subject: Subject) -> Exchange | None:
    """Find the reply under the cursor, or to the message that is; without one, the last.

    Of a last message that only says that the reply before it is wrong, it is that reply. Slow:
    it reads the window.

    Raises StoreError: the store, or what it keeps of the window, cannot be read.
    """
    memory, sent = subject.session.memory, subject.sent
    shown = None if sent is not None and objects(sent.content) else sent
    pair = pair_of(memory.turns, subject.chosen or shown)
    if pair is None:
        return None
    database = memory.store.database
    window_id = WindowArchive(database).window_id(*pair)
    window = window_of(database, window_id) if window_id is not None else None
    return Exchange(*pair, window_id, window)


def why_none(subject: Subject) -> str:
    """Say why there is no reply to look at."""
    return STREAMING if subject.is_busy() else NO_REPLY


def pair_of(turns: Sequence[Turn], chosen: Turn | None) -> tuple[Turn, Turn] | None:
    """Find a message and its reply among the turns of a path; None where there is no such pair."""
    pairs = [
        (message, reply)
        for message, reply in pairwise(turns)
        if message.role is Role.USER and reply.role is Role.ASSISTANT
    ]
    if chosen is not None:
        wanted = chosen.position
        return next((pair for pair in pairs if wanted in (turn.position for turn in pair)), None)
    while len(pairs) > 1 and objects(pairs[-1][0].content):
        pairs.pop()
    return pairs[-1] if pairs else None
