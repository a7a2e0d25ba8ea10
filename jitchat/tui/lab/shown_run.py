"""How far a run is, and how long the rest takes about. Pure.

All figures are those of `Tallies`; here results are only found again by their cell.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from jitchat.lab.events import (
    CellBegun,
    CellEnded,
    CellRetried,
    LabEvent,
    RunEnded,
    Slowed,
    TalkBegun,
    TalkReady,
)
from jitchat.lab.experiment import Cell, Result, Verdict
from jitchat.lab.facts import Kind
from jitchat.lab.run_file import Run, short
from jitchat.lab.stats import Place, Tallies, Tallying, duration
from jitchat.text.figures import total_of
from jitchat.text.sanitize import shorten
from jitchat.tui.lab.heatmap import Heat
from jitchat.values import Mode

_BASE, _CHOSEN = 2_000, 4_000
"""Tokens that a request is worth beside what is read for it, and that a window of `recency` or
`jit` has at the most, about."""
_MADE = 0.1
"""Of a conversation's length: what making and searching it is worth, for each of its cells."""
_EXACT = 10.0
"""Seconds below which tenths are told."""
_FROM = 1.0
"""Seconds after which something can be said of the rest."""


def weight(cell: Cell, run: Run) -> float:
    """Tell how much work a cell is, about, in tokens: nothing is sent of what does not fit."""
    made = _MADE * cell.length
    if cell.mode is not Mode.FULL:
        return made + _BASE + min(cell.length, _CHOSEN)
    return made + (_BASE + cell.length if cell.length < run.limit - run.reserve else 0)


@dataclass(frozen=True, slots=True)
class Progress:
    """A moment of a run that is being asked, or of one that is not any more."""

    done: int
    of: int
    seconds: float
    """Since it was begun, or gone on with, here."""
    worked: float
    """The weight of the cells that were decided since then."""
    left: float
    """The weight of those that are not."""
    is_running: bool
    before: float = 0.0
    """Seconds that were spent before that, in earlier legs."""

    @property
    def seconds_left(self) -> float | None:
        """About; None where nothing can be told yet."""
        if not self.is_running or not self.worked or self.seconds < _FROM:
            return None
        return max(0.0, self.seconds / self.worked * self.left)

    @property
    def count(self) -> str:
        """`210 of 420 cells`."""
        return f"{self.done:,} of {self.of:,} cells"

    @property
    def sentence(self) -> str:
        """`210 of 420 cells · 12 s · about 11 s left`."""
        told = [self.count]
        if self.is_running:
            told.append(span(self.before + self.seconds))
            if self.seconds_left is not None:
                told.append(f"about {span(self.seconds_left)} left")
        elif self.done < self.of:
            told.append("stopped and kept: R goes on")
        elif took := self.before + self.seconds:
            told.append(f"done in {_took(took)}")
        return " · ".join(told)

    def bar(self, width: int) -> tuple[str, str]:
        """Draw what is done and what is not, in so many cells."""
        halves = 2 * width * self.done // self.of if self.of else 0
        full, half = divmod(halves, 2)
        done = "━" * full + "╸" * half
        return done, "━" * (width - len(done))


def _took(seconds: float) -> str:
    return duration(seconds) if seconds < _EXACT else span(seconds)


