"""What the first screen of the lab has done in threads: making, opening and comparing runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from jitchat.rot.compare import Comparison, compared
from jitchat.rot.desk import LabDesk
from jitchat.rot.lab import Lab
from jitchat.rot.runs import Runs
from jitchat.rot.tally import Tally, tallied
from jitchat.tui.rot.lab_runner import LabRunner
from jitchat.tui.rot.setup_rows import Sending
from jitchat.tui.rot.shown_run import ShownRun
from jitchat.turn import Mode


@dataclass(frozen=True, slots=True)
class Opened:
    """A run that can be shown, and asked where it has a lab."""

    runner: LabRunner
    shown: ShownRun


def make(desk: LabDesk, sending: Sending) -> Opened:
    """Make a new run.

    Raises:
        JitchatError: It cannot be.

    """
    return _with_lab(desk.begin(sending.experiment, sending.parallel, sending.judge))


def go_on(desk: LabDesk, run: str, parallel: int) -> Opened:
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
    return compared(before, was, after, became)


def shares(runs: Runs, run: str) -> Mapping[Mode, Tally]:
    """Count a run by mode.

    Raises:
        JitchatError: It is not there, or cannot be read.

    """
    file = runs.open(run)
    try:
        return tallied(file.results()).by_mode
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
