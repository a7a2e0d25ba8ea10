"""The lab itself on screen: real conversations, the reader's answers, the windows that it got."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jitchat.lab.experiment import Experiment, RunWanted, Verdict
from jitchat.lab.facts import Kind
from jitchat.lab.run_file import Runs
from jitchat.lab.stats import count_results
from jitchat.tui.lab.cells import SquarePane, WindowScreen
from jitchat.tui.widgets.inspector import Inspector
from jitchat.values import Mode
from tests.lab.support import lab_on
from tests.tui.lab.driving import LabApp, detail, opened, over, shown, text
from tests.tui.lab.support import ScriptedLabService
from tests.tui.support import TestBackend, until

if TYPE_CHECKING:
    from pathlib import Path

    from jitchat.lab.lab import Lab
    from jitchat.lab.run_file import RunFile

FEW = Experiment((10_000,), (0.0, 1.0), (Kind.DIRECT, Kind.ABSENT))


class RealLabService(ScriptedLabService):
    """Makes the lab itself."""

    def _lab(self, file: RunFile, parallel: int) -> Lab:  # type: ignore[override]
        return lab_on(file, parallel=parallel)


async def test_a_run_of_the_reader_is_asked_shown_and_looked_into(
    backend: TestBackend, tmp_path: Path
) -> None:
    backend.service = service = RealLabService(Runs(tmp_path / "rot"))
    async with LabApp(backend, RunWanted(FEW)).run_test(size=(104, 32)) as pilot:
        await opened(pilot)
        await pilot.press("enter")
        run = await shown(pilot)
        await over(pilot, run)
        assert "12 of 12 cells · done in" in text(pilot)
        assert run.state.why == ""
        verdicts = {
            (each.cell.mode, each.cell.depth): each.verdict
            for each in run.state.results.values()
            if each.cell.kind is Kind.DIRECT
        }
        assert verdicts[Mode.RECENCY, 0.0] is Verdict.WRONG
        assert verdicts[Mode.JIT, 0.0] is Verdict.RIGHT
        await pilot.press("m")
        assert "had 0 of 1 needed turn (#1): the answer was not available" in detail(run)
        await pilot.press("m")
        result = run.query_one(SquarePane).result
        assert result is not None
        assert " ".join(result.answer.split()) in detail(run)
        await pilot.press("enter", "enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, WindowScreen), "the window")
        inspector = pilot.app.screen.query_one(Inspector)
        await until(pilot, lambda: inspector._window is not None, "its segments")
        window = inspector._window
        assert window is not None
        assert window.mode is Mode.JIT
        assert inspector.chosen == result.needed[0]
        assert result.question in window.segments[-1].text
    file = service.runs.open("last")
    assert count_results(file.results()) == run.state.tallies
    assert file.run.ended_at is not None
    file.close()
