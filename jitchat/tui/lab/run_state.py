"""What is known of a run: its results, their figures, how far it is and how long the rest takes.

`RunState` is pure: events of the lab move it on. An open run has its file, to be looked at, or
with a lab to be asked. The lab works in the event loop of the screen, as a message of the chat
does: all that is slow in it is done in threads. It has a task of its own, which is cancelled once:
what is being stored is stored before the file is given back.
"""

import asyncio
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass

from jitchat.errors import JitchatError
from jitchat.lab import events
from jitchat.lab.experiment import Cell, Result, Verdict
from jitchat.lab.lab import Lab
from jitchat.lab.run_file import Run, RunFile, short
from jitchat.lab.stats import Place, ResultCounter, Tallies, duration
from jitchat.text.figures import total_of
from jitchat.text.sanitize import shorten
from jitchat.values import Mode

_BASE, _CHOSEN = 2_000, 4_000
"""Tokens that a request is worth beside what is read for it, and that a window of `recency` or
`jit` has at the most, about."""
_MADE = 0.1
"""Of a conversation's length: what making and searching it is worth, for each of its cells."""
_EXACT = 10.0
"""Seconds below which tenths are shown."""
_FROM = 1.0
"""Seconds after which the rest can be estimated."""
_WHY = 120


def _weight(cell: Cell, run: Run) -> float:
    """Estimate the work for a cell, in tokens: nothing is sent of what does not fit."""
    made = _MADE * cell.length
    if cell.mode is not Mode.FULL:
        return made + _BASE + min(cell.length, _CHOSEN)
    return made + (_BASE + cell.length if cell.length < run.limit - run.reserve else 0)


