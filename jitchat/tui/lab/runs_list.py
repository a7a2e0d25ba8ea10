"""The saved runs, as lines: which, how far, and the share of right answers by mode."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import OptionList, Static

from jitchat.lab.run_file import Run
from jitchat.lab.stats import Tally, percent, total
from jitchat.text.sanitize import one_line
from jitchat.tui.figures import BESIDE, cut
from jitchat.tui.widgets.row_list import RowList
from jitchat.values import Mode

_PRESET, _CELLS = 11, 11
_SHARE, _TOTAL = 7, 16
"""Cells of a mode's figure behind the title, without its count and with it; a longer name of a
mode makes them more."""
_ROOMY = 120
"""Cells from which a share is shown with its count: `recency` may be asked more than `full`."""
_NARROW = 90
"""Cells below which the preset is left out: the title has its lengths."""
_TITLE = 58
"""Cells of a title, at the most: behind a longer gap, figures are hard to follow."""
_COMPARES = "C on another compares the two"
_MOST = 2
"""Runs that can be compared."""
_NONE = "None yet. What you run is listed here: open it, resume it, or compare two."
MARK = "●"
"""Ahead of a run that is to be compared."""


def runs_header(width: int, *, is_marked: bool = False) -> str:
    title = _COMPARES if is_marked else "run"
    return "".join(_columns(("", title, "preset", "cells", *Mode), width))


def run_line(
    run: Run, done: int, shares: Mapping[Mode, Tally] | None, width: int, *, is_marked: bool
) -> Content:
    """Write `● qwen3-8b, 2k to 32k, Tue 24 Nov 15:40  quick  210/420   91 %  34 %  97 %`.

    Where there is room, `91 % of 70`. Shares are None while they are looked up.
    """
    size = run.experiment.size
    cells = f"{size:,}" if done >= size else f"{done:,}/{size:,}"
    figures = []
    for mode in Mode:
        tally = (shares or {}).get(mode)
        if tally is not None:
            figures.append(total(tally) if width >= _ROOMY else percent(tally.share))
        else:
            figures.append("…" if shares is None and mode in run.experiment.modes else "")
    mark, preset = MARK if is_marked else "", run.experiment.preset
    title, behind = _columns((mark, one_line(run.title), preset, cells, *figures), width)
    return Content.assemble((title, "bold" if is_marked else ""), behind)


def _columns(row: Sequence[str], width: int) -> tuple[str, str]:
    mark, title, preset, cells, *shares = row
    least = _TOTAL if width >= _ROOMY else _SHARE
    wides = (max(least, len(mode) + 2) for mode in Mode)
    behind = f"  {cut(preset, _PRESET - 2):<{_PRESET - 2}}" if width >= _NARROW else ""
    behind += f"{cells:>{_CELLS}}"
    behind += "".join(f"{share:>{wide}}" for share, wide in zip(shares, wides, strict=True))
    room = max(10, min(_TITLE, width - len(behind) - 2))
    return f"{mark:<2}{cut(title, room):<{room}}", behind


class RunRows(RowList):
    """The list; above its first line are the presets."""

    BINDINGS = [  # noqa: RUF012  Textual's own shape
        Binding("enter", "select", "Open", id="rot_open"),
        Binding("r", "screen.go_on", "Resume", id="rot_resume"),
        Binding("c", "screen.compare", "Compare", id="rot_compare"),
        Binding("tab", "app.focus_next", "What to run", id="rot_to_presets"),
        Binding("delete,backspace", "screen.forget", "Delete", id="rot_forget"),
    ]

    def action_cursor_up(self) -> None:
        if self.highlighted:
            super().action_cursor_up()
        else:
            self.screen.focus_previous()


class RunsList(Vertical):
    @dataclass
    class Opened(Message):
        run: Run

    def __init__(self) -> None:
        super().__init__(id="runs-pane")
        self._header, self._none = Static(id="runs-header"), Static(Content(_NONE), id="runs-none")
        self._list = RunRows("runs")
        self._none.display = False
        self._runs: Sequence[tuple[Run, int]] = ()
        """With how many cells of each are decided."""
        self._shares: dict[str, Mapping[Mode, Tally]] = {}
        """By a run's id, since the runs were listed last: of a cell that is asked again the
        result is another, and a run may have the id of one that was deleted."""
        self.marked: list[str] = []
        """The ids of runs that are to be compared."""

    def compose(self) -> ComposeResult:
        yield self._header
        yield self._list
        yield self._none

    def on_resize(self) -> None:
        self._draw()

    def show(self, runs: Sequence[tuple[Run, int]]) -> None:
        self._runs = runs
        self._shares.clear()
        ids = {run.id for run, _ in runs}
        self.marked = [run for run in self.marked if run in ids]
        self._header.display = self._list.display = bool(runs)
        self._none.display = not runs
        self._draw()

    def sum_up(self, run: str, shares: Mapping[Mode, Tally]) -> None:
        self._shares[run] = shares
        self._draw()

    @property
    def chosen(self) -> Run | None:
        row = self._list.highlighted
        return self._runs[row][0] if row is not None and row < len(self._runs) else None

    def left_of(self, run: Run) -> int:
        """Count the cells of a run that have no answer, as far as that is known."""
        done = {listed.id: number for listed, number in self._runs}.get(run.id, 0)
        failed = sum(tally.failed for tally in self._shares.get(run.id, {}).values())
        return run.experiment.size - done + failed

    def mark(self) -> None:
        """Mark the run under the cursor, or take that back; of three, the first one goes."""
        if self.chosen is None:
            return
        if self.chosen.id in self.marked:
            self.marked.remove(self.chosen.id)
        else:
            self.marked = [*self.marked, self.chosen.id][-_MOST:]
        self._draw()

    def unmark(self) -> None:
        self.marked = []
        self._draw()

    @on(OptionList.OptionSelected)
    def _selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        if self.chosen is not None:
            self.post_message(self.Opened(self.chosen))

    def _draw(self) -> None:
        width = max(40, self.size.width - BESIDE - 1)
        self._header.update(Content(runs_header(width, is_marked=bool(self.marked))))
        lines = []
        for run, done in self._runs:
            shares, is_marked = self._shares.get(run.id), run.id in self.marked
            lines.append(run_line(run, done, shares, width, is_marked=is_marked))
        self._list.draw(lines, None)
        if lines and self._list.highlighted is None:
            self._list.highlighted = 0
