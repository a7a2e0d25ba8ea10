"""What results come to: squares of the heatmap, the curve of each mode, what it took.

Invariant: every result is in one square, one length, one kind and one mode, so each of these
adds up to the cells that are decided, in whatever order the results come.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from jitchat.rot.cells import Cell, Result, Verdict
from jitchat.rot.kinds import Kind
from jitchat.rot.proportions import Interval, wilson
from jitchat.rot.spent import Spending, Spent
from jitchat.turn import Mode


@dataclass(frozen=True, slots=True)
class Tally:
    """Cells that were counted together."""

    right: int = 0
    wrong: int = 0
    unfit: int = 0
    failed: int = 0

    def __add__(self, other: Tally) -> Tally:
        return Tally(
            self.right + other.right,
            self.wrong + other.wrong,
            self.unfit + other.unfit,
            self.failed + other.failed,
        )

    @property
    def cells(self) -> int:
        """Count all of them."""
        return self.right + self.wrong + self.unfit + self.failed

    @property
    def answered(self) -> int:
        """Count those that an answer came for."""
        return self.right + self.wrong

    @property
    def share(self) -> float | None:
        """Give the share of right answers among those that came; None where none came."""
        return self.right / self.answered if self.answered else None

    @property
    def interval(self) -> Interval | None:
        """Give Wilson's 95 % interval of the share; None where none came.

        It takes every cell as another case, which holds within one length and mode. Over
        several lengths the same facts are asked for again at each: of a mode's total, or a
        kind's, it would be too narrow, so that these are shown without one.
        """
        return wilson(self.right, self.answered) if self.answered else None


Place = tuple[Mode, int, float]
"""A square of the heatmap: mode, length, depth."""


@dataclass(frozen=True, slots=True)
class Tallies:
    """All figures of a run, at one moment. What has no result has no key."""

    squares: Mapping[Place, Tally]
    by_length: Mapping[tuple[Mode, int], Tally]
    by_kind: Mapping[tuple[Mode, Kind], Tally]
    by_mode: Mapping[Mode, Tally]
    spent: Mapping[Mode, Spent]
    spent_at: Mapping[tuple[Mode, int], Spent]
    """The same of one length."""

    @property
    def whole(self) -> Tally:
        """Count every cell that is decided."""
        return sum(self.by_mode.values(), Tally())


def tallied(results: Iterable[Result], kinds: Collection[Kind] = tuple(Kind)) -> Tallies:
    """Count results of these kinds; of two of one cell, the later one."""
    counting = Tallying(kinds)
    for result in results:
        counting.take(result)
    return counting.tallies()


_FIELDS = {
    Verdict.RIGHT: "right",
    Verdict.WRONG: "wrong",
    Verdict.UNFIT: "unfit",
    Verdict.FAILED: "failed",
}
_ONE = {(verdict, by): Tally(**{field: by}) for verdict, field in _FIELDS.items() for by in (1, -1)}
"""A cell more, or less."""


class Tallying:
    """Counts results as they come. Taking one in costs the same however many came before."""

    def __init__(self, kinds: Collection[Kind] = tuple(Kind)) -> None:
        self._kinds = frozenset(kinds)
        self._results: dict[Cell, Result] = {}
        self._squares: dict[Place, Tally] = defaultdict(Tally)
        self._by_kind: dict[tuple[Mode, Kind], Tally] = defaultdict(Tally)
        self._spent: dict[Mode, Spending] = defaultdict(Spending)
        self._spent_at: dict[tuple[Mode, int], Spending] = defaultdict(Spending)

    def take(self, result: Result) -> None:
        """Count a result, if it is of the kinds; it replaces one of the same cell."""
        if result.cell.kind not in self._kinds:
            return
        if (before := self._results.get(result.cell)) is not None:
            self._count(before, -1)
        self._results[result.cell] = result
        self._count(result, 1)

    def tallies(self) -> Tallies:
        """Tell what it comes to; it costs what the grid has squares, whatever was counted."""
        by_length: dict[tuple[Mode, int], Tally] = defaultdict(Tally)
        by_mode: dict[Mode, Tally] = defaultdict(Tally)
        for (mode, length, _), tally in self._squares.items():
            by_length[mode, length] += tally
        for (mode, _), tally in by_length.items():
            by_mode[mode] += tally
        return Tallies(
            dict(self._squares),
            dict(by_length),
            dict(self._by_kind),
            dict(by_mode),
            {mode: each.spent() for mode, each in self._spent.items()},
            {place: each.spent() for place, each in self._spent_at.items()},
        )

    def _count(self, result: Result, by: int) -> None:
        cell, one = result.cell, _ONE[result.verdict, by]
        self._squares[cell.mode, cell.length, cell.depth] += one
        self._by_kind[cell.mode, cell.kind] += one
        self._spent[cell.mode].count(result, by)
        self._spent_at[cell.mode, cell.length].count(result, by)
