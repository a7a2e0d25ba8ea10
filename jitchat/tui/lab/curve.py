"""The curves of a run, drawn with braille characters of two by four dots.

Each mode has its letter, its own dashes and its own horizontal offset, so that the plot is readable
without colour. Plotting libraries draw the intervals over each other and cannot put a letter at
each measurement.
"""

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

from textual.reactive import reactive
from textual.widget import Widget

from jitchat.lab import note, stats
from jitchat.lab.change import ModeDifference, change_text, mode_differences
from jitchat.lab.colours import ink_on
from jitchat.lab.evidence import COLOURS, SIGNS, Evidence, Outcome, evidence_by_mode
from jitchat.lab.experiment import Experiment
from jitchat.lab.stats import Tallies, count_results
from jitchat.tui.drawing import MUTED, Content
from jitchat.tui.figures import cut
from jitchat.values import USUAL_MODES, Mode

Part = tuple[str, str]
"""A text and its style."""
_COUNT_WIDTH = 14
"""Columns of a count with its share, if there is room."""


def evidence_rows(
    outcomes: Mapping[Mode, Evidence], width: int, height: int
) -> Iterator[list[Part]]:
    """Draw two header lines, then each mode's counts, with a bar below them if there is room."""
    named = 3 + max(map(len, (*USUAL_MODES, *outcomes)))  # with the letter of the mode
    bar = width - named if height >= 2 + 2 * len(outcomes) else 0
    column = min(_COUNT_WIDTH, (width - named) // len(Outcome))
    heads = "".join(f"{name:<{2 * column}}" for name in ("in the window", "not in the window"))
    yield [(f"{'evidence':<{named}}{heads}", MUTED)]
    names: list[Part] = [(" " * named, "")]
    for outcome in Outcome:
        right = outcome.rpartition(", ")[2]
        names += [_ground(outcome, 1), (f" {right:<{column - 2}}", MUTED)]
    yield names
    for mode, found in outcomes.items():
        figures = "".join(f"{_figure(found, outcome, column):<{column}}" for outcome in Outcome)
        yield [(f"{LETTERS[mode]} {mode}".ljust(named) + figures, "")]
        if bar:
            yield [(" " * named, ""), *(_ground(each, cells) for each, cells in found.bar(bar))]


def _figure(found: Evidence, outcome: Outcome, column: int) -> str:
    return found.text(outcome) if column == _COUNT_WIDTH else f"{found.counts[outcome]:,}"


def _ground(outcome: Outcome, cells: int) -> Part:
    """Draw a bar in the colour of an outcome, beginning with its sign."""
    colour = COLOURS[outcome]
    return SIGNS[outcome].ljust(cells)[:cells], f"{ink_on(colour)} on {colour}"


class Tallied(Widget):
    """The base of what is drawn from a run's tallies."""

    tallies: reactive[Tallies] = reactive(count_results(()))


class EvidenceTable(Tallied):
    def render(self) -> Content:
        width, height = self.size
        rows = list(evidence_rows(evidence_by_mode(self.tallies), width, height))
        lines = [Content.assemble(*row) for row in rows]
        about = textwrap.wrap(note("evidence"), max(20, width))
        if len(rows) + 1 + len(about) <= height:
            lines += [Content(), *(Content.styled(line, MUTED) for line in about)]
        return Content("\n").join(lines)


def difference_line(each: ModeDifference, width: int) -> str:
    """Write `jit − full: +34 (+21 to +46) points, of 105 cells, 35 left out`."""
    text = f"{each.name + ':':<16}{change_text(each.whole)}"
    of = f" points, of {each.whole.after.answered:,} cells"
    left_out = f", {each.left_out:,} left out" if each.left_out else ""
    forms = (f"{text}{of}{left_out}", f"{text}{of}")
    return next((form for form in forms if len(form) <= width), cut(text, width))


class DifferenceLines(Tallied):
    def render(self) -> Content:
        width = self.size.width
        return Content(
            "\n".join(difference_line(each, width) for each in mode_differences(self.tallies))
        )


_DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
"""By row and column within a character."""
_BLANK = 0x2800


class Canvas:
    """Later entries are drawn on top."""

    def __init__(self, width: int, height: int) -> None:
        self.width, self.height = width, height
        self._cells: dict[tuple[int, int], tuple[str, str]] = {}

    def put(self, x: int, y: int, text: str, name: str) -> None:
        for column, character in enumerate(text, start=x):
            if 0 <= column < self.width and 0 <= y < self.height:
                self._cells[column, y] = character, name

    def line(
        self, start: tuple[int, int], end: tuple[int, int], name: str, dash: tuple[int, int]
    ) -> None:
        """Draw a line between two dots, alternately `dash` dots set and unset."""
        lit, dark = dash
        steps = max(abs(end[0] - start[0]), abs(end[1] - start[1]), 1)
        for step in range(steps + 1):
            if step % (lit + dark) < lit:
                x = start[0] + round((end[0] - start[0]) * step / steps)
                y = start[1] + round((end[1] - start[1]) * step / steps)
                self._dot(x, y, name)

    def _dot(self, x: int, y: int, name: str) -> None:
        at = x // 2, y // 4
        before = ord(self._cells.get(at, (chr(_BLANK), ""))[0])
        lit = before if _BLANK <= before < _BLANK + 256 else _BLANK
        self.put(*at, chr(lit | _DOTS[y % 4][x % 2]), name)

    def rows(self) -> Iterator[list[tuple[str, str]]]:
        for y in range(self.height):
            cells = [self._cells.get((x, y), (" ", "")) for x in range(self.width)]
            groups = groupby(cells, key=lambda cell: cell[1])
            yield [("".join(text for text, _ in group), name) for name, group in groups]


_FIGURES = ("right", "95 %", "of", "sent", "tokens", "first", "time", "cached", "cost")
_COLUMNS = dict.fromkeys(_FIGURES, 8)
_COLUMNS |= {"right": 6, "95 %": 7, "of": 7, "sent": 7}
"""Column names with their widths; a longer figure widens its column."""
_SPARED = ("sent", "cached", "of", "95 %", "first", "cost", "time")
"""Columns omitted if there is no room, in this order."""


def spent_rows(tallies: stats.Tallies, modes: Sequence[Mode], width: int) -> list[str]:
    """Draw the names of the columns that fit, then one line per mode.

    Figures are medians over the cells that were sent; the cost is their total.
    """
    figures = [_figures(tallies, mode) for mode in modes]
    named = 2 + max(map(len, (*USUAL_MODES, *modes)))  # with the letter of the mode
    columns = {
        name: max([wide, *(1 + len(row[name]) for row in figures)])
        for name, wide in _COLUMNS.items()
    }
    for spared in _SPARED:
        if named + sum(columns.values()) > width:
            del columns[spared]
    names = ["", *(f"{LETTERS[mode]} {mode}" for mode in modes)]
    lines = []
    for name, row in zip(names, [{name: name for name in columns}, *figures], strict=True):
        cells = "".join(f"{row[column]:>{wide}}" for column, wide in columns.items())
        lines.append(cut(f"{name:<{named}}{cells}", width))
    return lines


def _figures(tallies: stats.Tallies, mode: Mode) -> dict[str, str]:
    tally, spent = tallies.by_mode.get(mode, stats.Tally()), tallies.spent.get(mode, stats.Spent())
    *sent, cost = stats.spent_texts(spent)
    shares = (
        stats.percent(tally.share),
        stats.interval(tally) or stats.NOTHING,
        f"{tally.answered:,}",
    )
    return dict(zip(_FIGURES, (*shares, *sent, cost.removeprefix("cost ")), strict=True))


LETTERS = {mode: mode.value[0] for mode in Mode}
_BESIDE = {mode: number - 1 for number, mode in enumerate(Mode)}
"""Columns from a value's centre to where its mode is drawn."""
_DASHES = dict(zip(Mode, ((4, 0), (4, 4), (1, 1), (6, 2), (2, 2), (1, 3), (8, 4)), strict=False))
MARGIN = 7
"""Columns of the labels and the axis after them."""
FOOT = 3
"""Rows below the plot: the axis, its values, and the modes that do not fit."""
LEAST = 5 + FOOT
"""Rows up to which there is no readable plot, so that none is drawn."""
_MANY = 9
"""Rows from which quarters are labelled as well."""

Measures = Mapping[tuple[Mode, float], stats.Tally]


@dataclass(frozen=True, slots=True)
class Scale:
    values: Sequence[float]
    width: int
    """Columns, including the labels."""
    rows: int
    """Rows of the plot itself."""

    def x(self, number: int) -> int:
        step = (self.width - MARGIN) / len(self.values)
        return MARGIN + int(step * (number + 0.5))

    def y(self, share: float) -> int:
        return round((1 - share) * (self.rows - 1))

    def dot(self, x: int, share: float) -> tuple[int, int]:
        return 2 * x, round(4 * (1 - share) * (self.rows - 1) + 1.5)


def curve_rows(
    asked: Experiment, tallies: Measures, width: int, height: int, axis: stats.Axis = stats.LENGTH
) -> list[list[tuple[str, str]]]:
    """Draw rows of texts, each with what it shows: a mode, `axis` or nothing.

    Intervals are drawn over lines, and letters over intervals.
    """
    canvas, scale = Canvas(width, height), Scale(axis.values(asked), width, height - FOOT)
    _draw_axes(canvas, scale, tallies, axis)
    measures = {mode: list(_measures(scale, mode, tallies)) for mode in asked.modes}
    for mode, points in measures.items():
        dots = [scale.dot(x, share) for x, share, _ in points]
        for start, end in pairwise(dots):
            canvas.line(start, end, mode.value, _DASHES[mode])
    for mode, points in measures.items():
        for x, _, ends in points:
            bottom, top = map(scale.y, ends)
            for y in range(top, bottom + 1) if bottom > top else ():
                sign = "│" if top < y < bottom else "╷" if y == top else "╵"
                canvas.put(x, y, sign, mode.value)
    for mode, points in measures.items():
        for x, share, _ in points:
            canvas.put(x, scale.y(share), LETTERS[mode], f"{mode.value}-mark")
    return list(canvas.rows())


def _measures(
    scale: Scale, mode: Mode, tallies: Measures
) -> Iterator[tuple[int, float, tuple[float, float]]]:
    for number, value in enumerate(scale.values):
        tally = tallies.get((mode, value), stats.Tally())
        if tally.share is not None and tally.interval is not None:
            yield scale.x(number) + _BESIDE[mode], tally.share, tally.interval


def _draw_axes(canvas: Canvas, scale: Scale, tallies: Measures, axis: stats.Axis) -> None:
    ticks = (0, 25, 50, 75, 100) if scale.rows >= _MANY else (0, 50, 100)
    labels = {scale.y(tick / 100): f"{tick} %" for tick in ticks}
    for y in range(scale.rows):
        label = labels.get(y, "")
        sign = "┤" if label else "│"
        canvas.put(0, y, f"{label:>{MARGIN - 2}} {sign}", "axis")
    canvas.put(MARGIN - 1, scale.rows, "└" + "─" * (scale.width - MARGIN), "axis")
    for number, value in enumerate(scale.values):
        x, label = scale.x(number), axis.write(value)
        canvas.put(x, scale.rows, "┴", "axis")
        canvas.put(x - len(label) // 2, scale.rows + 1, label, "axis")
        at = {mode: tallies.get((mode, value), stats.Tally()) for mode in Mode}
        modes = (mode for mode, tally in at.items() if tally.share is None and tally.unfit)
        if unfit := "".join(LETTERS[mode] for mode in modes):
            canvas.put(0, scale.rows + 2, f"{'n/f':>{MARGIN - 2}}", "axis")
            canvas.put(x - len(unfit) // 2, scale.rows + 2, unfit, "axis")


_STYLES = {
    "axis": MUTED,
    **{mode.value: f"$mode-{mode}" for mode in Mode},
    **{f"{mode}-mark": f"bold $mode-{mode}" for mode in Mode},
}


class CurvePlot(Tallied):
    axis: reactive[stats.Axis] = reactive(stats.LENGTH)

    def __init__(self, asked: Experiment) -> None:
        super().__init__()
        self._asked = asked

    def render(self) -> Content:
        tallies, axis, height = self.tallies, self.axis, self.size.height
        if height <= LEAST:
            return Content()
        title = f"right answers by {axis.name}   "
        legend: list[tuple[str, str]] = []
        for mode in self._asked.modes:
            legend += [(LETTERS[mode], _STYLES[f"{mode}-mark"]), (f" {mode}   ", "")]
        room = self.size.width - sum(len(text) for text, _ in legend)
        legend.insert(0, (title if len(title) <= room else "", _STYLES["axis"]))
        shares = tallies.along[axis.name]
        rows = curve_rows(self._asked, shares, self.size.width, height - 1, axis)
        drawn = ([(text, _STYLES.get(name, "")) for text, name in row] for row in rows)
        return Content("\n").join(Content.assemble(*parts) for parts in (legend, *drawn))


class SpentTable(Tallied):
    def __init__(self, modes: Sequence[Mode]) -> None:
        super().__init__()
        self._modes = modes

    def render(self) -> Content:
        header, *rows = spent_rows(self.tallies, self._modes, self.size.width)
        return Content.assemble((header, MUTED), *(f"\n{row}" for row in rows))
