"""What a session reports: frozen values, named in the past tense, in the order of the flow.

What a provider streams is reported as it came: those events are the provider's own.
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
"""Of the provider's."""


@dataclass(frozen=True, slots=True)
class TurnStored:
    """A turn is durable in the cold store."""

    turn: Turn


@dataclass(frozen=True, slots=True)
class StepStored:
    """An answer that calls tools is durable; the turn goes on behind it."""

    turn: Turn


@dataclass(frozen=True, slots=True)
class ToolCalled:
    """An answer calls a tool: the call is asked about where that is needed, and run."""

    turn: Turn
    """The answer that calls."""
    call: ToolCall


@dataclass(frozen=True, slots=True)
class ToolApproved:
    """A call may run, by the settings or by the user's answer, and is run now."""

    turn: Turn
    """The answer that calls."""
    call: ToolCall


@dataclass(frozen=True, slots=True)
class ToolReturned:
    """What a call gave back is durable, whole."""

    turn: Turn
    """The result; its `use` has the call, and how long that ran."""


@dataclass(frozen=True, slots=True)
class TurnsRetrieved:
    """The hot index was searched."""

    retrieval: Retrieval
    seconds: float


@dataclass(frozen=True, slots=True)
class WindowBuilt:
    """The very window that now goes to the provider is durable, too."""

    window: ContextWindow
    digest: str
    """The window's address in the cold store: SHA-256 of its messages."""
    warning: str = ""
    """That sending it comes near a limit of what is spent, or that nobody knows; mostly empty."""


@dataclass(frozen=True, slots=True)
class LimitLearnt:
    """The window was too large for the model; a smaller one is built and sent, once."""

    limit: Limit
    sentence: str


@dataclass(frozen=True, slots=True)
class UsageReported:
    """The provider counted."""

    usage: Usage
    cost: float | None = None
    """In US dollars; None where no price is known."""


@dataclass(frozen=True, slots=True)
class SendFailed:
    """Something went wrong; `draft` belongs back in the prompt unless a part was answered."""

    error: JitchatError
    draft: str


@dataclass(frozen=True, slots=True)
class TurnIndexed:
    """A turn has its entry in the hot index."""

    entry: IndexEntry


@dataclass(frozen=True, slots=True)
class FactsFound:
    """What the user said states something for good, which is proposed or kept."""

    proposed: tuple[Fact, ...] = ()
    kept: tuple[Fact, ...] = ()
    told: str = ""
    """What stood in for the model that was to find them, as a sentence; mostly empty."""


@dataclass(frozen=True, slots=True)
class MemoryUpdated:
    """Turns were observed, or observations rewritten, and that is durable."""

    made: ObservationPass
    is_needed: bool = False
    """Whether the window did not fit without it."""


@dataclass(frozen=True, slots=True)
class ObservationDue:
    """Turns are to be observed, and the user is asked first."""

    turns: tuple[int, int] | None
    """The first and the last position; None where observations are to be rewritten."""
    tokens: int
    """Of these turns, or observations."""
    by: str
    """Who would do it."""


_MemoryEvent = MemoryUpdated | ObservationDue | FactsFound
_WindowEvent = TurnsRetrieved | WindowBuilt | LimitLearnt | UsageReported
_ToolEvent = StepStored | ToolCalled | ToolApproved | ToolReturned
_TurnEvent = TurnStored | SendFailed | TurnIndexed
Event = ShownPiece | _WindowEvent | _ToolEvent | _MemoryEvent | _TurnEvent


@dataclass(frozen=True, slots=True)
class AnswerProgress:
    """What the events of one answer come to so far. Moments are seconds of the caller's clock."""

    mode: Mode
    window: ContextWindow | None = None
    """What was sent for it last; None before it left."""
    text: str = ""
    left_at: float | None = None
    """When that window left, or leaves once more after a pause; None before."""
    first_at: float | None = None
    """When its first piece came, text or reasoning; None before."""
    ended_at: float | None = None
    """When it was over, one way or another; None before."""
    usage: Usage | None = None
    """What the provider reported; None where it did not."""
    cost: float | None = None
    """In US dollars, once it is over; None where that is not known."""
    counted: int = 0
    """Tokens of the text by the own counter, once it is over."""
    reply: Turn | None = None
    """As it was stored; None before that, and where it was stopped."""
    error: JitchatError | None = None
    """Why it failed, or was cut."""
    told: str = ""
    """What is to be known of the request, as a sentence; mostly empty."""

    @property
    def is_over(self) -> bool:
        return self.ended_at is not None

    @property
    def to_first(self) -> float | None:
        """Seconds from its window's leaving to its first token; None where none came."""
        return _between(self.left_at, self.first_at)

    @property
    def took(self) -> float | None:
        """Seconds from its window's leaving to its end; None before, and where none left."""
        return _between(self.left_at, self.ended_at)

    def ended(self, moment: float, cost: float | None, counted: int) -> "AnswerProgress":
        """Close it: nothing more comes."""
        return replace(self, ended_at=moment, cost=cost, counted=counted)

    def after(self, event: Event, moment: float) -> "AnswerProgress":
        """Take in an event that was reported for it at that moment."""
        match event:
            case WindowBuilt(window):
                return replace(self, window=window, left_at=moment, text="")
            case ReplyDelta() | ReasoningDelta():
                text = self.text + event.text if isinstance(event, ReplyDelta) else self.text
                first = moment if self.first_at is None else self.first_at
                return replace(self, text=text, first_at=first, told="")
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
                told = f"{why}; sent again in {seconds:.0f} s"
                return replace(self, left_at=moment + seconds, told=told)
            case RequestAdapted(sentence) | LimitLearnt(_, sentence):
                return replace(self, told=sentence)
            case _:
                return self


def _between(start: float | None, end: float | None) -> float | None:
    return None if start is None or end is None else end - start
