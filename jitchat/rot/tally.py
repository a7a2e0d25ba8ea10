"""What results come to: squares of the heatmap, the curve of each mode, what it took."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from jitchat.rot.cells import Result
from jitchat.rot.kinds import Kind
from jitchat.turn import Mode


@dataclass(frozen=True, slots=True)
class Tally:
    """Cells that were counted together."""

    right: int = 0
    wrong: int = 0
    unfit: int = 0
    failed: int = 0

    @property
    def answered(self) -> int:
        """Count those that an answer came for."""
        return self.right + self.wrong

    @property
    def share(self) -> float | None:
        """Give the share of right answers among those that came; None where none came."""
        return self.right / self.answered if self.answered else None

    @property
    def interval(self) -> tuple[float, float] | None:
        """Give Wilson's 95 % interval of the share; None where none came."""
        raise NotImplementedError


Place = tuple[Mode, int, float]
"""A square of the heatmap: mode, length, depth."""


@dataclass(frozen=True, slots=True)
class Spent:
    """What the cells of a mode took. Medians of the cells that were sent; None where none was."""

    sent: int
    tokens: float | None
    """Of the window, as it was counted when it was sent."""
    to_first: float | None
    """Seconds."""
    seconds: float | None
    cached: float | None
    """The share of the input that came from the provider's prompt cache; None if never told."""
    cost: float | None
    """Of all cells together, in US dollars; None where it is not known of each."""


@dataclass(frozen=True, slots=True)
class Tallies:
    """All figures of a run; made anew of its results, or one result further."""

    squares: Mapping[Place, Tally]
    by_length: Mapping[tuple[Mode, int], Tally]
    by_kind: Mapping[tuple[Mode, Kind], Tally]
    by_mode: Mapping[Mode, Tally]
    spent: Mapping[Mode, Spent]


def tallied(results: Iterable[Result], kinds: Collection[Kind] = tuple(Kind)) -> Tallies:
    """Count results of these kinds."""
    raise NotImplementedError
