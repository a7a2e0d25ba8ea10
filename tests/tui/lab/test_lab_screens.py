"""Pictures of the rot lab; `pytest --snapshot-update` takes them anew."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from jitchat.lab.events import Slowed
from jitchat.lab.experiment import preset
from jitchat.tui.dialogs.exact import ExactScreen
from jitchat.tui.lab import run
from jitchat.tui.lab.cells import SquareCells, WindowScreen
from jitchat.tui.lab.curve import CurvePlot
from jitchat.tui.lab.heatmap import HeatMaps
from jitchat.tui.lab.start import ConfirmScreen
from jitchat.tui.widgets.inspector import Inspector
from jitchat.values import Mode
from tests.tui.lab.driving import LabApp, decided, opened, shown, text
from tests.tui.lab.support import MODEL, NEEDED, ScriptedLabService, lab_service_in, quick
from tests.tui.support import TestBackend, until

if TYPE_CHECKING:
    from pathlib import Path

    from textual.pilot import Pilot

    from jitchat.tui.lab.run import RunScreen
    from tests.tui.conftest import Picture


@pytest.fixture
def moment(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The seconds that the screen believes have passed."""
    now = [0.0]
    monkeypatch.setattr(run, "monotonic", lambda: now[0])
    return now


@pytest.fixture
def service(backend: TestBackend, tmp_path: Path) -> ScriptedLabService:
    backend.service = made = lab_service_in(tmp_path)
    return made


@pytest.fixture
def kept(service: ScriptedLabService) -> ScriptedLabService:
    """With three runs: one of another model, one that is whole, one that is not."""
    service.put(preset("standard"), MODEL, days=9)
    service.put(quick(), days=1)
    service.put(quick(), share=0.5)
    return service


async def second_run(pilot: Pilot[None], *keys: str) -> RunScreen:
    """Open the second run, and press keys."""
    await opened(pilot)
    await pilot.press("tab", "down", "enter")
    run = await shown(pilot)
    await pilot.press(*keys)
    await pilot.pause()
    return run


async def test_start_with_runs(
    picture: Picture, backend: TestBackend, kept: ScriptedLabService
) -> None:
    async with LabApp(backend).run_test(size=(160, 48)) as pilot:
        await opened(pilot)
        await picture(pilot, "start", "small", "wide")
        await picture(pilot, "start", "tiny")


async def test_start_without_runs(
    picture: Picture, backend: TestBackend, service: ScriptedLabService
) -> None:
    async with LabApp(backend).run_test(size=(104, 32)) as pilot:
        await opened(pilot)
        await picture(pilot, "middle")


