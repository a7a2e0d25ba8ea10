"""The difference between the shares of two modes of a run, on the same cells.

Two modes are asked for the same facts, so their answers are paired: differences in difficulty
between facts do not widen the interval of the difference between modes.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from jitchat.bench.proportions import Interval, Pair, paired_difference
from jitchat.lab.experiment import Cell, Result, Verdict
from jitchat.lab.run_file import short
from jitchat.lab.stats import Fact, Tallies, Tally, fact_of, tally_of
from jitchat.values import Mode

PAIRS = (
    *((Mode.JIT, Mode.FULL), (Mode.JIT, Mode.RECENCY), (Mode.FULL, Mode.RECENCY)),
    *((Mode.JIT, Mode.OBSERVE), (Mode.OBSERVE, Mode.RECENCY)),
    *((Mode.JIT, Mode.DOCUMENT), (Mode.DOCUMENT, Mode.RECENCY)),
)
"""Modes that are compared within a run: the difference is the first share minus the second."""


@dataclass(frozen=True, slots=True)
class Change:
    """The change of a share; both tallies are of the same cells, at least one."""

    before: Tally
    after: Tally
    facts: tuple[Pair, ...]
    """(cells, right before, right after) of each fact, or of what the same cells asked for."""

    @property
    def points(self) -> float:
        """The later share minus the earlier one, -1 to 1."""
        return (self.after.share or 0.0) - (self.before.share or 0.0)

    @property
    def interval(self) -> Interval:
        return paired_difference(self.facts)


@dataclass(frozen=True, slots=True)
class ModeDifference:
    """The difference between a mode and another one, in cells that were answered in both."""

    pairs: Sequence[tuple[Result, Result]]
    """Of each cell, the result of the other mode, and that of the mode."""
    mode: Mode
    against: Mode
    left_out: int
    """Cells with a result in at least one of the modes, but without an answer in both."""

    @property
    def name(self) -> str:
        """`jit − full`."""
        return f"{self.mode} − {self.against}"

    @property
    def whole(self) -> Change:
        """The change over all lengths."""
        return _change(self.pairs)

    @property
    def at(self) -> Mapping[int, Change]:
        """The changes by length, ascending."""
        by_length: dict[int, list[tuple[Result, Result]]] = defaultdict(list)
        for pair in self.pairs:
            by_length[pair[0].cell.length].append(pair)
        return {length: _change(by_length[length]) for length in sorted(by_length)}

    def named(self) -> Iterator[tuple[str, Change]]:
        """Yield each length's change with its name and, if there are several, `all`."""
        at = self.at
        yield from ((short(length), change) for length, change in at.items())
        if len(at) > 1:
            yield "all", self.whole


def _change(pairs: Sequence[tuple[Result, Result]]) -> Change:
    facts: dict[Fact, Pair] = defaultdict(lambda: (0, 0, 0))
    for one, other in pairs:
        fact = fact_of(one.cell)
        of, was, became = facts[fact]
        facts[fact] = of + 1, was + is_right(one), became + is_right(other)
    before = tally_of([one for one, _ in pairs])
    after = tally_of([other for _, other in pairs])
    return Change(before, after, tuple(sorted(facts.values())))


def is_right(result: Result) -> bool:
    return result.verdict is Verdict.RIGHT


def is_answered(result: Result) -> bool:
    return result.verdict in (Verdict.RIGHT, Verdict.WRONG)


def change_text(change: Change) -> str:
    """Format a change in points, with its interval: `+12 (+3 to +21)`."""
    low, high = change.interval
    return f"{signed(change.points)} ({signed(low)} to {signed(high)})"


def signed(points: float) -> str:
    """Format a difference of shares in points: `+12`, `−3`, `0`."""
    return f"{points * 100:+.0f}".replace("-", "−") if round(points * 100) else "0"


def mode_differences(tallies: Tallies) -> Iterator[ModeDifference]:
    """Compare the modes of a run; pairs without a common answered cell are skipped."""
    of_mode: dict[Mode, dict[Cell, Result]] = defaultdict(dict)
    for cell, result in tallies.results.items():
        of_mode[cell.mode][replace(cell, mode=Mode.FULL)] = result
    for mode, against in PAIRS:
        later, earlier = of_mode[mode], of_mode[against]
        pairs = [
            (earlier[cell], result)
            for cell, result in later.items()
            if cell in earlier and is_answered(result) and is_answered(earlier[cell])
        ]
        if pairs:
            left_out = len(later.keys() | earlier.keys()) - len(pairs)
            yield ModeDifference(pairs, mode, against, left_out)
