"""The events of a session: frozen values, named in the past tense, in the order of the flow.

What a provider streams is passed on unchanged: those events are defined by the provider layer.
"""

from dataclasses import dataclass, replace

from jitchat.errors import JitchatError
from jitchat.providers.provider import (
    ReasoningDelta,
    ReasoningFound,
    ReplyDelta,
    RequestAdapted,
    RetryScheduled,
    ShownPiece,
)
from jitchat.statements import Fact
from jitchat.store.observations import ObservationPass
from jitchat.values import IndexEntry, Limit, Mode, Retrieval, Role, ToolCall, Turn, Usage
from jitchat.window.window import ContextWindow

__all__ = ["ReasoningDelta", "ReasoningFound", "ReplyDelta", "RequestAdapted", "RetryScheduled"]
"""Re-exported from the provider layer."""


@dataclass(frozen=True, slots=True)
class TurnStored:
    """A turn is durable in the cold store."""

    turn: Turn


@dataclass(frozen=True, slots=True)
class StepStored:
    """A reply that calls tools is durable; the turn continues after it."""

    turn: Turn


@dataclass(frozen=True, slots=True)
class ToolCalled:
    """A reply calls a tool; the call runs, after the user's approval if one is needed."""

    turn: Turn
    """The reply that calls it."""
    call: ToolCall


@dataclass(frozen=True, slots=True)
class ToolApproved:
    """The settings or the user allow a call, which runs now."""

    turn: Turn
    """The reply that calls it."""
    call: ToolCall


@dataclass(frozen=True, slots=True)
class ToolReturned:
    """The whole result of a call is durable."""

    turn: Turn
    """The result; its `use` has the call and its duration."""


@dataclass(frozen=True, slots=True)
class TurnsRetrieved:
    """The hot index was searched."""

    retrieval: Retrieval
    seconds: float


@dataclass(frozen=True, slots=True)
class WindowBuilt:
    """The window that is about to be sent is durable, too."""

    window: ContextWindow
    digest: str
    """The window's address in the cold store: SHA-256 of its messages."""
    warning: str = ""
    """A warning that a spending limit is near or cannot be checked; empty if there is none."""


@dataclass(frozen=True, slots=True)
class LimitLearnt:
    """The window was too large for the model; a smaller one is built and sent, once only."""

    limit: Limit
    sentence: str


@dataclass(frozen=True, slots=True)
class UsageReported:
    """The provider reported its token counts."""

    usage: Usage
    cost: float | None = None
    """In US dollars; None if no price is known."""


@dataclass(frozen=True, slots=True)
class SendFailed:
    """The send failed; `draft` goes back into the prompt unless part of the reply was received."""

    error: JitchatError
    draft: str


@dataclass(frozen=True, slots=True)
class TurnIndexed:
    """A turn was added to the hot index."""

    entry: IndexEntry


@dataclass(frozen=True, slots=True)
class FactsFound:
    """Facts were found in what the user said, and are proposed or kept."""

    proposed: tuple[Fact, ...] = ()
    kept: tuple[Fact, ...] = ()
    told: str = ""
    """Why the built-in rules replaced the model, as a sentence; empty if they did not."""


@dataclass(frozen=True, slots=True)
class MemoryUpdated:
    """Turns were observed or observations rewritten, and the result is durable."""

    made: ObservationPass


@dataclass(frozen=True, slots=True)
class ObservationDue:
    """Turns should be observed; the user is asked first."""

    turns: tuple[int, int] | None
    """The first and last position; None if observations are to be rewritten."""
    tokens: int
    """Tokens of these turns or observations."""
    by: str
    """The model that would observe."""


_MemoryEvent = MemoryUpdated | ObservationDue | FactsFound
_WindowEvent = TurnsRetrieved | WindowBuilt | LimitLearnt | UsageReported
_ToolEvent = StepStored | ToolCalled | ToolApproved | ToolReturned
_TurnEvent = TurnStored | SendFailed | TurnIndexed
Event = ShownPiece | _WindowEvent | _ToolEvent | _MemoryEvent | _TurnEvent


@dataclass(frozen=True, slots=True)
class AnswerProgress:
    """The progress of one answer, folded from its events. Times are the caller's, in seconds."""

    mode: Mode
    window: ContextWindow | None = None
    """The window sent last; None before that."""
    text: str = ""
    left_at: float | None = None
    """When that window was sent, or will be sent again after a pause; None before."""
    first_at: float | None = None
    """When the first delta arrived, text or reasoning; None before."""
    ended_at: float | None = None
    """When the answer ended, however it ended; None before."""
    usage: Usage | None = None
    """As the provider reported it; None if it did not."""
    cost: float | None = None
    """In US dollars, once ended; None if unknown."""
    counted: int = 0
    """Tokens of the text by jitchat's own counter, once ended."""
    reply: Turn | None = None
    """The reply as stored; None before that, or if it was stopped."""
    error: JitchatError | None = None
    """Why it failed or was cut."""
    notice: str = ""
    """A notice about the request (a retry, an adapted parameter), as a sentence; usually empty."""

    @property
    def is_over(self) -> bool:
        return self.ended_at is not None

    @property
    def to_first(self) -> float | None:
        """Seconds from sending the window to the first token; None if none arrived."""
        return _between(self.left_at, self.first_at)

    @property
    def took(self) -> float | None:
        """Seconds from sending the window to the end; None before, or if nothing was sent."""
        return _between(self.left_at, self.ended_at)

    def ended(self, moment: float, cost: float | None, counted: int) -> "AnswerProgress":
        """Mark the answer as ended."""
        return replace(self, ended_at=moment, cost=cost, counted=counted)

    def after(self, event: Event, moment: float) -> "AnswerProgress":
        """Apply an event that was reported at that moment."""
        match event:
            case WindowBuilt(window):
                return replace(self, window=window, left_at=moment, text="")
            case ReplyDelta() | ReasoningDelta():
                text = self.text + event.text if isinstance(event, ReplyDelta) else self.text
                first = moment if self.first_at is None else self.first_at
                return replace(self, text=text, first_at=first, notice="")
            case ReasoningFound():
                return replace(self, text="")
            case TurnStored(turn) if turn.role is Role.ASSISTANT:
                return replace(self, reply=turn)
            case _:
                return self._after_report(event, moment)

    def _after_report(self, event: Event, moment: float) -> "AnswerProgress":
        match event:
            case UsageReported(usage, _):
                return replace(self, usage=usage)
            case SendFailed(error, _):
                return replace(self, error=error)
            case RetryScheduled(seconds, why):
                notice = f"{why}; retrying in {seconds:.0f} s"
                return replace(self, left_at=moment + seconds, notice=notice)
            case RequestAdapted(sentence) | LimitLearnt(_, sentence):
                return replace(self, notice=sentence)
            case _:
                return self


def _between(start: float | None, end: float | None) -> float | None:
    return None if start is None or end is None else end - start
