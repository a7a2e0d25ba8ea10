"""Accuracy against length on screen, and the table of what it took."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from textual.content import Content
from textual.reactive import reactive
from textual.widget import Widget

from jitchat.rot.tally import Tallies, Tally
from jitchat.tui.palette import MUTED
from jitchat.tui.rot.curve_drawing import LEAST, LETTERS, curve_rows
from jitchat.tui.rot.heat_layout import Grid
from jitchat.tui.rot.spent_rows import spent_rows
from jitchat.turn import Mode

_TITLE = "right answers by length   "
_STYLES = {
    "axis": MUTED,
    **{mode.value: f"$mode-{mode}" for mode in Mode},
    **{f"{mode}-mark": f"bold $mode-{mode}" for mode in Mode},
}


class CurvePlot(Widget):
    """A line a mode, with its intervals."""

    by_length: reactive[Mapping[tuple[Mode, int], Tally] | None] = reactive(None)

    def __init__(self, grid: Grid) -> None:
        super().__init__()
        self._grid = grid

    def render(self) -> Content:
        """As many rows as there are; a legend on top."""
        by_length, height = self.by_length, self.size.height
        if by_length is None or height <= LEAST:
            return Content()
        legend: list[tuple[str, str]] = []
        for mode in self._grid.modes:
            legend += [(LETTERS[mode], _STYLES[f"{mode}-mark"]), (f" {mode}   ", "")]
        room = self.size.width - sum(len(text) for text, _ in legend)
        legend.insert(0, (_TITLE if len(_TITLE) <= room else "", _STYLES["axis"]))
        rows = curve_rows(self._grid, by_length, self.size.width, height - 1)
        drawn = ([(text, _STYLES.get(name, "")) for text, name in row] for row in rows)
        return Content("\n").join(Content.assemble(*parts) for parts in (legend, *drawn))


class SpentTable(Widget):
    """A line a mode: its share, and medians of what its cells took."""

    tallies: reactive[Tallies | None] = reactive(None)

    def __init__(self, modes: Sequence[Mode]) -> None:
        super().__init__()
        self._modes = modes

    def render(self) -> Content:
        """Header and lines, as wide as there is room."""
        if self.tallies is None:
            return Content()
        width = self.size.width
        header, *rows = spent_rows(self.tallies, self._modes, width)
        return Content.assemble((header, MUTED), *(f"\n{row}" for row in rows))
