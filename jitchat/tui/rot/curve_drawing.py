"""Accuracy against length in characters: a line and intervals a mode. Pure.

Each mode has its letter, its own dashes and its own cell beside the others, so that the plot
reads without colour. A plotting library draws the intervals over each other, and its lines
without a letter at each measurement.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from jitchat.rot.run import short
from jitchat.rot.tally import Tally
from jitchat.tui.rot.canvas import Canvas
from jitchat.tui.rot.heat_layout import Grid
from jitchat.turn import Mode

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

Tallies = Mapping[tuple[Mode, int], Tally]


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
    grid: Grid, tallies: Tallies, width: int, height: int
) -> list[list[tuple[str, str]]]:
    """Draw it as rows of characters with the name of what they show: a mode, `axis` or nothing."""
    canvas = Canvas(width, height)
    frame = Frame(grid.lengths, width, height - FOOT)
    _draw_axes(canvas, frame, tallies)
    for draw in (_draw_line, _draw_intervals, _draw_marks):
        for mode in grid.modes:
            draw(canvas, frame, mode, tallies)
    return list(canvas.rows())


def _shares(frame: Frame, mode: Mode, tallies: Tallies) -> list[tuple[int, float]]:
    found = []
    for number, length in enumerate(frame.lengths):
        share = tallies.get((mode, length), Tally()).share
        if share is not None:
            found.append((number, share))
    return found


def _draw_line(canvas: Canvas, frame: Frame, mode: Mode, tallies: Tallies) -> None:
    dots = [frame.dot(number, share, mode) for number, share in _shares(frame, mode, tallies)]
    for start, end in pairwise(dots):
        canvas.line(start, end, mode.value, _DASHES[mode])


def _draw_intervals(canvas: Canvas, frame: Frame, mode: Mode, tallies: Tallies) -> None:
    for number, _ in _shares(frame, mode, tallies):
        between = tallies[mode, frame.lengths[number]].interval
        if between is None:
            continue
        x = frame.x(number) + _BESIDE[mode]
        top, bottom = frame.y(between[1]), frame.y(between[0])
        for y in range(top, bottom + 1) if bottom > top else ():
            sign = "│" if top < y < bottom else "╷" if y == top else "╵"
            canvas.put(x, y, sign, mode.value)


def _draw_marks(canvas: Canvas, frame: Frame, mode: Mode, tallies: Tallies) -> None:
    for number, share in _shares(frame, mode, tallies):
        at = frame.x(number) + _BESIDE[mode], frame.y(share)
        canvas.put(*at, LETTERS[mode], f"{mode.value}-mark")


def _draw_axes(canvas: Canvas, frame: Frame, tallies: Tallies) -> None:
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
