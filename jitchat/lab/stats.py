"""The figures of a run: shares with intervals, sums along its axes, and how they are written.

Invariant: every result is in one square, one length, one kind and one mode, so each of these
adds up to the cells that are decided, in whatever order the results come.
"""

from __future__ import annotations

from bisect import insort
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import fsum
from statistics import median

from jitchat.bench.proportions import ClusterSums, Interval, wilson
from jitchat.lab.experiment import Cell, Experiment, Result, Verdict
from jitchat.lab.facts import Kind
from jitchat.lab.filler import Talk
from jitchat.lab.run_file import Run, short
from jitchat.text import figures, sanitize
from jitchat.values import Mode

NOTHING = "–"
"""Where there is no figure."""


def points(share: float) -> str:
    """Write a share in whole per cent, without the sign: 100 only for all, 0 only for none."""
    rounded = round(share * 100)
    return f"{min(99, max(1, rounded)) if 0 < share < 1 else rounded}"


def percent(share: float | None) -> str:
    """Write a share: `97 %`; a dash for None."""
    return NOTHING if share is None else f"{points(share)} %"


def interval(tally: Tally) -> str:
    """Write the interval of its share: `85–99`, in per cent; empty where there is none."""
    ends = tally.interval
    return "" if ends is None else "–".join(f"{end * 100:.0f}" for end in ends)


def share(tally: Tally | None) -> str:
    """Write `97 % (85–99)`, `does not fit`, `failed`, or a dash where nothing is decided."""
    if tally is not None and tally.answered:
        return f"{percent(tally.share)} ({interval(tally)})"
    return without_answer(tally) or NOTHING


def share_of(tally: Tally | None) -> str:
    """Write it with its count: `97 % of 35 (85–99)`."""
    if tally is not None and tally.answered:
        return f"{percent(tally.share)} of {tally.answered:,} ({interval(tally)})"
    return share(tally)


def total(tally: Tally | None) -> str:
    """Write it with its count alone, `97 % of 105`, where there is no room for more."""
    if tally is not None and tally.answered:
        return f"{percent(tally.share)} of {tally.answered:,}"
    return share(tally)


def without_answer(tally: Tally | None) -> str:
    """Say why no answer came for any of them; empty where one did, or nothing is decided."""
    if tally is None or tally.answered or not tally.cells:
        return ""
    return Verdict.UNFIT.value if tally.unfit else Verdict.FAILED.value


def duration(seconds: float | None) -> str:
    """Write `0.4 s` or `12 ms`; a dash for None."""
    return NOTHING if seconds is None else figures.duration(seconds)


def tokens(count: float | None) -> str:
    return NOTHING if count is None else f"{count:,.0f}"


def cost(spent: Spent) -> str:
    """Write what all of them cost: `$0.12`, `$0.12 + 3 unknown`, `free`, `cost unknown`."""
    if not spent.sent:
        return NOTHING
    if spent.unpriced:
        return figures.total_of(spent.cost or 0.0, spent.unpriced)
    return figures.cost_of(spent.cost)


def cells_text(run: Run, whole: Tally) -> str:
    """Tell what came of the cells, as `100 of 420 cells: 88 answered, 12 failed`.

    Of a run that is whole: `420 cells: …`.
    """
    size = run.experiment.size
    of = f"{whole.cells:,} of " if whole.cells != size else ""
    parts = [f"{whole.answered:,} answered", *unanswered_parts(whole)]
    kept_out = " Shares are of the answered ones." if whole.cells != whole.answered else ""
    return f"{of}{figures.plural(size, 'cell')}: {', '.join(parts)}.{kept_out}"


def unanswered_parts(tally: Tally) -> Iterator[str]:
    """Tell of how many no answer came, and why: `2 do not fit`, `1 failed`."""
    if tally.unfit:
        yield f"{tally.unfit:,} {'does' if tally.unfit == 1 else 'do'} not fit"
    if tally.failed:
        yield f"{tally.failed:,} failed"


def setting_parts(run: Run) -> Iterator[str]:
    """Tell what the figures depend on, part by part, the most important first."""
    asked = run.experiment
    yield f"preset {sanitize.one_line(asked.preset)}" if asked.preset != "own" else "own grid"
    yield figures.plural(len(asked.kinds), "kind")
    yield figures.plural(len(asked.depths), "depth")
    yield figures.plural(asked.repeats, "repeat")
    yield f"seed {asked.seed}"
    yield f"limit {run.limit:,}, reserve {run.reserve:,}"
    if run.longest is not None:
        yield f"answers of up to {run.longest:,} tokens"
    if run.temperature is not None:
        yield f"temperature {run.temperature:g}, sampling seed {run.sampling_seed}"
    yield f"embedder {sanitize.one_line(run.embedder)}"
    yield f"tokens by {sanitize.one_line(run.counter)}"
    if asked.talk is Talk.LONG:
        yield "long answers in between"
    if asked.conversation is not None:
        yield f"in conversation {sanitize.one_line(asked.conversation)}"
    yield f"judged by {sanitize.one_line(run.judge)}" if run.judge else "judged by rules"
    yield f"jitchat {sanitize.one_line(run.version)}"


