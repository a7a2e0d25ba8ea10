"""The curves of a run, drawn in dots of braille: two across and four down a cell.

Each mode has its letter, its own dashes and its own cell beside the others, so that the plot
reads without colour. A plotting library draws the intervals over each other, and its lines
without a letter at each measurement.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

from textual.content import Content
from textual.reactive import reactive
from textual.widget import Widget

from jitchat.lab.run_file import short
from jitchat.lab.stats import NOTHING, Spent, Tallies, Tally, cost, duration, percent, tokens
from jitchat.tui.figures import cut
from jitchat.tui.lab.heatmap import Grid
from jitchat.tui.palette import MUTED
from jitchat.values import Mode

_DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
"""By row and column within a cell."""
_BLANK = 0x2800


class Canvas:
    """What was drawn later is on top."""

    def __init__(self, width: int, height: int) -> None:
        self.width, self.height = width, height
        self._cells: dict[tuple[int, int], tuple[str, str]] = {}

    def put(self, x: int, y: int, text: str, name: str) -> None:
        """Write characters from a cell on; what is beside the sheet is left out."""
        for number, character in enumerate(text):
            if 0 <= x + number < self.width and 0 <= y < self.height:
                self._cells[x + number, y] = character, name

    def dot(self, x: int, y: int, name: str) -> None:
        """Set a dot, counted in dots; those that are in its cell stay."""
        at = x // 2, y // 4
        if not (0 <= at[0] < self.width and 0 <= at[1] < self.height):
            return
        before = ord(self._cells.get(at, (chr(_BLANK), ""))[0])
        lit = before if _BLANK <= before < _BLANK + 256 else _BLANK
        self._cells[at] = chr(lit | _DOTS[y % 4][x % 2]), name

    def line(
        self, start: tuple[int, int], end: tuple[int, int], name: str, dash: tuple[int, int]
    ) -> None:
        """Draw a line from dot to dot; `dash` dots are set and left out in turn."""
        lit, dark = dash
        steps = max(abs(end[0] - start[0]), abs(end[1] - start[1]), 1)
        for step in range(steps + 1):
            if step % (lit + dark) < lit:
                x = start[0] + round((end[0] - start[0]) * step / steps)
                y = start[1] + round((end[1] - start[1]) * step / steps)
                self.dot(x, y, name)

    def rows(self) -> Iterator[list[tuple[str, str]]]:
        """Give the rows from above, as characters of one name each."""
        for y in range(self.height):
            cells = [self._cells.get((x, y), (" ", "")) for x in range(self.width)]
            groups = groupby(cells, key=lambda cell: cell[1])
            yield [("".join(text for text, _ in group), name) for name, group in groups]


_COLUMNS = {
    "right": 6,
    "of": 7,
    "sent": 7,
    "tokens": 8,
    "first": 8,
    "time": 8,
    "cached": 8,
    "cost": 8,
}
"""With their cells; a longer figure makes its column wider."""
_SPARED = ("sent", "cached", "of", "first", "cost", "time")
"""What is left out where there is no room, the first of them first."""
_NAME = 9


def spent_rows(tallies: Tallies, modes: Sequence[Mode], width: int) -> list[str]:
    """Draw the names of the columns that have room, then a line a mode.

    Medians of the cells that were sent, and the cost of all of them.
    """
    figures = [_figures(tallies, mode) for mode in modes]
    columns = _columns(figures, width)
    names = ["", *(f"{LETTERS[mode]} {mode}" for mode in modes)]
    rows = [{name: name for name in _COLUMNS}, *figures]
    return [_line(name, figures, columns, width) for name, figures in zip(names, rows, strict=True)]


def _figures(tallies: Tallies, mode: Mode) -> dict[str, str]:
    tally, spent = tallies.by_mode.get(mode, Tally()), tallies.spent.get(mode, Spent())
    return {
        "right": percent(tally.share),
        "of": f"{tally.answered:,}",
        "sent": f"{spent.sent:,}",
        "tokens": tokens(spent.tokens),
        "first": duration(spent.to_first),
        "time": duration(spent.seconds),
        "cached": percent(spent.cached),
        "cost": cost(spent).removeprefix("cost ") or NOTHING,
    }


def _columns(rows: Sequence[Mapping[str, str]], width: int) -> dict[str, int]:
    """Choose the columns that have room, each with its cells."""
    kept = {
        name: max([wide, *(1 + len(figures[name]) for figures in rows)])
        for name, wide in _COLUMNS.items()
    }
    for spared in _SPARED:
        if _NAME + sum(kept.values()) > width:
            del kept[spared]
    return kept


def _line(name: str, figures: Mapping[str, str], columns: Mapping[str, int], width: int) -> str:
    told = "".join(f"{figures[column]:>{wide}}" for column, wide in columns.items())
    return cut(f"{name:<{_NAME}}{told}", width)


LETTERS = {Mode.FULL: "f", Mode.RECENCY: "r", Mode.JIT: "j"}
_BESIDE = {Mode.FULL: -1, Mode.RECENCY: 0, Mode.JIT: 1}
"""Cells from the middle of a length to where its mode is drawn."""
_DASHES = {Mode.FULL: (4, 0), Mode.RECENCY: (4, 4), Mode.JIT: (1, 1)}
MARGIN = 7
"""Cells of the labels, and of the axis behind them."""
FOOT = 3
"""Rows below: the axis, the lengths, and which mode does not fit there."""
LEAST = 5 + FOOT
"""Rows without which nothing can be told from the plot."""
_MANY = 9
"""Rows from which quarters are labelled, too."""

Measures = Mapping[tuple[Mode, int], Tally]


@dataclass(frozen=True, slots=True)
class Frame:
    """Where lengths and shares are on the sheet."""

    lengths: Sequence[int]
    width: int
    """Cells, with the labels."""
    rows: int
    """Of the plot, without what is below it."""

    def x(self, number: int) -> int:
        """Tell the cell in the middle of a length, counted from 0."""
        step = (self.width - MARGIN) / len(self.lengths)
        return MARGIN + int(step * (number + 0.5))

    def y(self, share: float) -> int:
        """Tell the row of a share."""
        return round((1 - share) * (self.rows - 1))

    def dot(self, number: int, share: float, mode: Mode) -> tuple[int, int]:
        """Tell the dot of a mode's measurement."""
        down = 4 * (1 - share) * (self.rows - 1) + 1.5
        return 2 * (self.x(number) + _BESIDE[mode]), round(down)


