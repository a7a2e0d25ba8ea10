"""The events that the lab reports while it runs: frozen values, named in the past tense."""

from dataclasses import dataclass

from jitchat.lab.experiment import Cell, Result


@dataclass(frozen=True, slots=True)
class ConversationBegun:
    """A conversation is being generated, stored and indexed; its cells come next."""

    number: int
    """From 1."""
    of: int
    """Number of conversations in the run."""
    length: int
    """In tokens."""


@dataclass(frozen=True, slots=True)
class ConversationReady:
    number: int
    turns: int
    seconds: float


@dataclass(frozen=True, slots=True)
class CellBegun:
    cell: Cell


@dataclass(frozen=True, slots=True)
class CellEnded:
    """A cell is decided, and its result is stored."""

    result: Result


@dataclass(frozen=True, slots=True)
class Slowed:
    """The endpoint asks for fewer requests: the lab waits, and sends fewer at once from now on."""

    seconds: float
    """Seconds of the wait; 0 if only the number of parallel requests is reduced."""
    why: str
    """The reason, as a clause."""
    parallel: int
    """Parallel requests from now on."""


@dataclass(frozen=True, slots=True)
class CellRetried:
    """A request failed, and is sent again."""

    cell: Cell
    why: str


@dataclass(frozen=True, slots=True)
class CapRaised:
    """The cap cut an answer while the model was still reasoning: it is higher from now on."""

    tokens: int
    """The new maximum tokens of an answer, including reasoning."""


@dataclass(frozen=True, slots=True)
class RunEnded:
    """Every cell is decided, or the run was aborted and can be resumed."""

    why: str = ""
    """Why the run was aborted, as a sentence; empty if it is complete."""


LabEvent = (
    ConversationBegun
    | ConversationReady
    | CellBegun
    | CellEnded
    | Slowed
    | CellRetried
    | CapRaised
    | RunEnded
)