@dataclass(frozen=True, slots=True)
class Axis:
    """A property of cells that shares are plotted and listed by."""

    name: str
    about: str
    """What it is of, behind "Right answers by"."""
    of: Callable[[Cell], float | None]
    """None where the cell has no value of it."""
    values: Callable[[Experiment], Sequence[float]]
    """Those that were asked, ascending; none where an experiment does not vary it."""
    write: Callable[[float], str]


LENGTH = Axis(
    "length",
    "length of the conversation",
    lambda cell: cell.length,
    lambda asked: asked.lengths,
    lambda length: short(int(length)),
)
DEPTH = Axis(
    "depth",
    "depth of the fact",
    lambda cell: cell.depth,
    lambda asked: asked.depths,
    percent,
)
NEAR = Axis(
    "near",
    "near-duplicates of the fact",
    lambda cell: cell.near,
    lambda asked: [near for near in asked.near if near is not None] if asked.near[1:] else (),
    lambda near: f"{near:g}",
)
AXES = (LENGTH, DEPTH, NEAR)


def axes_of(asked: Experiment) -> list[Axis]:
    return [axis for axis in AXES if axis.values(asked)]


@dataclass(frozen=True, slots=True)
class Tally:
    right: int = 0
    wrong: int = 0
    unfit: int = 0
    failed: int = 0
    effective: float | None = None
    """How many cells that each ask for another fact would tell as much as the answered ones do;
    None where they are such cells. A sum of tallies does not know it."""

    def __add__(self, other: Tally) -> Tally:
        right, wrong = self.right + other.right, self.wrong + other.wrong
        return Tally(right, wrong, self.unfit + other.unfit, self.failed + other.failed)

    @property
    def cells(self) -> int:
        return self.right + self.wrong + self.unfit + self.failed

    @property
    def answered(self) -> int:
        return self.right + self.wrong

    @property
    def share(self) -> float | None:
        """Give the share of right answers among those that came; None where none came."""
        return self.right / self.answered if self.answered else None

    @property
    def sample(self) -> tuple[float, float]:
        """Give right ones and answers, at the effective size; there is one answer at least."""
        of = self.answered if self.effective is None else self.effective
        return of * self.right / self.answered, of

    @property
    def interval(self) -> Interval | None:
        """Give Wilson's 95 % interval of the share, at the effective size; None without an answer.

        Within one length and mode every cell asks for another fact. Over several lengths the same
        facts are asked for at each, and a fact's answers are alike.
        """
        return wilson(*self.sample) if self.answered else None


@dataclass(frozen=True, slots=True)
class Spent:
    """What cells took, of those that left. Medians; None where it is known of none."""

    sent: int = 0
    """Without those that a server refused because they do not fit: they cost nothing."""
    tokens: float | None = None
    """Of the window, as it was counted when it was sent."""
    to_first: float | None = None
    """Seconds from leaving to the first token."""
    seconds: float | None = None
    """From leaving to the end of the answer; of failed requests neither."""
    cached: float | None = None
    """The share of all their input that came from the provider's prompt cache; no median."""
    cost: float | None = None
    """Of all together, in US dollars, as far as it is known; None where none is."""
    unpriced: int = 0
    """Cells whose cost is not known, and not in `cost`."""


Place = tuple[Mode, int, float]
"""A square of the heatmap: mode, length, depth."""


@dataclass(frozen=True, slots=True)
class Tallies:
    """All figures of a run, at one moment. What has no result has no key."""

    results: Mapping[Cell, Result]
    """What was counted."""
    squares: Mapping[Place, Tally]
    along: Mapping[str, Mapping[tuple[Mode, float], Tally]]
    """By the names of axes, then by mode and value."""
    by_kind: Mapping[tuple[Mode, Kind], Tally]
    by_mode: Mapping[Mode, Tally]
    spent: Mapping[Mode, Spent]
    spent_at: Mapping[tuple[Mode, int], Spent]
    """The same of one length."""

    @property
    def by_length(self) -> Mapping[tuple[Mode, float], Tally]:
        return self.along[LENGTH.name]

    @property
    def whole(self) -> Tally:
        return sum(self.by_mode.values(), Tally())


def count_results(results: Iterable[Result], kinds: Collection[Kind] = tuple(Kind)) -> Tallies:
    """Count results of these kinds; of two of one cell, the later one."""
    counting = ResultCounter(kinds)
    for result in results:
        counting.take(result)
    return counting.tallies()


