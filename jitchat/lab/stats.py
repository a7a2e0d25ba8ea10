"""The figures of a run: shares with intervals, sums along its axes, and their formatting.

Invariant: every result is in one square, one length, one kind and one mode, so each of these
adds up to the decided cells, whatever the order of the results.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import fsum
from statistics import median
from typing import TypeVar

from jitchat.bench.proportions import Interval, effective_size, wilson
from jitchat.lab.experiment import Cell, Experiment, Result, Verdict
from jitchat.lab.facts import Kind
from jitchat.lab.filler import Talk
from jitchat.lab.run_file import Run, short
from jitchat.text import figures, sanitize
from jitchat.values import Mode

_Place = TypeVar("_Place")
NOTHING = "–"
"""Shown for a missing figure."""


def points(share: float) -> str:
    """Format a share in whole per cent, without the sign: 100 only for all, 0 only for none."""
    rounded = round(share * 100)
    return f"{min(99, max(1, rounded)) if 0 < share < 1 else rounded}"


def percent(share: float | None) -> str:
    """Format a share: `97 %`; a dash for None."""
    return NOTHING if share is None else f"{points(share)} %"


def interval(tally: Tally) -> str:
    """Format the interval of a share in per cent: `85–99`; empty if there is none."""
    ends = tally.interval
    return "" if ends is None else "–".join(f"{end * 100:.0f}" for end in ends)


def share_of(tally: Tally | None) -> str:
    """Format a share with its count: `97 % of 35 (85–99)`."""
    if tally is not None and tally.answered:
        return f"{percent(tally.share)} of {tally.answered:,} ({interval(tally)})"
    return without_answer(tally) or NOTHING


def total(tally: Tally | None) -> str:
    """Format a share with its count but without the interval: `97 % of 105`."""
    if tally is not None and tally.answered:
        return f"{percent(tally.share)} of {tally.answered:,}"
    return without_answer(tally) or NOTHING


def without_answer(tally: Tally | None) -> str:
    """Return why no cell has an answer; empty if one has, or nothing is decided."""
    if tally is None or tally.answered or not tally.cells:
        return ""
    return Verdict.UNFIT.value if tally.unfit else Verdict.FAILED.value


def duration(seconds: float | None) -> str:
    """Format as `0.4 s` or `12 ms`; a dash for None."""
    return NOTHING if seconds is None else figures.duration(seconds)


def span(seconds: float) -> str:
    """Format a time that need not be exact: `8 s`, `3 min`, `1 h 12 min`."""
    whole = max(0, round(seconds))
    if whole < 100:
        return f"{whole} s"
    hours, minutes = divmod(round(whole / 60), 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min"


def tokens(count: float | None) -> str:
    return NOTHING if count is None else f"{count:,.0f}"


def cost(spent: Spent) -> str:
    """Format the total cost: `$0.12`, `$0.12 + 3 unknown`, `free`, `cost unknown`."""
    if not spent.sent:
        return NOTHING
    if spent.unpriced:
        return figures.total_of(spent.cost or 0.0, spent.unpriced)
    return figures.cost_of(spent.cost)


def spent_texts(spent: Spent) -> tuple[str, str, str, str, str, str]:
    """Format what was sent, its tokens, the time to the first token and in all, cache and cost."""
    return (
        f"{spent.sent:,}",
        tokens(spent.tokens),
        duration(spent.to_first),
        duration(spent.seconds),
        percent(spent.cached),
        cost(spent),
    )


def cells_text(run: Run, whole: Tally) -> str:
    """Summarise the cells: `100 of 420 cells: 88 answered, 12 failed`.

    For a complete run: `420 cells: …`.
    """
    size = run.experiment.size
    of = f"{whole.cells:,} of " if whole.cells != size else ""
    parts = [f"{whole.answered:,} answered", *unanswered_parts(whole)]
    note = " Shares are of the answered cells." if whole.cells != whole.answered else ""
    return f"{of}{figures.plural(size, 'cell')}: {', '.join(parts)}.{note}"


def unanswered_parts(tally: Tally) -> Iterator[str]:
    """Yield the numbers of cells without an answer, with the reason: `2 do not fit`, `1 failed`."""
    if tally.unfit:
        yield f"{tally.unfit:,} {'does' if tally.unfit == 1 else 'do'} not fit"
    if tally.failed:
        yield f"{tally.failed:,} failed"


def setting_parts(run: Run) -> Iterator[str]:
    """Yield the settings that the figures depend on, the most important first."""
    asked = run.experiment
    yield f"preset {sanitize.one_line(asked.preset)}" if asked.preset != "own" else "custom grid"
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
        yield "long answers as filler"
    if asked.conversation is not None:
        yield f"in conversation {sanitize.one_line(asked.conversation)}"
    yield f"judged by {sanitize.one_line(run.judge)}" if run.judge else "judged by rules"
    yield f"jitchat {sanitize.one_line(run.version)}"


@dataclass(frozen=True, slots=True)
class Axis:
    """A property of cells by which shares are plotted and listed."""

    name: str
    about: str
    """The text after "Right answers by"."""
    of: Callable[[Cell], float | None]
    """The cell's value; None if it has none."""
    values: Callable[[Experiment], Sequence[float]]
    """The values of an experiment, ascending; empty if it does not vary this property."""
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
    """The effective sample size: the number of cells with different facts that would give as much
    information as the answered ones; None if all facts differ. Not known for a sum of tallies."""

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
        """The share of right answers among all answers; None if there are none."""
        return self.right / self.answered if self.answered else None

    @property
    def interval(self) -> Interval | None:
        """Wilson's 95 % interval of the share, at the effective size; None without an answer.

        Within one length and mode, every cell asks for a different fact. Over several lengths, the
        same facts are asked for at each, and the answers for a fact are correlated.
        """
        if self.share is None:
            return None
        of = self.effective or self.answered
        return wilson(of * self.share, of)


