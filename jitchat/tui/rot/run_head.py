"""What stands above a run: who answered what, how far it is, and what the lab waits for."""

from __future__ import annotations

from textual.content import Content
from textual.widgets import Static

from jitchat.rot.run import Run
from jitchat.text.safe import one_line
from jitchat.tui.palette import MUTED
from jitchat.tui.rot.progress import Progress
from jitchat.tui.rot.shown_run import ShownRun, kinds_told

_STOPPING = "stopping; what came is kept"
_BAR = 28
"""Cells of the bar, where the line is long enough."""


class RunHead(Static):
    """Two lines."""

    def __init__(self) -> None:
        super().__init__(id="run-head")

    def show(self, shown: ShownRun, progress: Progress, *, is_stopping: bool) -> None:
        """Tell of a moment of a run."""
        bar = min(_BAR, max(8, self.size.width // 7))
        done, left = progress.bar(bar)
        does = _STOPPING if is_stopping else one_line(shown.notice)
        notice = f" · {does}" if does else ""
        at_once = f" · {shown.parallel} at once" if shown.parallel and progress.is_running else ""
        room = self.size.width - 2 - bar - 2 - len(notice)
        cost = f" · {shown.cost}" if shown.cost else ""
        counts = f"{progress.count}{cost}"
        told = f"{progress.sentence}{cost}"
        forms = (f"{told}{at_once}", told, counts, progress.count)
        line = Content.assemble(
            (done, "$primary"),
            (left, MUTED),
            f"  {next((each for each in forms if len(each) <= room), forms[-1])}",
            (notice, "$text-warning"),
        )
        self.update(Content("\n").join([run_line(shown), line]), layout=False)


def run_line(shown: ShownRun) -> Content:
    """Write who answered, within which limit, and which kinds are counted."""
    run = shown.run
    kinds = kinds_told(shown.kinds, run.experiment.kinds)
    return Content.assemble(
        (one_line(run.model), "bold"),
        " · counted: ",
        (kinds, "bold"),
        f" · {one_line(rest_of(run))}",
    )


def rest_of(run: Run) -> str:
    """Write `standard · limit 32,768, reserve 2,048 · builtin-256 · seed 1`."""
    name = "own grid" if run.experiment.preset == "own" else run.experiment.preset
    judged = f" · judged by {run.judge}" if run.judge else ""
    return (
        f"{name} · limit {run.limit:,}, reserve {run.reserve:,} · {run.embedder}"
        f" · seed {run.experiment.seed}{judged}"
    )
