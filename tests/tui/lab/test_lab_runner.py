"""A run is asked in a thread: in batches, stopped at any moment, and its file given back once."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING

import pytest

from jitchat.errors import StoreReadOnly
from jitchat.lab.events import CellEnded, LabEvent, RunEnded
from jitchat.lab.experiment import Experiment
from jitchat.lab.facts import Kind
from jitchat.lab.stats import count_results
from jitchat.tui.lab.runner import LabRunner
from jitchat.tui.lab.shown_run import ShownRun
from tests.lab.support import lab_on, new_file
from tests.tui.lab.support import ScriptedLab, desk_in

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from jitchat.lab.experiment import Result

FEW = Experiment((1_000, 4_000), (0.0, 1.0), (Kind.DIRECT, Kind.EXACT))


class Watched(LabRunner):
    """Counts how often the file was given back."""

    def __init__(self, lab: ScriptedLab | None, file=None) -> None:
        super().__init__(file or lab.file, lab)  # type: ignore[union-attr]
        self.batches: list[Sequence[LabEvent]] = []
        self.closes = 0
        close = self.file.close

        def closing() -> None:
            self.closes += 1
            close()

        self.file.close = closing  # type: ignore[method-assign]

    def take(self, events: Sequence[LabEvent]) -> None:
        self.batches.append(events)

    @property
    def events(self) -> list[LabEvent]:
        return [event for batch in self.batches for event in batch]


def lab_in(folder: Path, **given: object) -> ScriptedLab:
    desk = desk_in(folder)
    for name, value in given.items():
        setattr(desk, name, value)
    return desk.begin(FEW)  # type: ignore[return-value]


def test_everything_is_handed_on_in_order_and_in_few_batches(tmp_path: Path) -> None:
    runner = Watched(lab_in(tmp_path))
    runner.run(runner.take)
    ended = [each.result.cell for each in runner.events if isinstance(each, CellEnded)]
    assert ended == list(FEW.cells())
    assert runner.events[-1] == RunEnded()
    assert len(runner.batches) < len(ended)
    assert runner.closes == 0
    runner.leave()
    assert runner.closes == 1


def test_stopping_keeps_what_came_and_leaving_gives_the_file_back(tmp_path: Path) -> None:
    lab = lab_in(tmp_path, pause_after=7)
    runner, heard = Watched(lab), threading.Event()

    def take(events: Sequence[LabEvent]) -> None:
        runner.take(events)
        if sum(isinstance(each, CellEnded) for each in runner.events) == 7:
            heard.set()

    asking = threading.Thread(target=runner.run, args=(take,))
    asking.start()
    assert heard.wait(20)
    runner.stop()
    runner.stop()
    asking.join(20)
    assert not asking.is_alive()
    assert lab.closed == [True]
    assert len(lab.file.results()) == 7
    runner.leave()
    assert runner.closes == 1


def test_leaving_while_it_is_asked_stops_it_and_then_gives_the_file_back(tmp_path: Path) -> None:
    runner, heard = Watched(lab_in(tmp_path, pause_after=3)), threading.Event()
    asking = threading.Thread(target=runner.run, args=(lambda _: heard.set(),))
    asking.start()
    assert heard.wait(20)
    runner.leave()
    asking.join(20)
    assert not asking.is_alive()
    assert runner.closes == 1
    runner.stop()


def test_a_run_that_was_left_before_it_began_asks_nothing(tmp_path: Path) -> None:
    runner = Watched(lab_in(tmp_path))
    runner.leave()
    assert runner.closes == 0
    runner.run(runner.take)
    assert runner.events == []
    assert runner.closes == 1


def test_what_breaks_it_off_is_raised_after_all_that_came_before(tmp_path: Path) -> None:
    full = StoreReadOnly("The disk is full.", "Make room.")
    runner = Watched(lab_in(tmp_path, pause_after=5, error=full))
    with pytest.raises(StoreReadOnly, match="The disk is full"):
        runner.run(runner.take)
    assert sum(isinstance(each, CellEnded) for each in runner.events) == 5
    runner.leave()
    assert runner.closes == 1


@pytest.mark.parametrize("number", [1, 2, 7])
def test_what_is_kept_while_it_is_stopped_is_shown_too(tmp_path: Path, number: int) -> None:
    lab = lab_on(new_file(tmp_path, FEW), parallel=2)
    runner, shown, keep = LabRunner(lab.file, lab), ShownRun(lab.file.run, ()), lab.file.keep
    decided: list[Result] = []

    def keep_and_stop(result: Result) -> None:
        keep(result)
        decided.append(result)
        if len(decided) >= number:
            runner.stop()

    lab.file.keep = keep_and_stop  # type: ignore[method-assign]
    runner.run(shown.take)
    shown.keep(runner.kept)
    assert list(shown.results.values()) == lab.file.results()
    assert shown.tallies == count_results(decided)
    assert number <= len(decided) < FEW.size
    runner.leave()


async def test_a_run_that_is_only_looked_at_is_given_back_at_once(tmp_path: Path) -> None:
    lab = lab_in(tmp_path)
    runner = Watched(None, lab.file)
    await asyncio.to_thread(runner.leave)
    assert runner.closes == 1
