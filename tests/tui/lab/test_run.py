"""A run on screen: it fills, is stopped and looked into, at every size, and ends cleanly."""

from __future__ import annotations

import json
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from textual.widgets import Input

from jitchat.errors import StoreReadOnly
from jitchat.lab.events import RunEnded, Slowed
from jitchat.lab.facts import Kind
from jitchat.lab.stats import count_results
from jitchat.tui.dialogs.exact import ExactScreen
from jitchat.tui.lab.cells import SquareCells, SquarePane
from jitchat.tui.lab.heatmap import HeatMaps
from jitchat.tui.lab.start import StartScreen
from jitchat.values import Mode
from tests.tui.lab.driving import LabApp, decided, detail, lines, opened, over, shown, text
from tests.tui.lab.support import ScriptedLabService, lab_service_in, quick
from tests.tui.support import TestBackend, until

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def service(backend: TestBackend, tmp_path: Path) -> ScriptedLabService:
    backend.service = made = lab_service_in(tmp_path)
    return made


async def begun(pilot):
    await opened(pilot)
    await pilot.press("enter")
    return await shown(pilot)


async def test_a_run_fills_the_maps_and_esc_stops_it_then_leaves(
    backend: TestBackend, service: ScriptedLabService
) -> None:
    service.pause_after = 215
    service.between = (Slowed(8.0, "the endpoint wants fewer requests", 1),)
    async with LabApp(backend).run_test(size=(160, 48)) as pilot:
        run = await begun(pilot)
        await decided(pilot, run, 215)
        await until(pilot, lambda: "wants fewer requests" in text(pilot), "the notice")
        assert "215 of 420 cells" in text(pilot)
        assert "wants fewer requests: waiting 8 s" in text(pilot)
        assert "is not a language model: it quotes" in text(pilot)
        assert run.state.tallies == count_results(run.state.results.values())
        assert len(run.state.pending) == 1
        assert "Stop" in lines(pilot)[-2]
        await pilot.press("escape")
        await over(pilot, run)
        assert service.labs[0].closed == [True]
        assert "215 of 420 cells · stopped and saved" in text(pilot)
        assert "Close" in lines(pilot)[-2]
        assert "Stop" not in lines(pilot)[-2]
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(pilot.app.screen, StartScreen), "the first screen")
        file = service.runs.open("last")
        assert len(file.results()) == 215
        file.close()


async def test_leaving_and_quitting_while_it_is_asked_keeps_what_came(
    backend: TestBackend, service: ScriptedLabService
) -> None:
    service.pause_after = 40
    async with LabApp(backend).run_test(size=(80, 24)) as pilot:
        run = await begun(pilot)
        await decided(pilot, run, 40)
        await pilot.press("escape", "escape")
        await until(pilot, lambda: isinstance(pilot.app.screen, StartScreen), "the first screen")
        await until(pilot, lambda: service.labs[0].closed, "the end of the first run")
        await pilot.press("1", "enter")
        other = await shown(pilot)
        await decided(pilot, other, 40)
        pilot.app.exit()
    await until(pilot, lambda: service.labs[1].closed, "the end of the other run")
    for lab in service.labs:
        with closing(service.runs.open(lab.file.run.id)) as file:
            assert len(file.results()) == 40


async def test_what_ends_a_run_is_told_as_a_sentence_and_what_came_is_kept(
    backend: TestBackend, service: ScriptedLabService
) -> None:
    service.pause_after, service.error = 30, StoreReadOnly("The disk is full.", "Make room.")
    async with LabApp(backend).run_test(size=(80, 24)) as pilot:
        run = await begun(pilot)
        await until(pilot, lambda: "The disk is full. Make room." in text(pilot), "the reason")
        assert "30 of 420 cells" in text(pilot)
        assert not run.state.pending
        service.error, given_up = None, RunEnded("The key is refused. Paste another.")
        service.between = (given_up,)
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(pilot.app.screen, StartScreen), "the first screen")
        await begun(pilot)
        await until(pilot, lambda: "The key is refused. Paste" in text(pilot), "the reason")
        assert "30 of 420 cells" in text(pilot)


async def test_the_cursor_tells_of_each_square_and_of_each_of_its_cells(
    backend: TestBackend, service: ScriptedLabService
) -> None:
    service.put(quick())
    async with LabApp(backend).run_test(size=(160, 48)) as pilot:
        await opened(pilot)
        await pilot.press("tab", "enter")
        run = await shown(pilot)
        maps, square = run.query_one(HeatMaps), run.query_one(SquarePane)
        assert "full · 1,000 tokens · 0 % deep · 7 of 7 right" in text(pilot)
        await pilot.press("m", "right", "down")
        assert maps.cursor == (Mode.RECENCY, 4_000, 0.25)
        assert "recency · 4,000 tokens · 25 % deep · 0 of 7 right" in text(pilot)
        assert "had 0 of 1 needed turn (#9): the answer was not available" in detail(run)
        await pilot.press("k", "k")
        assert "counted: paraphrased" in text(pilot)
        assert "25 % deep · 0 of 1 right" in text(pilot)
        assert run.state.tallies == count_results(run.state.results.values(), {Kind.PARAPHRASED})
        await pilot.press("tab", "down", "down")
        assert square.result is not None
        assert square.result.cell.kind is Kind.UPDATED
        await pilot.press("a")
        assert isinstance(pilot.app.screen, ExactScreen)
        assert square.result.answer in text(pilot)
        await pilot.press("escape", "tab", "left")
        assert maps.cursor == (Mode.RECENCY, 1_000, 0.25)
        assert square.result.cell.kind is Kind.UPDATED
        corner = maps.layout_shown.corner((Mode.JIT, 16_000, 1.0))
        assert corner is not None
        await pilot.click(HeatMaps, offset=(corner[0] + 2, corner[1] + 1))
        assert maps.cursor == (Mode.JIT, 16_000, 1.0)
        await pilot.click(SquareCells, offset=(4, 5))
        await pilot.pause()
        assert square.result.cell.kind is Kind.COUNTING
        assert pilot.app.screen is run
        await pilot.press("enter")
        await pilot.pause()
        assert pilot.app.screen is run


async def test_a_run_is_written_where_the_name_says(
    backend: TestBackend, service: ScriptedLabService, tmp_path: Path
) -> None:
    service.put(quick(), share=0.5)
    async with LabApp(backend).run_test(size=(80, 24)) as pilot:
        await opened(pilot)
        await pilot.press("tab", "enter")
        run = await shown(pilot)
        name = run.query_one(Input)

        async def write(path: Path) -> None:
            await pilot.press("e")
            name.value = str(path)
            await pilot.press("enter")

        await write(tmp_path / "run.json")
        await until(pilot, (tmp_path / "run.json").is_file, "the file")
        await until(pilot, lambda: not run._export.display, "the end")
        written = json.loads((tmp_path / "run.json").read_text())
        assert "reader" in json.dumps(written)
        await write(tmp_path / "run.pdf")
        await until(pilot, lambda: "has no supported format" in text(pilot), "why not")
        await pilot.press("escape")
        assert pilot.app.screen is run
        assert not run._export.display
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(pilot.app.screen, StartScreen), "the first screen")
