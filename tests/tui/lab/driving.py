"""Driving the lab in tests: opening its screens, and waiting for what matters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.screen import Screen
from textual.widgets import Static

from jitchat.tui.app import JitchatApp
from jitchat.tui.lab.heatmap import HeatMaps
from jitchat.tui.lab.run import RunScreen
from jitchat.tui.lab.start import RunsList, StartScreen
from tests.support import ROOT
from tests.tui.support import TestBackend, until

if TYPE_CHECKING:
    from textual.pilot import Pilot

    from jitchat.lab.experiment import RunWanted


class LabApp(JitchatApp):
    """The app without a chat below the lab: nothing has to be indexed."""

    CSS_PATH = [ROOT / "jitchat" / "tui" / each for each in JitchatApp.CSS_PATH]  # noqa: RUF012

    def __init__(self, backend: TestBackend, wanted: RunWanted | None = None) -> None:
        super().__init__(backend, backend.store.create("A talk"), wanted)

    def get_default_screen(self) -> Screen[object]:  # type: ignore[override]
        return Screen()

    def on_ready(self) -> None:
        self.push_screen(StartScreen(self._backend.lab_service(), self._rot))


async def opened(pilot: Pilot[None]) -> StartScreen:
    """The first screen of the lab, once it knows who answers and which runs there are."""
    await until(pilot, lambda: isinstance(pilot.app.screen, StartScreen), "the lab")
    screen = pilot.app.screen
    assert isinstance(screen, StartScreen)
    await listed(pilot, screen)
    return screen


async def listed(pilot: Pilot[None], screen: StartScreen) -> None:
    """Until nothing is looked up any more."""
    await until(pilot, lambda: screen.query("RunsList"), "the list")
    runs = screen.query_one(RunsList)
    await until(pilot, lambda: runs._runs or runs._none.display, "the runs")
    await until(pilot, lambda: all(w.is_finished for w in screen.workers), "what is looked up")
    await pilot.pause()


async def shown(pilot: Pilot[None]) -> RunScreen:
    """A run, once it is on screen."""
    await until(pilot, lambda: isinstance(pilot.app.screen, RunScreen), "the run")
    screen = pilot.app.screen
    assert isinstance(screen, RunScreen)
    await until(pilot, lambda: any(each.size.width for each in screen.query(HeatMaps)), "its maps")
    await pilot.pause()
    return screen


async def decided(pilot: Pilot[None], screen: RunScreen, number: int) -> None:
    """Until so many cells are decided, and that is drawn."""
    told = f"{number} of {screen.state.run.experiment.size:,} cells"
    await until(pilot, lambda: told in text(pilot), told)


async def over(pilot: Pilot[None], screen: RunScreen) -> None:
    """Until nothing is asked any more."""
    await until(pilot, lambda: not screen.is_asking, "the end of the run")
    await pilot.pause()


def lines(pilot: Pilot[None]) -> list[str]:
    """What is on screen."""
    return [strip.text.rstrip() for strip in pilot.app.screen._compositor.render_strips()]


def text(pilot: Pilot[None]) -> str:
    """What is on screen, as one text without the frame."""
    return " ".join(" ".join(line.strip("│╭╮╰╯ ") for line in lines(pilot)).split())


def detail(run: RunScreen) -> str:
    """What is told of the cell under the cursor."""
    return " ".join(str(run.query_one("#cell-detail", Static).render()).split())
