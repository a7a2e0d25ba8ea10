"""The frame that all views share: a title, what it shows in one line, a body, the keys.

On a wide terminal a view leaves room for the transcript beside it, unless it needs all of it;
on a narrow one it is a screen of its own. Opening one changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import PurePath
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.widgets import Static

from jitchat.errors import JitchatError
from jitchat.replay import window_of
from jitchat.store.windows import Sends
from jitchat.text.sanitize import visible
from jitchat.text.stance import objects
from jitchat.tui.keys import VIEW_ACTIONS
from jitchat.tui.notices import notify_error
from jitchat.tui.widgets.hint_line import KeyLine
from jitchat.values import Mode, Role, Status, Turn
from jitchat.window.steering import NO_MORE, Held, Once
from jitchat.window.window import ContextWindow

if TYPE_CHECKING:
    from jitchat.session import Session
    from jitchat.tui.backend import Backend


WIDE = 150
"""Columns from which a view is a column beside the transcript."""


def _never() -> bool:
    return False


@dataclass(frozen=True, slots=True)
class Subject:
    """The chat as it was when the view was opened."""

    backend: Backend
    session: Session
    draft: str
    """What stands in the prompt."""
    mode: Mode
    """In which the draft would be sent."""
    once: Once = NO_MORE
    """What holds for the draft alone."""
    window: ContextWindow | None = None
    """The window on screen; None where none can be planned, or one is being worked out."""
    sent: Turn | None = None
    """The user's turn for which that window was sent; None for one that would be."""
    chosen: Turn | None = None
    """The turn under the transcript's cursor; None without a cursor."""
    is_busy: Callable[[], bool] = _never
    """Tells whether a reply is on its way by now."""
    made: list[Held] = field(default_factory=list)
    """What was pinned or excluded since the conversation was opened, and not taken back. It is
    the chat's own: what a view adds to it is taken back there, too."""


@dataclass(frozen=True, slots=True)
class GoTo:
    """Show a turn in the transcript; the conversation goes on where it is."""

    position: int
    planned: Planned | None = None
    """What is to be planned anew beside that; None where nothing is."""


@dataclass(frozen=True, slots=True)
class Planned:
    """The next window is to be planned anew; in place of the desk's, where they are given."""

    once: Once | None = None
    mode: Mode | None = None


@dataclass(frozen=True, slots=True)
class SendAgain:
    """Answer a user's turn once more, as a fork."""

    said: Turn
    mode: Mode
    once: Once


@dataclass(frozen=True, slots=True)
class Branched:
    """The conversation has new turns, or goes on elsewhere."""

    position: int
    """The turn to show."""
    clears_draft: bool = False
    """Whether the draft became a turn of it."""


@dataclass(frozen=True, slots=True)
class Another:
    """Open another view."""

    view: str
    """Its name."""
    planned: Planned | None = None
    """What is to be planned anew before that; None where nothing is."""


Outcome = Another | GoTo | Planned | SendAgain | Branched


def asked_of(subject: Subject) -> tuple[str, Once]:
    """Tell what is asked, and what holds for it: what was sent, or else what stands in the prompt.

    What was sent and not answered is asked as a message like any other.
    """
    if subject.sent is None:
        return subject.draft, subject.once
    sent = subject.session.memory.turn_at(subject.sent.position) or subject.sent
    if sent.status is Status.UNANSWERED:
        return sent.content, NO_MORE
    return sent.content, Once(again=sent)


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


class View(ModalScreen[Outcome | None]):
    """A view of one subject. Closing it without a choice gives None."""

    CSS_PATH: ClassVar[str | PurePath | list[str | PurePath] | None] = "view.tcss"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (WIDE, "-wide")]  # noqa: RUF012  Textual's own shape
    BINDINGS = [  # noqa: RUF012  Textual's own shape
        Binding("escape,q", "close", "Close", id="view_close"),
        Binding("y", "copy", "Copy", id="view_copy"),
        Binding("ctrl+c", "app.help_quit", show=False),
        *(
            Binding(action.keys, f"another('{name}')", show=False)
            for name, action in VIEW_ACTIONS.items()
        ),
    ]
    NAME: ClassVar[str] = ""
    """Its title."""
    EXPLAINED: ClassVar[str] = ""
    """What it shows, in one line."""
    FILLS: ClassVar[bool] = False
    """Whether it takes all of a wide terminal."""

    def __init__(self, subject: Subject) -> None:
        super().__init__(classes="view -fills" if self.FILLS else "view")
        self.subject = subject
        self._nothing = Static(id="view-nothing")

    def compose(self) -> ComposeResult:
        """Title and explanation, the body, the keys."""
        # Textual sets this class on the first resize, after a frame for another width.
        width = self.app.size.width
        self.set_class(width >= WIDE, "-wide", update=False)
        self.set_class(width < WIDE, "-narrow", update=False)
        with Vertical(id="view-frame") as frame:
            frame.border_title = self.NAME
            yield Static(Content(self.EXPLAINED), id="view-explained")
            yield self._nothing
            yield from self.body()
            yield KeyLine()

    def body(self) -> Iterable[Widget]:
        """Make what stands between explanation and keys."""
        raise NotImplementedError

    def copyable(self) -> str:
        """Write what is shown as plain text."""
        raise NotImplementedError

    def show_nothing(self, why: str) -> None:
        """Say why there is nothing to show, and what would fill it; empty: there is something."""
        self._nothing.update(Content(visible(why)))
        self._nothing.display = bool(why)

    def tell(self, error: JitchatError) -> None:
        """Show an error of ours."""
        notify_error(self, error)

    def action_close(self) -> None:
        """Back to the chat."""
        self.dismiss(None)

    def action_another(self, name: str) -> None:
        """On to another view of the chat."""
        self.dismiss(Another(name))

    def action_copy(self) -> None:
        """Copy what is shown."""
        self.app.copy_to_clipboard(self.copyable())
        self.notify("Copied.", markup=False)


def _positions(pair: tuple[Turn, Turn]) -> tuple[int, int]:
    return pair[0].position, pair[1].position
