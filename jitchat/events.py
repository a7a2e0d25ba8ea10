"""What a session reports: frozen values, named in the past tense, in the order of the flow."""

from dataclasses import dataclass

from jitchat.errors import JitchatError
from jitchat.values import IndexEntry, Limit, Retrieval, Turn, Usage
from jitchat.window.window import ContextWindow


@dataclass(frozen=True, slots=True)
class TurnStored:
    """A turn is durable in the cold store."""

    turn: Turn


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


@dataclass(frozen=True, slots=True)
class ReplyDelta:
    """A piece of the answer arrived."""

    text: str


@dataclass(frozen=True, slots=True)
class ReasoningDelta:
    """A piece of what the model thinks arrived."""

    text: str


@dataclass(frozen=True, slots=True)
class ReasoningFound:
    """All of the answer so far was reasoning."""


@dataclass(frozen=True, slots=True)
class RetryScheduled:
    """The request failed before any of the answer came; it is sent again after a while."""

    seconds: float
    why: str
    asks_for_less: bool = False
    """Whether the server wants fewer requests, rather than failed."""


@dataclass(frozen=True, slots=True)
class RequestAdapted:
    """The request left in another form than before, for the server refused a part of it."""

    sentence: str


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


Event = (
    TurnStored
    | TurnsRetrieved
    | WindowBuilt
    | ReplyDelta
    | ReasoningDelta
    | ReasoningFound
    | RetryScheduled
    | RequestAdapted
    | LimitLearnt
    | UsageReported
    | SendFailed
    | TurnIndexed
)
