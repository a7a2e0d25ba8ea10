"""The state of a run: its results, their figures, its progress and the remaining time.

`RunState` is pure and changes by events of the lab. An open run owns its file and, if it is being
asked, a lab. The lab runs in the screen's event loop, like a message of the chat, with slow work in
threads. Its task is cancelled once: pending writes finish before the file is closed.
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
from jitchat.lab.stats import Place, Tallies, count_results, duration, span
from jitchat.text.figures import total_of
from jitchat.text.sanitize import shorten
from jitchat.values import Mode

_BASE, _CHOSEN = 2_000, 4_000
"""The fixed cost of a request, in tokens of work, and the approximate largest window of `recency`
and `jit`."""
_MADE = 0.1
"""The share of a conversation's length that making and searching it costs for each cell."""
_EXACT = 10.0
"""Tenths are shown for fewer seconds than this."""
_FROM = 1.0
"""Seconds after which the remaining time is estimated."""
_WHY = 120


def _weight(cell: Cell, run: Run) -> float:
    """Estimate the work for a cell, in tokens; a window that does not fit is not sent."""
    made = _MADE * cell.length
    if cell.mode is not Mode.FULL:
        return made + _BASE + min(cell.length, _CHOSEN)
    return made + (_BASE + cell.length if cell.length < run.limit - run.reserve else 0)


@dataclass(frozen=True, slots=True)
class Progress:
    done: int
    of: int
    seconds: float
    """Time spent asking, including earlier sessions of the run."""
    is_running: bool
    seconds_left: float | None = None
    """An estimate; None if unknown."""

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


class RunState:
    def __init__(self, run: Run, results: Iterable[Result]) -> None:
        self.run = run
        self.results = {result.cell: result for result in results}
        self.pending: set[Cell] = set()
        """Cells with a question in progress."""
        self.kinds = run.experiment.kinds
        self.parallel: int | None = None
        """Requests at once after the lab was throttled; None if it was not."""
        self.why = ""
        """Why the run ended early, as sentences; usually empty."""
        self._notice: events.LabEvent | None = None
        self._left = sum(_weight(cell, run) for cell in self.to_ask)
        """The work of the undecided cells, and of those decided in this session."""
        self._worked = 0.0
        self._tallies: Tallies | None = None

    @property
    def to_ask(self) -> list[Cell]:
        """List the cells without an answer, which resuming the run asks."""
        results = self.results.values()
        done = {each.cell for each in results if each.verdict is not Verdict.FAILED}
        return [cell for cell in self.run.experiment.cells() if cell not in done]

    @property
    def tallies(self) -> Tallies:
        if self._tallies is None:
            self._tallies = count_results(self.results.values(), self.kinds)
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
            case events.RunEnded(why), _:
                self.stop(why)
            case events.CellBegun(cell), notice:
                self.pending.add(cell)
                self._notice = None if isinstance(notice, events.Slowed) else notice
            case events.CellEnded(result), notice:
                self._decide(result)
                if isinstance(notice, events.CellRetried) and notice.cell == result.cell:
                    self._notice = None

    def keep(self, results: Iterable[Result]) -> None:
        """Load the results from the run's file, in order, and count those not reported yet."""
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
        self._tallies = None

    def stop(self, why: str = "") -> None:
        """Mark the run as stopped; `why` if something ended it."""
        self.pending.clear()
        self._notice = None
        self.why = why or self.why

    def next_kinds(self) -> None:
        kinds = self.run.experiment.kinds
        choices = [kinds, *((kind,) for kind in kinds)]
        self.kinds = choices[(choices.index(self.kinds) + 1) % len(choices)]
        self._tallies = None

    @property
    def kinds_line(self) -> str:
        kinds = self.run.experiment.kinds
        return "all kinds" if self.kinds == kinds and len(kinds) > 1 else ", ".join(self.kinds)

    def progress(self, seconds: float, *, is_running: bool) -> Progress:
        left = None
        if is_running and self._worked and seconds >= _FROM:
            left = max(0.0, seconds / self._worked * self._left)
        done, of = len(self.results), self.run.experiment.size
        return Progress(done, of, self.run.seconds + seconds, is_running, left)

    @property
    def cost(self) -> str:
        """Write the cost of the cells so far: `$0.12`; empty if nothing is charged."""
        spent = self.tallies.spent.values()
        return total_of(sum(of.cost or 0.0 for of in spent), sum(of.unpriced for of in spent))

    @property
    def notice(self) -> str:
        """What the lab is doing besides asking: `retried in jit at 2k: …`; usually empty."""
        match self._notice:
            case events.ConversationBegun(number, of, length):
                return f"making conversation {number} of {of}, {short(length)} tokens…"
            case events.CellRetried(cell, why):
                at = f"{cell.mode} at {short(cell.length)}"
                return f"retried in {at}: {shorten(why, _WHY)}"
            case events.CapRaised(tokens):
                return f"the model reasons: answers may now take {tokens:,} tokens"
            case events.Slowed(seconds, why, parallel):
                does = f"waiting {span(seconds)}" if seconds else f"{parallel} at once from now on"
                return f"{shorten(why, _WHY)}: {does}"
        return ""


class OpenRun:
    """Owns the run's file; `close` releases it."""

    def __init__(self, opened: RunFile | Lab) -> None:
        """Read the run's results; with a lab, the run can be asked. Slow.

        Raises:
            JitchatError: The file is unreadable; it is released.

        """
        self.lab = opened if isinstance(opened, Lab) else None
        self.file = opened.file if isinstance(opened, Lab) else opened
        try:
            self.state = RunState(self.file.run, self.file.results())
        except BaseException:  # release the file on any error
            self.file.close()
            raise
        self.is_stopping = False
        self._asking: asyncio.Task[None] | None = None

    async def ask(self, report: Callable[[], object]) -> None:
        """Ask until the end or until stopped; `report` is called after each event."""
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
            with suppress(JitchatError):  # reported by the lab's own error
                self.state.keep(await asyncio.to_thread(self.file.results))

    def stop(self) -> None:
        """Stop asking, keeping what was received. Idempotent."""
        if self._asking is not None and not self.is_stopping:
            self.is_stopping = True
            self._asking.cancel()

    async def close(self) -> None:
        """Stop, and release the file. Idempotent."""
        self.stop()
        if self._asking is not None:
            await asyncio.gather(self._asking, return_exceptions=True)
        await asyncio.to_thread(self.file.close)
