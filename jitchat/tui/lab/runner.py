"""Asking a run behind the screen: in a thread, with an event loop of its own.

Whatever the lab does there, the screen's own loop is free. What happens is handed on in batches,
so that a quick run costs the screen no more than a slow one.
"""

import asyncio
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from jitchat.errors import JitchatError
from jitchat.lab.compare import Comparison, compare_runs
from jitchat.lab.events import LabEvent
from jitchat.lab.experiment import Result
from jitchat.lab.lab import Lab
from jitchat.lab.run_file import RunFile
from jitchat.lab.runs import Runs
from jitchat.lab.service import LabService
from jitchat.lab.stats import Tally, count_results
from jitchat.tui.batches import Batcher
from jitchat.tui.lab.setup import Sending
from jitchat.tui.lab.shown_run import ShownRun
from jitchat.values import Mode

EVERY = 1 / 15
"""Seconds between two batches, at least."""
Report = Callable[[Sequence[LabEvent]], object]


class LabRunner:
    """Owns the file of a run: it is given back once nobody looks and nothing is asked any more."""

    def __init__(self, file: RunFile, lab: Lab | None = None) -> None:
        """Without a `lab` the run is only looked at."""
        self.file, self.lab = file, lab
        self.kept: Sequence[Result] = ()
        """All that the file holds, once nothing is asked any more: a lab that is stopped keeps
        what it does not report. Empty where nobody looks, or it cannot be read."""
        self._lock = threading.Lock()
        self._is_over = lab is None
        self._is_left = False
        self._is_stopped = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[None] | None = None

    def run(self, report: Report) -> None:
        """Ask until the end, or until it is stopped. For a thread; `report` is called in it.

        Raises:
            StoreError: Results cannot be kept.

        """
        try:
            if self.lab is not None:
                asyncio.run(self._drive(self.lab, report))
        finally:
            self._look_again()
            with self._lock:
                self._is_over, is_left = True, self._is_left
            if is_left:
                self.file.close()

    def stop(self) -> None:
        """Ask no more; what came is kept. May be called from any thread, and twice."""
        self._is_stopped = True
        loop, task = self._loop, self._task
        if loop is not None and task is not None:
            with suppress(RuntimeError):  # it is over in this very moment
                loop.call_soon_threadsafe(task.cancel)

    def leave(self) -> None:
        """Stop, and have the file given back. Slow."""
        with self._lock:
            self._is_left, is_over = True, self._is_over
        if is_over:
            self.file.close()
        else:
            self.stop()

    def _look_again(self) -> None:
        if not self._is_left:
            with suppress(JitchatError):  # why is told by what broke the lab off
                self.kept = self.file.results()

    async def _drive(self, lab: Lab, report: Report) -> None:
        self._loop, self._task = asyncio.get_running_loop(), asyncio.current_task()
        if self._is_stopped:
            return
        batch = Batcher(report, EVERY)
        try:
            with suppress(asyncio.CancelledError):
                await lab.run(batch.take)
        finally:
            batch.flush()


@dataclass(frozen=True, slots=True)
class Opened:
    """A run that can be shown, and asked where it has a lab."""

    runner: LabRunner
    shown: ShownRun


def make(desk: LabService, sending: Sending) -> Opened:
    """Make a new run.

    Raises:
        JitchatError: It cannot be.

    """
    return _with_lab(desk.begin(sending.experiment, sending.parallel, sending.judge))


def go_on(desk: LabService, run: str, parallel: int) -> Opened:
    """Open a run to ask what has no answer yet.

    Raises:
        JitchatError: There is none, or another model would answer.

    """
    return _with_lab(desk.resume(run, parallel))


def look_at(runs: Runs, run: str) -> Opened:
    """Open a run to look at it.

    Raises:
        JitchatError: There is none, or it cannot be read.

    """
    runner = LabRunner(runs.open(run))
    return _opened(runner)


def compare(runs: Runs, wanted: tuple[str, str]) -> Comparison:
    """Compare two runs, the one that was begun first with the other.

    Raises:
        JitchatError: One of them is not there, or cannot be read.

    """
    found = []
    for each in wanted:
        file = runs.open(each)
        try:
            found.append((file.run, file.results()))
        finally:
            file.close()
    (before, was), (after, became) = sorted(found, key=lambda each: each[0].begun_at)
    return compare_runs(before, was, after, became)


def shares(runs: Runs, run: str) -> Mapping[Mode, Tally]:
    """Count a run by mode.

    Raises:
        JitchatError: It is not there, or cannot be read.

    """
    file = runs.open(run)
    try:
        return count_results(file.results()).by_mode
    finally:
        file.close()


def _with_lab(lab: Lab) -> Opened:
    return _opened(LabRunner(lab.file, lab))


def _opened(runner: LabRunner) -> Opened:
    """Read what is known of it; its file is given back where that cannot be read."""
    try:
        return Opened(runner, ShownRun(runner.file.run, runner.file.results()))
    except BaseException:  # closed whatever it was, and passed on
        runner.file.close()
        raise
