"""Two runs beside each other, over the cells that both have an answer for.

Only those: where one run was asked more, or failed, or did not fit, its share would be of other
questions. How many are left out for that is told.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from jitchat.rot.cells import Result, Verdict
from jitchat.rot.differing import differences
from jitchat.rot.proportions import Interval, newcombe, newcombe_paired
from jitchat.rot.run import Run
from jitchat.rot.tally import Tallies, Tally, tallied
from jitchat.text.counts import counted
from jitchat.turn import Mode

_Place = tuple[Mode, int]
"""A mode and a length."""


@dataclass(frozen=True, slots=True)
class Change:
    """What became of a share; both tallies are of the same cells, and of at least one."""

    before: Tally
    after: Tally
    turned: tuple[int, int] | None = None
    """Cells that are right in the earlier run only, and in the later one only; None where the
    same cell asked for another fact, so that the two are independent."""

    @property
    def points(self) -> float:
        """Give the later share minus the earlier one, -1 to 1."""
        return (self.after.share or 0.0) - (self.before.share or 0.0)

    @property
    def interval(self) -> Interval:
        """Give Newcombe's 95 % interval of that."""
        before, after = self.before, self.after
        if self.turned is not None:
            lost, gained = self.turned
            both = before.right - lost
            return newcombe_paired(both, lost, gained, before.wrong - gained)
        return newcombe((before.right, before.answered), (after.right, after.answered))

    @property
    def is_clear(self) -> bool:
        """Whether the interval is all on one side of no change."""
        low, high = self.interval
        return low > 0 or high < 0

    @property
    def outcome(self) -> str:
        """Name it: `better`, `worse` or `unclear`."""
        if not self.is_clear:
            return "unclear"
        return "better" if self.points > 0 else "worse"


def change_told(change: Change) -> str:
    """Write it in points, with its interval: `+12 (+3 to +21)`."""
    low, high = change.interval
    return f"{signed(change.points)} ({signed(low)} to {signed(high)})"


def signed(points: float) -> str:
    """Write a difference of shares in points: `+12`, `−3`, `0`."""
    return f"{points * 100:+.0f}".replace("-", "−") if round(points * 100) else "0"


@dataclass(frozen=True, slots=True)
class Comparison:
    """An earlier run and a later one."""

    before: Run
    after: Run
    at: Mapping[tuple[Mode, int], Change]
    """By mode and length, those that both have answers for."""
    of: Mapping[Mode, Change]
    """By mode, over all lengths that both have answers for: no interval holds for these."""
    compared: int
    """Cells."""
    only_before: int
    """Cells that the later run has no result for."""
    only_after: int
    unanswered: int
    """Cells that both decided, and for which one has no answer at least."""
    is_paired: bool
    """Whether the same cell of both asks the same question."""
    differences: tuple[str, ...]
    """What else may make the figures differ, a sentence each; empty where nothing does."""


def compared(
    before: Run, was: Iterable[Result], after: Run, became: Iterable[Result]
) -> Comparison:
    """Compare two runs, each with its results."""
    earlier = {result.cell: result for result in was}
    later = {result.cell: result for result in became}
    both = earlier.keys() & later.keys()
    cells = [cell for cell in both if _answered(earlier[cell]) and _answered(later[cell])]
    old = tallied(earlier[cell] for cell in cells)
    new = tallied(later[cell] for cell in cells)
    turned = _turned((earlier[cell], later[cell]) for cell in cells)
    is_paired = _asks_alike(before, after)
    return Comparison(
        before,
        after,
        _by_length(old, new, turned if is_paired else None),
        {
            mode: Change(old.by_mode[mode], new.by_mode[mode])
            for mode in Mode
            if mode in old.by_mode
        },
        compared=len(cells),
        only_before=len(earlier.keys() - both),
        only_after=len(later.keys() - both),
        unanswered=len(both) - len(cells),
        is_paired=is_paired,
        differences=tuple(differences(before, after)),
    )


def interval_told(comparison: Comparison) -> str:
    """Say what the interval of a change takes the two runs for."""
    if comparison.is_paired:
        return "Newcombe's for the same questions, each asked in both runs"
    return "Newcombe's for independent questions, for the same cell asks another one in each run"


def left_out(comparison: Comparison) -> str:
    """Tell what is compared and what is not: `400 cells compared; left out: 20 only in …`."""
    parts = (
        (comparison.only_before, "only in the earlier run"),
        (comparison.only_after, "only in the later run"),
        (comparison.unanswered, "without an answer in one of them"),
    )
    told = ", ".join(f"{number:,} {why}" for number, why in parts if number)
    return f"{counted(comparison.compared, 'cell')} compared" + (
        f"; left out: {told}." if told else "."
    )


def _answered(result: Result) -> bool:
    return result.verdict in (Verdict.RIGHT, Verdict.WRONG)


def _asks_alike(before: Run, after: Run) -> bool:
    """Whether the same cell of both asks the same question."""
    was, became = before.experiment, after.experiment
    return (was.seed, was.conversation) == (became.seed, became.conversation)


def _turned(pairs: Iterable[tuple[Result, Result]]) -> Mapping[_Place, tuple[int, int]]:
    """Count by place the cells that only the first one is right in, and only the second one."""
    lost, gained = Counter[_Place](), Counter[_Place]()
    for was, became in pairs:
        if was.verdict is not became.verdict:
            count = lost if was.verdict is Verdict.RIGHT else gained
            count[was.cell.mode, was.cell.length] += 1
    return {place: (lost[place], gained[place]) for place in lost | gained}


def _by_length(
    old: Tallies, new: Tallies, turned: Mapping[_Place, tuple[int, int]] | None
) -> dict[_Place, Change]:
    """Set the shares beside each other; `turned` is None where the runs are independent."""
    modes = list(Mode)
    places = sorted(old.by_length, key=lambda place: (modes.index(place[0]), place[1]))
    return {
        place: Change(
            old.by_length[place],
            new.by_length[place],
            turned.get(place, (0, 0)) if turned is not None else None,
        )
        for place in places
    }