_ONE = {verdict: Tally(**{verdict.name.lower(): 1}) for verdict in Verdict}


Fact = tuple[Kind, float, int]


def fact_of(cell: Cell) -> Fact:
    """Tell which fact a cell asks for: the same one at each length, in each mode."""
    return cell.kind, cell.depth, cell.repeat


class FactCounter:
    """Counts results that may ask for the same fact several times."""

    def __init__(self) -> None:
        self._tally = Tally()
        self._facts: dict[Fact, tuple[int, int]] = defaultdict(lambda: (0, 0))
        self._sums = ClusterSums()

    def add(self, result: Result) -> None:
        one, fact = _ONE[result.verdict], fact_of(result.cell)
        self._tally += one
        right, of = before = self._facts[fact]
        self._facts[fact] = right + one.right, of + one.answered
        self._sums.replace(before, self._facts[fact])

    def tally(self) -> Tally:
        return replace(self._tally, effective=self._sums.effective_if_clustered)


class _Spending:
    """Adds up what results took; ordered lists, for a median is asked for all the time."""

    def __init__(self) -> None:
        self._sent = self._input = self._cached = 0
        self._costs: list[float] = []
        self._tokens: list[float] = []
        self._to_first: list[float] = []
        self._seconds: list[float] = []

    def add(self, result: Result) -> None:
        if result.seconds is None or result.verdict is Verdict.UNFIT:
            return
        self._sent += 1
        measured = [(self._tokens, result.tokens), (self._costs, result.cost)]
        if result.verdict is not Verdict.FAILED:
            measured += [(self._to_first, result.to_first), (self._seconds, result.seconds)]
        for values, value in measured:
            if value is not None:
                insort(values, value)
        if result.usage is not None and result.usage.input_tokens is not None:
            self._input += result.usage.input_tokens
            self._cached += result.usage.cached_tokens

    def spent(self) -> Spent:
        return Spent(
            sent=self._sent,
            tokens=median(self._tokens) if self._tokens else None,
            to_first=median(self._to_first) if self._to_first else None,
            seconds=median(self._seconds) if self._seconds else None,
            cached=min(1.0, self._cached / self._input) if self._input else None,
            cost=fsum(self._costs) if self._costs else None,
            unpriced=self._sent - len(self._costs),
        )


class ResultCounter:
    """Counts results as they come. Taking one in costs the same however many came before."""

    def __init__(self, kinds: Collection[Kind] = tuple(Kind)) -> None:
        self._kinds = frozenset(kinds)
        self._results: dict[Cell, Result] = {}
        self._count_all()

    def take(self, result: Result) -> None:
        """Count a result, if it is of the kinds; it replaces one of the same cell."""
        if result.cell.kind not in self._kinds:
            return
        is_known = result.cell in self._results
        self._results[result.cell] = result
        if is_known:  # seldom: a cell that failed was asked again
            self._count_all()
        else:
            self._count(result)

    def tallies(self) -> Tallies:
        """Tell what it comes to; it costs what the grid has squares, whatever was counted."""
        along = {
            name: {place: each.tally() for place, each in counted.items()}
            for name, counted in self._along.items()
        }
        return Tallies(
            dict(self._results),
            dict(self._squares),
            along,
            {place: each.tally() for place, each in self._by_kind.items()},
            {mode: each.tally() for mode, each in self._by_mode.items()},
            {mode: each.spent() for mode, each in self._spent.items()},
            {place: each.spent() for place, each in self._spent_at.items()},
        )

    def _count_all(self) -> None:
        self._squares: dict[Place, Tally] = defaultdict(Tally)
        self._along: dict[str, dict[tuple[Mode, float], FactCounter]] = {
            axis.name: defaultdict(FactCounter) for axis in AXES
        }
        self._by_kind: dict[tuple[Mode, Kind], FactCounter] = defaultdict(FactCounter)
        self._by_mode: dict[Mode, FactCounter] = defaultdict(FactCounter)
        self._spent: dict[Mode, _Spending] = defaultdict(_Spending)
        self._spent_at: dict[tuple[Mode, int], _Spending] = defaultdict(_Spending)
        for result in self._results.values():
            self._count(result)

    def _count(self, result: Result) -> None:
        cell = result.cell
        self._squares[cell.mode, cell.length, cell.depth] += _ONE[result.verdict]
        for axis in AXES:
            if (value := axis.of(cell)) is not None:
                self._along[axis.name][cell.mode, value].add(result)
        self._by_kind[cell.mode, cell.kind].add(result)
        self._by_mode[cell.mode].add(result)
        self._spent[cell.mode].add(result)
        self._spent_at[cell.mode, cell.length].add(result)
