"""The cells of a square, and all that is known of the one under the cursor."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from textual import events, on
from textual.binding import Binding
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import OptionList, Static

from jitchat.rot.cells import Cell, Result
from jitchat.rot.tally import Place
from jitchat.tui.cells import BESIDE
from jitchat.tui.rot.cell_rows import cell_line, cells_of, detail, square_line
from jitchat.tui.rot.heat_drawing import NOTHING
from jitchat.tui.rot.shown_run import ShownRun
from jitchat.tui.widgets.row_list import RowList

_NOT_YET = "Nothing is known of this cell yet."


class SquareCells(RowList):
    """The list."""

    BINDINGS = [  # noqa: RUF012  Textual's own shape
        Binding("enter", "select", "Window", id="rot_window"),
        Binding("tab", "app.focus_next", "Maps", id="rot_to_maps"),
    ]

    def on_click(self, event: events.Click) -> None:
        """Choose a cell; a click on the chosen one opens it."""
        clicked = event.style.meta.get("option")
        if clicked is not None and clicked != self.highlighted:
            event.prevent_default()
            self.highlighted = clicked


class SquarePane(Vertical):
    """Follows the cursor of the heatmaps, and what comes of its cells."""

    @dataclass
    class Opened(Message):
        """The window of a cell is wanted."""

        result: Result

    def __init__(self) -> None:
        super().__init__(id="square")
        self._told = Static(id="square-told")
        self._list = SquareCells("square-cells")
        self._detail = Static(id="cell-detail")
        self._scroll = VerticalScroll(can_focus=False)
        self._shown: ShownRun | None = None
        self._place: Place | None = None
        self._drawn: Content | None = None

    def compose(self) -> Iterable[Widget]:
        """A line on the square, its cells, and the one under the cursor."""
        yield self._told
        yield self._list
        with self._scroll:
            yield self._detail

    def look_at(self, shown: ShownRun, place: Place) -> None:
        """Show a square of a run; the cursor stays on the same kind."""
        self._shown, self._place = shown, place
        tally = shown.tallies.squares.get(place, NOTHING)
        self._told.update(Content(square_line(place, tally)), layout=False)
        self._list.draw(self._lines(shown, place), None)
        if self._list.highlighted is None:
            self._list.highlighted = 0
        self._tell()

    def on_resize(self) -> None:
        """Lines are cut where the list ends."""
        if self._shown is not None and self._place is not None:
            self.look_at(self._shown, self._place)

    @property
    def cells(self) -> list[Cell]:
        """The cells that are listed."""
        if self._shown is None or self._place is None:
            return []
        return cells_of(self._shown.run.experiment, self._place)

    @property
    def result(self) -> Result | None:
        """What came of the cell under the cursor; None where nothing did yet."""
        place, cells = self._list.highlighted, self.cells
        if self._shown is None or place is None or place >= len(cells):
            return None
        return self._shown.results.get(cells[place])

    def focus_list(self) -> None:
        """Have the arrows move among the cells."""
        self._list.focus()

    @on(OptionList.OptionHighlighted)
    def _highlighted(self, event: OptionList.OptionHighlighted) -> None:
        event.stop()
        self._tell()

    @on(OptionList.OptionSelected)
    def _selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        if self.result is not None:
            self.post_message(self.Opened(self.result))

    def _lines(self, shown: ShownRun, place: Place) -> list[Content]:
        width = max(20, self._list.size.width - BESIDE)
        repeats = shown.run.experiment.repeats
        return [
            cell_line(
                cell,
                shown.results.get(cell),
                width,
                repeats=repeats,
                is_asked=cell in shown.asked,
            )
            for cell in cells_of(shown.run.experiment, place)
        ]

    def _tell(self) -> None:
        width = self._scroll.size.width - 2
        result = self.result
        told = detail(result, width) if result is not None else Content(_NOT_YET)
        if self._drawn is None or not told.is_same(self._drawn):
            self._drawn = told
            self._detail.update(told)
