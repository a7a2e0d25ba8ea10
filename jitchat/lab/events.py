"""What the lab reports while it runs: frozen values, named in the past tense."""

from dataclasses import dataclass

from jitchat.lab.experiment import Cell, Result


@dataclass(frozen=True, slots=True)
class ConversationBegun:
    """A conversation is being made, stored and indexed; its cells come next."""

    number: int
    """From 1."""
    of: int
    """So many conversations the run has."""
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
    """A cell is decided, and its result is kept."""

    result: Result


@dataclass(frozen=True, slots=True)
class Slowed:
    """The endpoint wants fewer requests: the lab waits, and sends less at once from now on."""

    seconds: float
    """0 where it only sends less at once."""
    why: str
    """As a clause."""
    parallel: int
    """Requests at once from now on."""


@dataclass(frozen=True, slots=True)
class CellRetried:
    """A request failed, and is sent once more."""

    cell: Cell
    why: str


@dataclass(frozen=True, slots=True)
class CapRaised:
    """A cap cut an answer while the model had only reasoned: the cap is higher from now on."""

    tokens: int
    """Of an answer, reasoning included, from now on."""


@dataclass(frozen=True, slots=True)
class RunEnded:
    """Every cell is decided; or the run was given up, or its time is up: it can be resumed."""

    why: str = ""
    """Why it was given up, as a sentence; empty where it is whole, or its time is up."""
    left: int = 0
    """Cells that were not asked, for the time was up."""


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