def span(seconds: float) -> str:
    """Write a time to wait, or one that has passed: `8 s`, `3 min`, `1 h 12 min`."""
    whole = max(0, round(seconds))
    if whole < 100:
        return f"{whole} s"
    hours, minutes = divmod(round(whole / 60), 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min"


_WHY = 120
"""Characters of a reason."""


class ShownRun:
    """One run; what the lab reports moves it on."""

    def __init__(self, run: Run, results: Iterable[Result]) -> None:
        self.run = run
        self.results: dict[Cell, Result] = {each.cell: each for each in results}
        self.asked: set[Cell] = set()
        """Cells of which a question is on its way."""
        self.kinds: tuple[Kind, ...] = run.experiment.kinds
        """Those that are counted."""
        self.parallel: int | None = None
        """Requests at once, since the lab was slowed down; None where it was not."""
        self.why = ""
        """Why it was given up, or broke off, as sentences; mostly empty."""
        self._noticed: LabEvent | None = None
        self._counting = Tallying(self.kinds)
        self.tallies: Tallies = self._counting.tallies()
        """What the results come to."""
        self._left = sum(weight(cell, run) for cell in self.to_ask)
        self._worked = 0.0
        self.count()

    @property
    def to_ask(self) -> list[Cell]:
        """List the cells that have no answer: those that going on would ask."""
        return [cell for cell in self.run.experiment.cells() if _lacks(self.results.get(cell))]

    @property
    def is_whole(self) -> bool:
        """Whether there is nothing more to ask."""
        return not self.to_ask

    @property
    def heat(self) -> Heat:
        """What the maps show."""
        return Heat(self.tallies.squares, self.tallies.by_mode, frozenset(map(_place, self.asked)))

    @property
    def notice(self) -> str:
        """What the lab does beside asking, as a clause; mostly empty."""
        return notice_of(self._noticed) if self._noticed is not None else ""

    def take(self, events: Iterable[LabEvent]) -> None:
        """Note what the lab reported, and count it."""
        for event in events:
            self._take(event)
        self.tallies = self._counting.tallies()

    def keep(self, results: Iterable[Result]) -> None:
        """Take what the file of the run holds, in its order; what was not reported is counted."""
        kept = {each.cell: each for each in results}
        for cell, result in kept.items():
            if self.results.get(cell) != result:
                self._decide(result)
        self.results = kept | self.results if kept else self.results
        self.tallies = self._counting.tallies()

    def _take(self, event: LabEvent) -> None:
        noticed = self._noticed
        match event:
            case TalkBegun() | Slowed() | CellRetried():
                self._noticed = event
            case TalkReady():
                self._noticed = None
            case RunEnded(why):
                self.stop(why)
            case CellBegun(cell):
                self.asked.add(cell)
                self._noticed = None if isinstance(noticed, Slowed) else noticed
            case CellEnded(result):
                self._decide(result)
                is_over = isinstance(noticed, CellRetried) and noticed.cell == result.cell
                self._noticed = None if is_over else noticed
        if isinstance(event, Slowed):
            self.parallel = event.parallel

    def _decide(self, result: Result) -> None:
        work = weight(result.cell, self.run)
        self._worked += work
        self._left -= work
        self.asked.discard(result.cell)
        self.results[result.cell] = result
        self._counting.take(result)

    def stop(self, why: str = "") -> None:
        """Nothing is asked any more; `why` where something ended it."""
        self.asked.clear()
        self._noticed = None
        self.why = why or self.why

    def next_kinds(self) -> None:
        """Count the next kind alone; behind the last one, all of them."""
        every = self.run.experiment.kinds
        choices: list[tuple[Kind, ...]] = [every, *((kind,) for kind in every)]
        self.kinds = choices[(choices.index(self.kinds) + 1) % len(choices)]
        self.count()

    def count(self) -> None:
        """Have all figures made anew."""
        self._counting = Tallying(self.kinds)
        for result in self.results.values():
            self._counting.take(result)
        self.tallies = self._counting.tallies()

    def progress(self, seconds: float, *, is_running: bool) -> Progress:
        """Tell how far it is; `seconds` were spent here."""
        size = self.run.experiment.size
        done = len(self.results)
        worked, left = self._worked, self._left
        return Progress(done, size, seconds, worked, left, is_running, self.run.seconds)

    @property
    def cost(self) -> str:
        """Write what the cells cost so far: `$0.12`; empty where nothing is charged."""
        spent = self.tallies.spent.values()
        return total_of(sum(each.cost or 0.0 for each in spent), sum(e.unpriced for e in spent))


def notice_of(event: LabEvent) -> str:
    """Say what is going on, as in `the endpoint wants fewer requests: waiting 8 s`."""
    match event:
        case TalkBegun(number, of, length):
            return f"making conversation {number} of {of}, {short(length)} tokens…"
        case CellRetried(cell, why):
            return f"asked once more in {cell.mode} at {short(cell.length)}: {shorten(why, _WHY)}"
        case Slowed(seconds, why, parallel):
            does = f"waiting {span(seconds)}" if seconds else f"{parallel} at once from now on"
            return f"{shorten(why, _WHY)}: {does}"
        case _:
            return ""


def _lacks(result: Result | None) -> bool:
    return result is None or result.verdict is Verdict.FAILED


def _place(cell: Cell) -> Place:
    return cell.mode, cell.length, cell.depth


def kinds_told(chosen: tuple[Kind, ...], every: tuple[Kind, ...]) -> str:
    """Name the kinds that are counted."""
    return "all kinds" if chosen == every and len(every) > 1 else ", ".join(chosen)
