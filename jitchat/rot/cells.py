"""The cells of an experiment, and what came of them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from jitchat.rot.kinds import Kind
from jitchat.turn import Mode, Usage


@dataclass(frozen=True, slots=True)
class Cell:
    """One question, asked in one mode, at one length of the conversation."""

    length: int
    """Tokens of the conversation, as the model's counter counts its messages."""
    depth: float
    """How much of the conversation is ahead of the fact, 0 to 1."""
    kind: Kind
    repeat: int
    """From 1: the same again with another fact, in another conversation."""
    mode: Mode


class Verdict(StrEnum):
    """What came of a cell."""

    RIGHT = "right"
    WRONG = "wrong"
    UNFIT = "does not fit"
    """The window of its mode is larger than the model takes: that is a result, too."""
    FAILED = "failed"
    """The request failed twice: nothing is known of the answer."""


@dataclass(frozen=True, slots=True)
class Result:
    """A cell that was asked."""

    cell: Cell
    verdict: Verdict
    rule: str
    """Why, as a short phrase: `says 7443`, `says the old value, 7440`, `the judge says so` …"""
    question: str
    expected: str
    answer: str
    """Empty where none came."""
    conversation: str
    """Its id in the store of the run."""
    said: int
    """The position of the question."""
    needed: tuple[int, ...] = ()
    """The positions of the turns that the answer needs; none where it was never said."""
    held: int | None = None
    """How many of them the window held at full text; None where none was sent."""
    window_id: int | None = None
    """The archive's key of the window that was sent; None where none was."""
    tokens: int | None = None
    """Of that window, as it was counted when it was sent."""
    usage: Usage | None = None
    """As the provider reported it; None where it did not."""
    to_first: float | None = None
    """Seconds from its leaving to the first token; None where none came."""
    seconds: float | None = None
    """Seconds from its leaving to the end; None where it did not leave."""
    cost: float | None = None
    """In US dollars; None where that is not known."""
    note: str = ""
    """Why it failed, or does not fit; else empty."""
