"""The runs that are kept: to open, to go on with, to compare, to forget."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from textual import on
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import OptionList, Static

from jitchat.rot.run import Run
from jitchat.rot.tally import Tally
from jitchat.tui.cells import BESIDE
from jitchat.tui.rot.runs_rows import run_line, runs_header
from jitchat.tui.widgets.row_list import RowList
from jitchat.turn import Mode

_NONE = "No run is kept yet. What you run is listed here: to look at, to go on with, to compare."
_MOST = 2
"""Runs that can be compared."""
Kept = Sequence[tuple[Run, int]]
"""Runs, and how many cells of each are decided."""


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
        """Go to the line above, or out of the list."""
        if self.highlighted:
            super().action_cursor_up()
        else:
            self.screen.focus_previous()


class RunsList(Vertical):
    """All runs, the latest first."""

    @dataclass
    class Opened(Message):
        """A run is to be looked at."""

        run: Run

    def __init__(self) -> None:
        super().__init__(id="runs-pane")
        self._header, self._none = Static(id="runs-header"), Static(Content(_NONE), id="runs-none")
        self._list = RunRows("runs")
        self._kept: Kept = ()
        self.is_known = False
        """Whether it was looked up which runs there are."""
        self._shares: dict[str, Mapping[Mode, Tally]] = {}
        """By a run's id, since they were listed last: of a cell that is asked again the result
        is another, and a run may have the id of one that was deleted."""
        self.marked: list[str] = []
        """The ids of runs that are to be compared."""

    def compose(self) -> Iterable[Widget]:
        """The columns and the lines, or that there are none."""
        yield self._header
        yield self._list
        yield self._none

    def on_mount(self) -> None:
        """Nothing is known yet."""
        self._none.display = False

    def show(self, kept: Kept) -> None:
        """List these; what came of them is to be summed up again."""
        self._kept, self.is_known = kept, True
        self._shares.clear()
        ids = {run.id for run, _ in kept}
        self.marked = [each for each in self.marked if each in ids]
        self._header.display = self._list.display = bool(kept)
        self._none.display = not kept
        self._draw()

    def on_resize(self) -> None:
        """Titles are cut where the figures begin."""
        self._draw()

    @property
    def unsummed(self) -> list[Run]:
        """List those whose shares are not known yet."""
        return [run for run, _ in self._kept if run.id not in self._shares]

    def sum_up(self, run: str, shares: Mapping[Mode, Tally]) -> None:
        """Take the shares of one of them."""
        self._shares[run] = shares
        self._draw()

    @property
    def chosen(self) -> Run | None:
        """The run under the cursor; None without any."""
        place = self._list.highlighted
        return self._kept[place][0] if place is not None and place < len(self._kept) else None

    def left_of(self, run: Run) -> int:
        """Count the cells of a run that have no answer, as far as that is known."""
        done = {each.id: number for each, number in self._kept}.get(run.id, 0)
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
        """Mark none."""
        self.marked = []
        self._draw()

    @on(OptionList.OptionSelected)
    def _selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        if self.chosen is not None:
            self.post_message(self.Opened(self.chosen))

    def _draw(self) -> None:
        width = max(40, self.size.width - BESIDE - 1)
        self._header.update(Content(f" {runs_header(width, is_marked=bool(self.marked))}"))
        lines = [
            run_line(
                run,
                done,
                self._shares.get(run.id),
                width,
                is_marked=run.id in self.marked,
            )
            for run, done in self._kept
        ]
        self._list.draw(lines, None)
        if lines and self._list.highlighted is None:
            self._list.highlighted = 0
