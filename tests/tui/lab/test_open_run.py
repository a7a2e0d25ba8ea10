"""A run is asked until its end, stopped at any moment, and its file given back once."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from jitchat.errors import StoreReadOnly
from jitchat.lab.experiment import Experiment
from jitchat.lab.facts import Kind
from jitchat.lab.stats import count_results
from jitchat.tui.lab.run_state import OpenRun
from tests.lab.support import lab_on, new_file
from tests.tui.lab.support import lab_service_in, result_of

if TYPE_CHECKING:
    from pathlib import Path

    from jitchat.lab.experiment import Result
    from tests.tui.lab.support import ScriptedLab

FEW = Experiment((1_000, 4_000), (0.0, 1.0), (Kind.DIRECT, Kind.EXACT))


class Watched(OpenRun):
    """Counts how often it reports, and how often its file is given back."""

    def __init__(self, lab: ScriptedLab, *, is_asked: bool = True) -> None:
        self.reports = self.closes = 0
        self.paused = asyncio.Event()
        self._at = lab.pause_after
        close = lab.file.close

        def closing() -> None:
            self.closes += 1
            close()

        lab.file.close = closing  # type: ignore[method-assign]
        super().__init__(lab if is_asked else lab.file)

    def report(self) -> None:
        self.reports += 1
        if len(self.state.results) == self._at and self.state.pending:
            self.paused.set()


def run_in(folder: Path, *, is_asked: bool = True, **given: object) -> Watched:
    service = lab_service_in(folder)
    for name, value in given.items():
        setattr(service, name, value)
    return Watched(service.begin(FEW), is_asked=is_asked)  # type: ignore[arg-type]


async def test_every_cell_is_asked_in_order_and_reported(tmp_path: Path) -> None:
    run = run_in(tmp_path)
    await run.ask(run.report)
    assert list(run.state.results) == list(FEW.cells())
    assert run.state.tallies == count_results(map(result_of, FEW.cells()))
    assert run.reports > 2 * FEW.size
    assert run.closes == 0
    await run.close()
    assert run.closes == 1


async def test_stopping_keeps_what_came_and_closing_gives_the_file_back(tmp_path: Path) -> None:
    run = run_in(tmp_path, pause_after=7)
    asking = asyncio.create_task(run.ask(run.report))
    await asyncio.wait_for(run.paused.wait(), 20)
    run.stop()
    run.stop()
    await asyncio.wait_for(asking, 20)
    assert run.lab.closed == [True]  # type: ignore[union-attr]
    assert len(run.file.results()) == 7
    await run.close()
    assert run.closes == 1


async def test_closing_while_it_is_asked_stops_it_and_then_gives_the_file_back(
    tmp_path: Path,
) -> None:
    run = run_in(tmp_path, pause_after=3)
    asking = asyncio.create_task(run.ask(run.report))
    await asyncio.wait_for(run.paused.wait(), 20)
    asking.cancel()
    await asyncio.wait_for(run.close(), 20)
    assert run.lab.closed == [True]  # type: ignore[union-attr]
    assert run.closes == 1


async def test_what_breaks_it_off_is_raised_after_all_that_came_before(tmp_path: Path) -> None:
    full = StoreReadOnly("The disk is full.", "Make room.")
    run = run_in(tmp_path, pause_after=5, error=full)
    with pytest.raises(StoreReadOnly, match="The disk is full"):
        await run.ask(run.report)
    assert len(run.state.results) == 5
    await run.close()


@pytest.mark.parametrize("number", [1, 2, 7])
async def test_what_is_kept_while_it_is_stopped_is_shown_too(tmp_path: Path, number: int) -> None:
    lab = lab_on(new_file(tmp_path, FEW), parallel=2)
    run, keep, loop = OpenRun(lab), lab.file.keep, asyncio.get_running_loop()
    decided: list[Result] = []

    def keep_and_stop(result: Result) -> None:
        keep(result)
        decided.append(result)
        if len(decided) >= number:
            loop.call_soon_threadsafe(run.stop)

    lab.file.keep = keep_and_stop  # type: ignore[method-assign]
    await run.ask(lambda: None)
    assert list(run.state.results.values()) == lab.file.results()
    assert run.state.tallies == count_results(decided)
    assert number <= len(decided) < FEW.size
    await run.close()


async def test_a_run_that_is_only_looked_at_asks_nothing(tmp_path: Path) -> None:
    run = run_in(tmp_path, is_asked=False)
    await run.ask(run.report)
    assert run.reports == 0
    await run.close()
    assert run.closes == 1
