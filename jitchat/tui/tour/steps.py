"""The steps of the tour: what each is called, what it does, and what is said of it."""

from collections.abc import Callable
from dataclasses import dataclass

from jitchat.lab.stats import Tallies
from jitchat.tui.tour.needle import Needle
from jitchat.tui.tour.words import (
    Asked,
    said_in_full,
    said_in_jit,
    said_in_recency,
    said_of_comparison,
    said_of_rot,
)
from jitchat.tui.views.what_if import Comparison
from jitchat.values import Mode


@dataclass(frozen=True, slots=True)
class Ask:
    """Ask the question in a mode: the first time as a message, then once more beside it."""

    title: str
    mode: Mode
    says: Callable[[Asked, Needle], str]


@dataclass(frozen=True, slots=True)
class Compare:
    """Open the what-if view of the question."""

    title: str
    says: Callable[[Comparison | None, Needle], str]
    """Of what is compared; None while it is being planned."""


@dataclass(frozen=True, slots=True)
class Measure:
    """Open the rot lab."""

    title: str
    says: Callable[[Tallies | None, bool], str]
    """Of what was measured, and whether more of it comes; None ahead of it."""


Step = Ask | Compare | Measure
STEPS: tuple[Step, ...] = (
    Ask("full", Mode.FULL, said_in_full),
    Ask("recency", Mode.RECENCY, said_in_recency),
    Ask("jit", Mode.JIT, said_in_jit),
    Compare("what if", said_of_comparison),
    Measure("rot lab", said_of_rot),
)


def heading(place: int) -> str:
    """`2 of 5 · recency`; what comes ahead of the first step is 0."""
    if place == 0:
        return f"A tour of {len(STEPS)} steps"
    return f"{place} of {len(STEPS)} · {STEPS[place - 1].title}"
