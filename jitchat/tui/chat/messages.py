"""What workers report to the screen, where more than one controller has to act on it.

`opening` says for which conversation a worker ran: the screen counts those that it opened, and
drops what comes late from one that was left.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.message import Message
from textual.worker import Worker

from jitchat.errors import JitchatError
from jitchat.events import Event
from jitchat.tui.views.view import Outcome
from jitchat.values import Turn
from jitchat.window.window import ContextWindow

if TYPE_CHECKING:
    from jitchat.index.indexer import Progress
    from jitchat.session import Session
    from jitchat.small_models.summariser import LinesWritten


@dataclass
class ConversationShown(Message):
    """A conversation is on screen; its session is being loaded."""

    opening: int


@dataclass
class SessionReady(Message):
    """A conversation can be talked to."""

    opening: int
    session: Session


@dataclass
class SessionRefused(Message):
    """A conversation cannot be opened as the settings ask."""

    opening: int
    error: JitchatError


@dataclass
class PreviewReady(Message):
    """The window that would be sent, for the message of a request to plan."""

    request: int
    outcome: ContextWindow | JitchatError
    unmet: str = ""
    """Which turns the draft names in vain; mostly empty."""


@dataclass
class SessionReported(Message):
    """Something happened to the message that was sent."""

    worker: Worker[None]
    """Which carried it; by now the screen may be waiting for another."""
    event: Event


@dataclass
class ReplyRefused(Message):
    """The store refused what came of a reply; it is tried again."""


@dataclass
class ReplyStored(Message):
    """The rest of a reply is stored that could not be before."""

    conversation: str
    turn: Turn


@dataclass
class SendEnded(Message):
    """The reply to `draft` is over, one way or another."""

    worker: Worker[None]
    session: Session
    draft: str
    cancelled: bool
    error: JitchatError | None = None
    """Why what came of a cancelled one could not be kept."""


class PromptFreed(Message):
    """A send is over, and the prompt is free for the next message."""


@dataclass
class BacklogMoved(Message):
    """Turns are being indexed, and this far it is."""

    opening: int
    progress: Progress


@dataclass
class BacklogEnded(Message):
    """Nothing more is indexed for now."""

    opening: int
    indexed: int
    """Turns that were."""
    error: JitchatError | None = None
    """Why the rest has to wait for the next start."""


@dataclass
class LinesMoved(Message):
    """The summariser's model answered; with None, nothing more comes of it for now."""

    opening: int
    written: LinesWritten | None
    error: JitchatError | None = None
    """Why it gave up."""


@dataclass
class HoldChanged(Message):
    """A turn was pinned or excluded, or that was undone."""

    opening: int
    sentence: str
    """What came of it."""


@dataclass
class ModelChanged(Message):
    """Another model answers from now on."""

    opening: int
    picked: tuple[str, str]
    """Provider and model."""
    session: Session | None
    """None where the conversation had none and is to be opened."""
    note: str = ""
    """What the user should know."""


@dataclass
class ViewLeft(Message):
    """A view was closed for something that the chat is to do."""

    outcome: Outcome
