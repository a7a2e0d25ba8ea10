"""The live demo for its tests: the real lab on files of the test's own, with a scripted model."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from textual.screen import Screen

from jitchat.lab.run_file import Runs
from jitchat.tui.app import JitchatApp
from jitchat.tui.lab.live import LiveApp, LiveScreen
from tests.lab.support import lab_on, run_of
from tests.support import ROOT, ScriptedProvider
from tests.tui.lab.support import MODEL
from tests.tui.support import TestBackend, until

if TYPE_CHECKING:
    from pathlib import Path

    from textual.pilot import Pilot

    from jitchat.errors import JitchatError
    from jitchat.lab.costs import Answerer
    from jitchat.lab.experiment import Experiment
    from jitchat.lab.lab import Lab


HERE = replace(MODEL, is_here=True)


@dataclass
class LiveService:
    """Begins runs that a scripted model answers."""

    runs: Runs
    provider: ScriptedProvider = field(default_factory=ScriptedProvider)
    refusal: JitchatError | None = None
    who: Answerer = HERE
    begun: list[Experiment] = field(default_factory=list)

    def prepare(self, experiment: Experiment, judge: str = "") -> Experiment:
        if self.refusal is not None:
            raise self.refusal
        return experiment

    def answerer(self) -> Answerer:
        return self.who

    def begin(self, experiment: Experiment, parallel: int = 1, judge: str = "") -> Lab:
        self.begun.append(experiment)
        file = self.runs.create(run_of(experiment, model=self.provider.model))
        return lab_on(file, self.provider)


def live_app(backend: TestBackend, folder: Path, pace: float | None = None) -> LiveApp:
    """The app; its service is the backend's, and a run of the lab is made for each question."""
    backend.service = LiveService(Runs(folder / "rot"))  # type: ignore[assignment]
    backend.live_refusal = None
    return App(backend, backend.store.create("A talk"), pace)


class App(LiveApp):
    CSS_PATH = [ROOT / "jitchat" / "tui" / each for each in JitchatApp.CSS_PATH]  # noqa: RUF012


async def shown(pilot: Pilot[None]) -> LiveScreen:
    await until(pilot, lambda: isinstance(pilot.app.screen, LiveScreen), "the live demo")
    screen: Screen[bool] = pilot.app.screen
    assert isinstance(screen, LiveScreen)
    return screen


async def asked(pilot: Pilot[None], screen: LiveScreen) -> None:
    """Until no question is on its way."""
    await until(pilot, lambda: not screen.state.is_busy, "the verdicts")
    await pilot.pause()
