"""The interface of observers, which make observations and find facts: built-in, or a model."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from jitchat.statements import NOTHING_OBSERVED, Fact, Observation, Observations
from jitchat.values import Turn

EXTRACTOR = "the extractor"
"""The name of the built-in observer."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Turns to observe together; calls are with their results."""

    turns: tuple[Turn, ...]
    room: int
    """Maximum tokens of their observations."""
    standing: Observations = NOTHING_OBSERVED
    """The observations of earlier turns."""
    kept_out: frozenset[int] = frozenset()
    """Positions of turns that the user keeps out of windows: they are not shown to a model."""

    @property
    def last(self) -> int:
        return self.turns[-1].position


@dataclass(frozen=True, slots=True)
class Made:
    """An observer's result."""

    lines: tuple[Observation, ...]
    by: str
    """A model's name, or `EXTRACTOR`."""
    notice: str = ""
    """Which model failed, or what was cut, as a sentence; usually empty."""
    input_tokens: int = 0
    """Tokens sent to its model."""
    output_tokens: int = 0
    cost: float | None = 0.0
    """In US dollars; None if the price is unknown."""


@dataclass(frozen=True, slots=True)
class FactsMade:
    """The facts that messages state; they are not stored."""

    facts: tuple[Fact, ...] = ()
    notice: str = ""
    """Which model failed, as a sentence; usually empty."""


class Observer(Protocol):
    @property
    def name(self) -> str: ...

    async def observe(self, batch: Batch) -> Made:
        """Make the lines of a batch; errors of a model or its server are not raised."""

    async def reflect(self, standing: Observations, room: int) -> Made:
        """Rewrite all lines to fit a room, without repetition, marking superseded statements."""

    async def facts(self, turns: Sequence[Turn], conversation: str) -> FactsMade:
        """Find the lasting facts in messages of the user; raises nothing, like `observe`."""

    async def aclose(self) -> None:
        """Close its connections."""
