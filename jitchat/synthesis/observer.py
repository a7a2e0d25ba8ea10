"""Who makes observations, and finds facts: what is built in and extractive, or a model."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from jitchat.statements import NOTHING_OBSERVED, Fact, Observation, Observations
from jitchat.values import Turn

EXTRACTOR = "the extractor"
"""The name of the observer that is built in."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Turns that are to be observed together; calls stand with their results."""

    turns: tuple[Turn, ...]
    room: int
    """Tokens that their observations may take."""
    standing: Observations = NOTHING_OBSERVED
    """What is observed ahead of them."""
    kept_out: frozenset[int] = frozenset()
    """Positions of turns that the user keeps out of windows: no model is shown them."""

    @property
    def first(self) -> int:
        return self.turns[0].position

    @property
    def last(self) -> int:
        return self.turns[-1].position


@dataclass(frozen=True, slots=True)
class Made:
    """What an observer made."""

    lines: tuple[Observation, ...]
    by: str
    """A model's name, or that of what is built in."""
    told: str = ""
    """What stood in for whom, and what was cut, as a sentence; mostly empty."""
    input_tokens: int = 0
    """That its model was sent."""
    output_tokens: int = 0
    cost: float | None = 0.0
    """In US dollars; None where no price is known."""


@dataclass(frozen=True, slots=True)
class FactsMade:
    """The facts that messages state; they are not stored."""

    facts: tuple[Fact, ...] = ()
    told: str = ""
    """What stood in for whom, as a sentence; mostly empty."""


class Observer(Protocol):
    @property
    def name(self) -> str: ...

    async def observe(self, batch: Batch) -> Made:
        """Make the lines of a batch; nothing that a model or its server does is raised."""

    async def reflect(self, standing: Observations, room: int) -> Made:
        """Rewrite all lines to fit a room: without repetition, and what is superseded marked."""

    async def facts(self, turns: Sequence[Turn], conversation: str) -> FactsMade:
        """Find what messages of the user state for good; raises nothing, as `observe`."""

    async def aclose(self) -> None:
        """Give back its connections."""
