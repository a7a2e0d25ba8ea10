"""What workers report to the screen. Workers carry; handlers decide.

`opening` says for which conversation a worker ran: the screen counts those that it opened, and
drops what comes late from one that was left.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from textual.message import Message
from textual.worker import Worker

from jitchat.errors import JitchatError
from jitchat.events import Event
from jitchat.store.windows import Spent
from jitchat.values import Mode, Turn
from jitchat.window.budget import Budget
from jitchat.window.steering import HoldChange, Once
from jitchat.window.window import ContextWindow

if TYPE_CHECKING:
    from jitchat.index.indexer import Progress
    from jitchat.providers.catalogue.models import ProviderChoice
    from jitchat.session import Session
    from jitchat.small_models.summariser import LinesWritten


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
    """The window that would be sent, for the draft and mode of request `serial`."""

    serial: int
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
class ModelNamed(Message):
    """A model was named at the prompt."""

    wanted: str
    """As it was typed."""
    picked: tuple[str, str] | None
    """Provider and model; None where that is not one model that can be used."""


@dataclass
class CostSummed(Message):
    """What the conversation cost so far was looked up."""

    opening: int
    spent: Spent


@dataclass(frozen=True)
class Asked:
    """What a window would be sent for, at one moment."""

    opening: int
    draft: str
    mode: Mode
    once: Once


@dataclass
class WindowCounted(Message):
    """The provider counted the window that would be sent, or would not."""

    asked: Asked
    outcome: tuple[ContextWindow, int] | JitchatError
    told: Sequence[str]
    """What stood in the hint line before, the longest form first."""


@dataclass
class HoldMade(Message):
    """A turn was pinned or excluded, or that was taken back."""

    opening: int
    held: HoldChange
    undoes: bool
    told: str
    """What came of it, as a sentence."""


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
class ModelRefused(Message):
    """The model that was picked cannot be used."""

    error: JitchatError


@dataclass
class LimitTold(Message):
    """The server said how much its model takes."""

    session: Session
    budget: Budget


@dataclass
class ModelsFound(Message):
    """What could answer in place of the reader."""

    choices: Sequence[ProviderChoice]


@dataclass
class ViewsLoaded(Message):
    """The code of every view is there."""

    styles: list[Path]
    """The files with their styles; one at least."""
