"""Pictures of the rot lab; `pytest --snapshot-update` takes them anew."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import pytest
from textual.pilot import Pilot

from jitchat.rot.events import Slowed
from jitchat.rot.experiment import preset
from jitchat.tui.rot import run_screen
from jitchat.tui.rot.asking_screen import SendScreen
from jitchat.tui.rot.cell_window import CellWindow
from jitchat.tui.rot.compare_screen import CompareScreen
from jitchat.tui.rot.curve import CurvePlot
from jitchat.tui.widgets.inspector import Inspector
from tests.tui.rot.driving import LabApp, decided, opened, shown
from tests.tui.rot.support import MODEL, ScriptedDesk, desk_in, quick
from tests.tui.support import TestBackend, until

Snap = Callable[..., bool]


@pytest.fixture
def moment(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The seconds that the screen believes have passed."""
    now = [0.0]
    monkeypatch.setattr(run_screen, "monotonic", lambda: now[0])
    return now


@pytest.fixture
def desk(backend: TestBackend, tmp_path: Path) -> ScriptedDesk:
    backend.desk = made = desk_in(tmp_path)
    return made


@pytest.fixture
def kept(desk: ScriptedDesk) -> ScriptedDesk:
    """With three runs: one of another model, one that is whole, one that is not."""
    desk.put(preset("standard", is_reader=False), MODEL, days=9)
    desk.put(quick(), days=1)
    desk.put(quick(), share=0.5)
    return desk


async def first(pilot: Pilot[None]) -> None:
    await opened(pilot)


def after(*keys: str) -> Callable[[Pilot[None]], Awaitable[None]]:
    """Open the second run, and press keys."""

    async def drive(pilot: Pilot[None]) -> None:
        await opened(pilot)
        await pilot.press("tab", "down", "enter")
        await shown(pilot)
        await pilot.press(*keys)
        await pilot.pause()

    return drive


@pytest.mark.parametrize("size", [(160, 48), (80, 24)])
def test_start_with_runs(
    snap_compare: Snap, backend: TestBackend, kept: ScriptedDesk, size: tuple[int, int]
) -> None:
    assert snap_compare(LabApp(backend), terminal_size=size, run_before=first)


def test_start_without_runs(snap_compare: Snap, backend: TestBackend, desk: ScriptedDesk) -> None:
    assert snap_compare(LabApp(backend), terminal_size=(104, 32), run_before=first)


def test_confirming(snap_compare: Snap, backend: TestBackend, kept: ScriptedDesk) -> None:
    kept.told = MODEL

    async def drive(pilot: Pilot[None]) -> None:
        await opened(pilot)
        await pilot.press("2", "p", "p", "enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, SendScreen), "the question")
        await pilot.pause()

    assert snap_compare(LabApp(backend), terminal_size=(104, 32), run_before=drive)


def test_half_way(
    snap_compare: Snap, backend: TestBackend, desk: ScriptedDesk, moment: list[float]
) -> None:
    desk.pause_after = 215
    desk.between = (Slowed(8.0, "the endpoint wants fewer requests", 1),)

    async def drive(pilot: Pilot[None]) -> None:
        await opened(pilot)
        await pilot.press("enter")
        run = await shown(pilot)
        await decided(pilot, run, 215)
        await until(pilot, lambda: run.shown.notice, "the notice")
        moment[0] = 12.0
        await pilot.press("m", "right", "down", "down")
        run._draw()
        await pilot.pause()

    assert snap_compare(LabApp(backend), terminal_size=(160, 48), run_before=drive)


def test_finished(snap_compare: Snap, backend: TestBackend, kept: ScriptedDesk) -> None:
    drive = after("right", "right", "down", "down")
    assert snap_compare(LabApp(backend), terminal_size=(160, 48), run_before=drive)


def test_finished_in_a_smaller_terminal(
    snap_compare: Snap, backend: TestBackend, kept: ScriptedDesk
) -> None:
    drive = after("right", "right", "down", "down", "tab", "down")
    assert snap_compare(LabApp(backend), terminal_size=(104, 32), run_before=drive)


@pytest.mark.parametrize("page", ["cells", "curve"])
def test_pages_of_a_small_terminal(
    snap_compare: Snap, backend: TestBackend, desk: ScriptedDesk, page: str
) -> None:
    lengths = tuple(1_000 * 2**power for power in range(8))
    depths = tuple(number / 10 for number in range(11))
    desk.put(replace(quick(), lengths=lengths, depths=depths))
    turns = ["cells", "curve"].index(page)

    async def drive(pilot: Pilot[None]) -> None:
        await opened(pilot)
        await pilot.press("tab", "enter")
        run = await shown(pilot)
        await pilot.press(*["v"] * turns, *["right"] * 4, *["down"] * 5)
        if page == "curve":
            await until(pilot, lambda: run.query_one(CurvePlot).size.height, "the plot")
        await pilot.pause()

    assert snap_compare(LabApp(backend), terminal_size=(80, 24), run_before=drive)


def test_window_of_a_cell(snap_compare: Snap, backend: TestBackend, desk: ScriptedDesk) -> None:
    desk.with_windows = True
    desk.put(quick(), days=1)
    desk.put(quick())

    async def drive(pilot: Pilot[None]) -> None:
        await after("enter", "enter")(pilot)
        await until(pilot, lambda: isinstance(pilot.app.screen, CellWindow), "the window")
        inspector = pilot.app.screen.query_one(Inspector)
        await until(pilot, lambda: inspector._window is not None, "its segments")
        await pilot.pause()

    assert snap_compare(LabApp(backend), terminal_size=(104, 32), run_before=drive)


def test_two_runs_compared(snap_compare: Snap, backend: TestBackend, kept: ScriptedDesk) -> None:
    async def drive(pilot: Pilot[None]) -> None:
        await opened(pilot)
        await pilot.press("tab", "down", "c", "down", "c")
        await until(pilot, lambda: isinstance(pilot.app.screen, CompareScreen), "the comparison")
        await pilot.pause()

    assert snap_compare(LabApp(backend), terminal_size=(160, 48), run_before=drive)


def test_too_small(snap_compare: Snap, backend: TestBackend, kept: ScriptedDesk) -> None:
    assert snap_compare(LabApp(backend), terminal_size=(50, 14), run_before=first)
