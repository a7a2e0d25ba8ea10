"""What a run without the screen tells while it goes on: a bar, and a line where it is slowed."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from jitchat.cli.output import is_terminal, say
from jitchat.rot.cells import Result, Verdict
from jitchat.rot.events import CellEnded, LabEvent, RunEnded, Slowed, TalkBegun, TalkReady
from jitchat.rot.run import short
from jitchat.text.counts import counted
from jitchat.text.money import total_of
from jitchat.text.safe import one_line

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

    from jitchat.rot.run_file import RunFile


class Watcher:
    """Follows the events of a run."""

    def __init__(self, decided: int, parallel: int, tell: Callable[[str], None]) -> None:
        """`decided` cells are so already, `parallel` requests leave at once; `tell` prints."""
        self.decided, self.failed = decided, 0
        self.first_failure = ""
        """Why the first cell failed that did; empty where none did."""
        self.why_over = ""
        """Why the run was given up, as a sentence; empty where it is whole."""
        self._paid, self._unpriced = 0.0, 0
        """US dollars, and of how many answers they are not known."""
        self._tell, self._parallel = tell, parallel
        self._doing = self._length = ""
        self._is_slowed = False

    @property
    def doing(self) -> str:
        """What is being done, in few columns: `asking at 4k, 2 failed, $0.12`."""
        failed = f"{self.failed:,} failed" if self.failed else ""
        paid = total_of(self._paid, self._unpriced)
        return ", ".join(filter(None, (self._doing, failed, paid)))

    def take(self, event: LabEvent) -> None:
        """Take in what the run reports."""
        match event:
            case TalkBegun():
                self._length = short(event.length)
                self._doing = f"storing {self._length}"
            case TalkReady():
                self._doing = f"asking at {self._length}"
            case CellEnded():
                self._count(event)
            case Slowed():
                self._slowed(event)
            case RunEnded():
                self.why_over = event.why
            case _:
                pass

    def _count(self, event: CellEnded) -> None:
        if event.result.verdict is Verdict.FAILED:
            self.failed += 1
            self.first_failure = self.first_failure or event.result.note
        self.decided += 1
        self.pay(event.result)

    def pay(self, result: Result) -> None:
        """Add what a cell cost, as the tables of the run do."""
        if result.seconds is not None and result.verdict is not Verdict.UNFIT:
            self._paid += result.cost or 0.0
            self._unpriced += result.cost is None

    def _slowed(self, event: Slowed) -> None:
        """Say what is new of it: every request that has to wait reports that."""
        is_less = event.parallel < self._parallel
        if self._is_slowed and not is_less:
            return
        self._parallel, self._is_slowed = event.parallel, True
        does = [f"waiting {event.seconds:.0f} s"] if event.seconds >= 1 else []
        if is_less:
            does.append(f"{counted(event.parallel, 'request')} at once from now on")
        told = f"The endpoint wants less ({one_line(event.why)})"
        self._tell(f"{told}{': ' if does else ''}{', '.join(does)}.")


@contextmanager
def watching(file: RunFile, parallel: int) -> Iterator[tuple[Watcher, Callable[[LabEvent], None]]]:
    """Draw a bar for who looks at standard error; for a file or a pipe, lines alone."""
    size = file.run.experiment.size
    kept = [each for each in file.results() if each.verdict is not Verdict.FAILED]
    if not is_terminal(sys.stderr):
        watcher = Watcher(len(kept), parallel, lambda line: say(line, err=True))
        yield watcher, watcher.take
        return
    from rich.console import Console  # noqa: PLC0415  for a terminal only

    with drawn(len(kept), size, parallel, Console(stderr=True)) as (watcher, take):
        for result in kept:
            watcher.pay(result)
        yield watcher, take


@contextmanager
def drawn(
    decided: int, size: int, parallel: int, console: Console
) -> Iterator[tuple[Watcher, Callable[[LabEvent], None]]]:
    """Draw the bar of a run of `size` cells."""
    from rich.text import Text  # noqa: PLC0415  for a terminal only

    with _bar(console) as bar:
        watcher = Watcher(decided, parallel, lambda line: bar.console.print(Text(line)))
        task = bar.add_task("", total=size, completed=decided)

        def take(event: LabEvent) -> None:
            watcher.take(event)
            bar.update(task, completed=watcher.decided, description=watcher.doing)

        yield watcher, take


def _bar(console: Console) -> Progress:
    from rich.progress import (  # noqa: PLC0415  for a terminal only
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
    )

    doing = TextColumn("{task.description}", markup=False)
    columns = (TextColumn("cells"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), doing)
    return Progress(*columns, console=console, transient=True)