@dataclass(frozen=True, slots=True)
class Progress:
    done: int
    of: int
    seconds: float
    """Spent on asking, in earlier legs too."""
    is_running: bool
    seconds_left: float | None = None
    """Estimated; None where nothing is known yet."""

    @property
    def count(self) -> str:
        """`210 of 420 cells`."""
        return f"{self.done:,} of {self.of:,} cells"

    @property
    def sentence(self) -> str:
        """`210 of 420 cells · 12 s · about 11 s left`."""
        parts, seconds = [self.count], self.seconds
        if self.is_running:
            parts.append(span(seconds))
            if self.seconds_left is not None:
                parts.append(f"about {span(self.seconds_left)} left")
        elif self.done < self.of:
            parts.append("stopped and saved: R resumes")
        elif seconds:
            parts.append(f"done in {duration(seconds) if seconds < _EXACT else span(seconds)}")
        return " · ".join(parts)

    def bar(self, width: int) -> tuple[str, str]:
        full, half = divmod(2 * width * self.done // self.of if self.of else 0, 2)
        done = "━" * full + "╸" * half
        return done, "━" * (width - len(done))


def span(seconds: float) -> str:
    """Write a time to wait, or one that has passed: `8 s`, `3 min`, `1 h 12 min`."""
    whole = max(0, round(seconds))
    if whole < 100:
        return f"{whole} s"
    hours, minutes = divmod(round(whole / 60), 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min"


class RunState:
    def __init__(self, run: Run, results: Iterable[Result]) -> None:
        self.run = run
        self.results = {result.cell: result for result in results}
        self.pending: set[Cell] = set()
        """Cells of which a question is on its way."""
        self.kinds = run.experiment.kinds
        self.parallel: int | None = None
        """Requests at once, since the lab was slowed down; None where it was not."""
        self.why = ""
        """Why the run was given up, or broke off, as sentences; mostly empty."""
        self._notice: events.LabEvent | None = None
        self._left = sum(_weight(cell, run) for cell in self.to_ask)
        """The weight of the cells that are not decided, and of those that were decided here."""
        self._worked = 0.0
        self._tallies: Tallies | None = None
        self._count()

    @property
    def to_ask(self) -> list[Cell]:
        """List the cells that have no answer: resuming the run asks them."""
        results = self.results.values()
        done = {each.cell for each in results if each.verdict is not Verdict.FAILED}
        return [cell for cell in self.run.experiment.cells() if cell not in done]

    @property
    def tallies(self) -> Tallies:
        if self._tallies is None:
            self._tallies = self._counting.tallies()
        return self._tallies

    @property
    def pending_places(self) -> frozenset[Place]:
        return frozenset((cell.mode, cell.length, cell.depth) for cell in self.pending)

    def take(self, event: events.LabEvent) -> None:
        match event, self._notice:
            case events.Slowed(parallel=parallel), _:
                self._notice, self.parallel = event, parallel
            case events.ConversationBegun() | events.CellRetried() | events.CapRaised(), _:
                self._notice = event
            case events.ConversationReady(), _:
                self._notice = None
            case events.RunEnded(why, left), _:
                self.stop(why or (f"The time is up: {left:,} cells are left." if left else ""))
            case events.CellBegun(cell), notice:
                self.pending.add(cell)
                self._notice = None if isinstance(notice, events.Slowed) else notice
            case events.CellEnded(result), notice:
                self._decide(result)
                if isinstance(notice, events.CellRetried) and notice.cell == result.cell:
                    self._notice = None

    def keep(self, results: Iterable[Result]) -> None:
        """Take what the file of the run holds, in its order; what was not reported is counted."""
        kept = {result.cell: result for result in results}
        for cell, result in kept.items():
            if self.results.get(cell) != result:
                self._decide(result)
        self.results = kept | self.results

    def _decide(self, result: Result) -> None:
        work = _weight(result.cell, self.run)
        self._worked += work
        self._left -= work
        self.pending.discard(result.cell)
        self.results[result.cell] = result
        self._counting.take(result)
        self._tallies = None

    def stop(self, why: str = "") -> None:
        """Nothing is asked any more; `why` where something ended the run."""
        self.pending.clear()
        self._notice = None
        self.why = why or self.why

    def next_kinds(self) -> None:
        kinds = self.run.experiment.kinds
        choices = [kinds, *((kind,) for kind in kinds)]
        self.kinds = choices[(choices.index(self.kinds) + 1) % len(choices)]
        self._count()

    @property
    def kinds_line(self) -> str:
        kinds = self.run.experiment.kinds
        return "all kinds" if self.kinds == kinds and len(kinds) > 1 else ", ".join(self.kinds)

    def _count(self) -> None:
        self._counting = ResultCounter(self.kinds)
        for result in self.results.values():
            self._counting.take(result)
        self._tallies = None

    def progress(self, seconds: float, *, is_running: bool) -> Progress:
        left = None
        if is_running and self._worked and seconds >= _FROM:
            left = max(0.0, seconds / self._worked * self._left)
        done, of = len(self.results), self.run.experiment.size
        return Progress(done, of, self.run.seconds + seconds, is_running, left)

    @property
    def cost(self) -> str:
        """Write what the cells cost so far: `$0.12`; empty where nothing is charged."""
        spent = self.tallies.spent.values()
        return total_of(sum(of.cost or 0.0 for of in spent), sum(of.unpriced for of in spent))

    @property
    def notice(self) -> str:
        """What the lab does beside asking: `asked once more in jit at 2k: …`; mostly empty."""
        match self._notice:
            case events.ConversationBegun(number, of, length):
                return f"making conversation {number} of {of}, {short(length)} tokens…"
            case events.CellRetried(cell, why):
                at = f"{cell.mode} at {short(cell.length)}"
                return f"asked once more in {at}: {shorten(why, _WHY)}"
            case events.CapRaised(tokens):
                return f"the model reasons: answers may take {tokens:,} tokens from now on"
            case events.Slowed(seconds, why, parallel):
                does = f"waiting {span(seconds)}" if seconds else f"{parallel} at once from now on"
                return f"{shorten(why, _WHY)}: {does}"
        return ""


class OpenRun:
    """Owns the file, which is given back by `close`."""

    def __init__(self, opened: RunFile | Lab) -> None:
        """Read what is known of the run; of a lab, it can be asked. Slow.

        Raises:
            JitchatError: That cannot be read; the file is given back.

        """
        self.lab = opened if isinstance(opened, Lab) else None
        self.file = opened.file if isinstance(opened, Lab) else opened
        try:
            self.state = RunState(self.file.run, self.file.results())
        except BaseException:  # closed whatever it was, and passed on
            self.file.close()
            raise
        self.is_stopping = False
        self._asking: asyncio.Task[None] | None = None

    async def ask(self, report: Callable[[], object]) -> None:
        """Ask until the end, or until it is stopped; `report` is called after each event."""
        if self.lab is None:
            return
        self._asking = asyncio.create_task(self._drive(self.lab, report))
        await asyncio.wait((self._asking,))
        if not self._asking.cancelled():
            self._asking.result()

    async def _drive(self, lab: Lab, report: Callable[[], object]) -> None:
        def hear(event: events.LabEvent) -> None:
            self.state.take(event)
            report()

        try:
            with suppress(asyncio.CancelledError):
                await lab.run(hear)
        finally:
            with suppress(JitchatError):  # why the lab broke off is told
                self.state.keep(await asyncio.to_thread(self.file.results))

    def stop(self) -> None:
        """Ask no more; what came is kept. May be called twice."""
        if self._asking is not None and not self.is_stopping:
            self.is_stopping = True
            self._asking.cancel()

    async def close(self) -> None:
        """Stop, and give the file back. May be called twice."""
        self.stop()
        if self._asking is not None:
            await asyncio.gather(self._asking, return_exceptions=True)
        await asyncio.to_thread(self.file.close)