@dataclass(frozen=True, slots=True)
class Spent:
    """Tokens, time and cost of the sent cells. Medians; None if no value is known."""

    sent: int = 0
    """Number of sent cells, without those that a server refused as too large, which are free."""
    tokens: float | None = None
    """Tokens of the window, as counted when it was sent."""
    to_first: float | None = None
    """Seconds from sending to the first token, without failed requests."""
    seconds: float | None = None
    """Seconds from sending to the end of the answer, without failed requests."""
    cached: float | None = None
    """The share of the total input that came from the provider's prompt cache; not a median."""
    cost: float | None = None
    """The total of the known costs, in US dollars; None if none is known."""
    unpriced: int = 0
    """Cells whose cost is unknown, and not in `cost`."""


Place = tuple[Mode, int, float]
"""A square of the heatmap: mode, length, depth."""


@dataclass(frozen=True, slots=True)
class Tallies:
    """All figures of a run at one moment. A place without a result has no key."""

    results: Mapping[Cell, Result]
    """The counted results."""
    squares: Mapping[Place, Tally]
    along: Mapping[str, Mapping[tuple[Mode, float], Tally]]
    """By the name of an axis, then by mode and value."""
    by_kind: Mapping[tuple[Mode, Kind], Tally]
    by_mode: Mapping[Mode, Tally]
    spent: Mapping[Mode, Spent]
    spent_at: Mapping[tuple[Mode, int], Spent]
    """By mode and length."""

    @property
    def by_length(self) -> Mapping[tuple[Mode, float], Tally]:
        return self.along[LENGTH.name]

    @property
    def whole(self) -> Tally:
        return sum(self.by_mode.values(), Tally())


def count_results(results: Iterable[Result], kinds: Collection[Kind] = tuple(Kind)) -> Tallies:
    """Count the results of these kinds; if a cell has several, the last one counts."""
    counted = {result.cell: result for result in results if result.cell.kind in kinds}
    by_mode = _grouped(counted, lambda cell: cell.mode)
    return Tallies(
        counted,
        _tallied(counted, lambda cell: (cell.mode, cell.length, cell.depth)),
        {axis.name: _tallied(counted, partial(_place_on, axis)) for axis in AXES},
        _tallied(counted, lambda cell: (cell.mode, cell.kind)),
        {mode: tally_of(group) for mode, group in by_mode.items()},
        {mode: spent_on(group) for mode, group in by_mode.items()},
        {
            place: spent_on(group)
            for place, group in _grouped(counted, lambda cell: (cell.mode, cell.length)).items()
        },
    )


def _place_on(axis: Axis, cell: Cell) -> tuple[Mode, float] | None:
    value = axis.of(cell)
    return None if value is None else (cell.mode, value)


def _grouped(
    results: Mapping[Cell, Result], place_of: Callable[[Cell], _Place | None]
) -> dict[_Place, list[Result]]:
    """Group results by the place of their cells; those without one are left out."""
    groups: dict[_Place, list[Result]] = defaultdict(list)
    for cell, result in results.items():
        place = place_of(cell)
        if place is not None:
            groups[place].append(result)
    return groups


def _tallied(
    results: Mapping[Cell, Result], place_of: Callable[[Cell], _Place | None]
) -> dict[_Place, Tally]:
    return {place: tally_of(group) for place, group in _grouped(results, place_of).items()}


Fact = tuple[Kind, float, int]


def fact_of(cell: Cell) -> Fact:
    """Return the fact that a cell asks for: the same at each length and in each mode."""
    return cell.kind, cell.depth, cell.repeat


def tally_of(results: Collection[Result]) -> Tally:
    """Count results, in which the same fact can occur several times."""
    verdicts = Counter(result.verdict for result in results)
    right: Counter[Fact] = Counter()
    answered: Counter[Fact] = Counter()
    for result in results:
        fact = fact_of(result.cell)
        right[fact] += result.verdict is Verdict.RIGHT
        answered[fact] += result.verdict in (Verdict.RIGHT, Verdict.WRONG)
    effective = None
    if max(answered.values(), default=0) > 1:
        effective = effective_size((right[fact], of) for fact, of in answered.items())
    counts = {verdict.name.lower(): number for verdict, number in verdicts.items()}
    return Tally(**counts, effective=effective)


def spent_on(results: Iterable[Result]) -> Spent:
    sent = [
        result
        for result in results
        if result.seconds is not None and result.verdict is not Verdict.UNFIT
    ]
    ended = [result for result in sent if result.verdict is not Verdict.FAILED]
    usages = [result.usage for result in sent if result.usage is not None]
    inputs = [
        (usage.input_tokens, usage.cached_tokens)
        for usage in usages
        if usage.input_tokens is not None
    ]
    read = sum(tokens for tokens, _ in inputs)
    cached = sum(tokens for _, tokens in inputs)
    costs = [result.cost for result in sent if result.cost is not None]
    return Spent(
        sent=len(sent),
        tokens=_median(result.tokens for result in sent),
        to_first=_median(result.to_first for result in ended),
        seconds=_median(result.seconds for result in ended),
        cached=min(1.0, cached / read) if read else None,
        cost=fsum(costs) if costs else None,
        unpriced=len(sent) - len(costs),
    )


def _median(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return median(known) if known else None
