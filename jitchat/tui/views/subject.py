"""What a view looks at, and what it asks of the chat when it is left."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from jitchat.turn import Mode, Status, Turn
from jitchat.window.steering import NO_MORE, Held, Once

if TYPE_CHECKING:  # a view is opened from a screen that has them
    from collections.abc import Callable

    from jitchat.session import Session
    from jitchat.tui.backend import Backend
    from jitchat.window.window import ContextWindow


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