async def test_confirming(picture: Picture, backend: TestBackend, kept: ScriptedLabService) -> None:
    kept.told = MODEL
    async with LabApp(backend).run_test(size=(104, 32)) as pilot:
        await opened(pilot)
        await pilot.press("2", "p", "p", "enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, ConfirmScreen), "the question")
        await picture(pilot, "middle")


async def test_half_way(
    picture: Picture, backend: TestBackend, service: ScriptedLabService, moment: list[float]
) -> None:
    service.pause_after = 215
    service.between = (Slowed(8.0, "the endpoint wants fewer requests", 1),)
    async with LabApp(backend).run_test(size=(160, 48)) as pilot:
        await opened(pilot)
        await pilot.press("enter")
        run = await shown(pilot)
        await decided(pilot, run, 215)
        await until(pilot, lambda: run.state.notice, "the notice")
        moment[0] = 12.0
        await pilot.press("m", "right", "down", "down")
        run._draw()
        await picture(pilot, "wide")


async def test_finished(picture: Picture, backend: TestBackend, kept: ScriptedLabService) -> None:
    async with LabApp(backend).run_test(size=(160, 48)) as pilot:
        await second_run(pilot, "right", "right", "down", "down")
        await picture(pilot, "run", "wide")
        await pilot.press("v")
        await until(pilot, lambda: "not in the window" in text(pilot), "the evidence")
        assert "jit − full:" in text(pilot)
        await picture(pilot, "evidence", "wide")
        await picture(pilot, "evidence", "middle")
        await pilot.resize_terminal(160, 48)
        await pilot.pause()
        await pilot.press("k")
        await until(pilot, lambda: "of 15 cells" in text(pilot), "those of one kind")
        await pilot.press(*["k"] * 7, "x")
        await until(pilot, lambda: "right answers by depth" in text(pilot), "the other axis")
        assert "not in the window" not in text(pilot)
        await picture(pilot, "depth", "wide")
        await pilot.press("x", "tab", "down")
        await picture(pilot, "run", "middle")


@pytest.mark.long("whole")
async def test_pages_of_a_small_terminal(
    picture: Picture, backend: TestBackend, service: ScriptedLabService
) -> None:
    lengths = tuple(1_000 * 2**power for power in range(8))
    depths = tuple(number / 10 for number in range(11))
    service.put(replace(quick(), lengths=lengths, depths=depths))
    async with LabApp(backend).run_test(size=(80, 24)) as pilot:
        await opened(pilot)
        await pilot.press("tab", "enter")
        run = await shown(pilot)
        maps = run.query_one(HeatMaps)
        await pilot.press(*["right"] * 4, *["down"] * 5)
        assert "1 of 3" in text(pilot)
        assert [part.mode for part in maps.layout_shown.maps] == [Mode.FULL]
        await picture(pilot, "cells")
        await pilot.press("v")
        await until(pilot, lambda: run.query_one(CurvePlot).size.height, "the plot")
        await picture(pilot, "curve")
        await pilot.press("m", *["down"] * 5)
        assert maps.cursor == (Mode.RECENCY, 16_000, 1.0)
        assert maps.layout_shown.corner(maps.cursor) is not None
        await pilot.press("v")
        await until(pilot, lambda: "tokens first" in text(pilot), "the figures")
        assert "2 of 3" in text(pilot)
        assert "jit − recency:" in text(pilot)
        await picture(pilot, "figures")
        await pilot.press("v")
        await until(pilot, lambda: "not in the window" in text(pilot), "the evidence")
        await picture(pilot, "evidence")
        await pilot.press("x")
        await until(pilot, lambda: "right answers by depth" in text(pilot), "the other axis")
        await pilot.press("v", "v", "v")
        await until(pilot, lambda: "it quotes the sentences" in text(pilot), "the caveat")
        await pilot.press("enter")
        assert isinstance(pilot.app.focused, SquareCells)
        await pilot.resize_terminal(50, 14)
        await until(pilot, lambda: "needs 60 × 18 cells; there are 50 × 14" in text(pilot), "it")
        assert not run.query_one("#view-frame").display
        await pilot.resize_terminal(160, 48)
        await until(pilot, lambda: "f full" in text(pilot) and "first" in text(pilot), "all of it")
        assert len(maps.layout_shown.maps) == 3


async def test_window_of_a_cell(
    picture: Picture, backend: TestBackend, service: ScriptedLabService
) -> None:
    service.with_windows = True
    service.put(quick(), days=1)
    service.with_windows = False
    service.put(quick())
    file = service.runs.open("r1")
    wanted = file.window(file.results()[0])
    file.close()
    assert wanted is not None
    async with LabApp(backend).run_test(size=(104, 32)) as pilot:
        await second_run(pilot, "enter", "enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, WindowScreen), "the window")
        inspector = pilot.app.screen.query_one(Inspector)
        await until(pilot, lambda: inspector._window is not None, "its segments")
        await picture(pilot, "middle")
        assert inspector._window == wanted
        assert inspector.chosen == NEEDED
        assert "the window had 1 of 1 needed turn (#38)" in text(pilot)
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, ExactScreen), "the turn")
        assert f"retrieved #{NEEDED}" in text(pilot)
        await pilot.press("escape", "home", "enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, ExactScreen), "the system text")
        assert wanted.segments[0].text.split()[0] in text(pilot)
