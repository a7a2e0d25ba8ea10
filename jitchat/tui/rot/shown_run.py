"""A run as far as it is known on screen: its results, what is asked now, and what it comes to.

All figures are those of `Tallies`; here results are only found again by their cell.
"""

from __future__ import annotations

from collections.abc import Iterable

from jitchat.rot.cells import Cell, Result, Verdict
from jitchat.rot.events import (
    CellBegun,
    CellEnded,
    CellRetried,
    LabEvent,
    RunEnded,
    Slowed,
    TalkBegun,
    TalkReady,
)
from jitchat.rot.kinds import Kind
from jitchat.rot.run import Run, short
from jitchat.rot.tally import Place, Tallies, Tallying
from jitchat.text.money import total_of
from jitchat.text.safe import shortened
from jitchat.tui.rot.heat_drawing import Heat
from jitchat.tui.rot.progress import Progress, span, weight

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
            return f"asked once more in {cell.mode} at {short(cell.length)}: {shortened(why, _WHY)}"
        case Slowed(seconds, why, parallel):
            does = f"waiting {span(seconds)}" if seconds else f"{parallel} at once from now on"
            return f"{shortened(why, _WHY)}: {does}"
        case _:
            return ""


def _lacks(result: Result | None) -> bool:
    return result is None or result.verdict is Verdict.FAILED


def _place(cell: Cell) -> Place:
    return cell.mode, cell.length, cell.depth


def kinds_told(chosen: tuple[Kind, ...], every: tuple[Kind, ...]) -> str:
    """Name the kinds that are counted."""
    return "all kinds" if chosen == every and len(every) > 1 else ", ".join(chosen)