def curve_rows(
    grid: Grid, tallies: Measures, width: int, height: int
) -> list[list[tuple[str, str]]]:
    """Draw it as rows of characters with the name of what they show: a mode, `axis` or nothing."""
    canvas = Canvas(width, height)
    frame = Frame(grid.lengths, width, height - FOOT)
    _draw_axes(canvas, frame, tallies)
    for draw in (_draw_line, _draw_intervals, _draw_marks):
        for mode in grid.modes:
            draw(canvas, frame, mode, tallies)
    return list(canvas.rows())


def _shares(frame: Frame, mode: Mode, tallies: Measures) -> list[tuple[int, float]]:
    found = []
    for number, length in enumerate(frame.lengths):
        share = tallies.get((mode, length), Tally()).share
        if share is not None:
            found.append((number, share))
    return found


def _draw_line(canvas: Canvas, frame: Frame, mode: Mode, tallies: Measures) -> None:
    dots = [frame.dot(number, share, mode) for number, share in _shares(frame, mode, tallies)]
    for start, end in pairwise(dots):
        canvas.line(start, end, mode.value, _DASHES[mode])


def _draw_intervals(canvas: Canvas, frame: Frame, mode: Mode, tallies: Measures) -> None:
    for number, _ in _shares(frame, mode, tallies):
        between = tallies[mode, frame.lengths[number]].interval
        if between is None:
            continue
        x = frame.x(number) + _BESIDE[mode]
        top, bottom = frame.y(between[1]), frame.y(between[0])
        for y in range(top, bottom + 1) if bottom > top else ():
            sign = "│" if top < y < bottom else "╷" if y == top else "╵"
            canvas.put(x, y, sign, mode.value)


def _draw_marks(canvas: Canvas, frame: Frame, mode: Mode, tallies: Measures) -> None:
    for number, share in _shares(frame, mode, tallies):
        at = frame.x(number) + _BESIDE[mode], frame.y(share)
        canvas.put(*at, LETTERS[mode], f"{mode.value}-mark")


def _draw_axes(canvas: Canvas, frame: Frame, tallies: Measures) -> None:
    """Draw the frame of the plot, its labels, and which modes do not fit where."""
    ticks = (0, 25, 50, 75, 100) if frame.rows >= _MANY else (0, 50, 100)
    at = {frame.y(tick / 100): f"{tick} %" for tick in ticks}
    for y in range(frame.rows):
        label = at.get(y, "")
        sign = "┤" if label else "│"
        canvas.put(0, y, f"{label:>{MARGIN - 2}} {sign}", "axis")
    canvas.put(MARGIN - 1, frame.rows, "└" + "─" * (frame.width - MARGIN), "axis")
    for number, length in enumerate(frame.lengths):
        x, label = frame.x(number), short(length)
        canvas.put(x, frame.rows, "┴", "axis")
        canvas.put(x - len(label) // 2, frame.rows + 1, label, "axis")
        unfit = "".join(LETTERS[mode] for mode in Mode if _is_unfit(tallies.get((mode, length))))
        if unfit:
            canvas.put(0, frame.rows + 2, f"{'n/f':>{MARGIN - 2}}", "axis")
            canvas.put(x - len(unfit) // 2, frame.rows + 2, unfit, "axis")


def _is_unfit(tally: Tally | None) -> bool:
    return tally is not None and tally.share is None and bool(tally.unfit)


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
