"""The heatmaps of a text picture: a square is a shade and its number, so it reads without colour.

Maps stand side by side as far as the width goes; more of them, or more lengths than fit, go on
below.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from jitchat.rot import figures
from jitchat.rot.cells import Verdict
from jitchat.rot.colours import colour_of, ink_on
from jitchat.rot.experiment import Experiment
from jitchat.rot.export.ansi import on
from jitchat.rot.tally import Tallies, Tally
from jitchat.turn import Mode

_AXIS = 6
_SHADES = "░▒▓█"
_UNFIT, _FAILED = "╱", "×"
LEGEND = (
    "░ under 25 %  ▒ under 50 %  ▓ under 75 %  █ 75 % and more",
    f"{_UNFIT * 4} {Verdict.UNFIT.value}  {_FAILED} {Verdict.FAILED.value}  blank: no result yet",
)


@dataclass(frozen=True, slots=True)
class _Map:
    """The squares of a mode, or of some of its lengths."""

    mode: Mode
    lengths: Sequence[int]
    square: int
    """Columns."""
    gap: int
    """Columns behind each square."""

    @property
    def width(self) -> int:
        return len(self.lengths) * (self.square + self.gap)


def maps(asked: Experiment, tallies: Tallies, width: int, *, colour: bool) -> Iterator[str]:
    """Draw them, line by line, none of more than `width` columns."""
    for row in _rows(asked, width):
        yield " " * _AXIS + " ".join(_name(each, tallies) for each in row)
        yield f"{'k':>{_AXIS - 1}} " + " ".join(_lengths(each) for each in row)
        for depth in asked.depths:
            drawn = (_line(each, depth, tallies, colour=colour) for each in row)
            yield f"{figures.percent(depth):>{_AXIS - 1}} " + " ".join(drawn)
        yield ""


def _rows(asked: Experiment, width: int) -> Iterator[list[_Map]]:
    """Set maps side by side; with gaps if all of them fit with gaps, else without."""
    square = max(4, 1 + max(len(_thousands(length)) for length in asked.lengths))
    room, count = width - _AXIS + 1, len(asked.lengths)
    gap = 1 if (count * (square + 1) + 1) * len(asked.modes) <= room else 0
    most = max(1, (room - 1) // (square + gap))
    row: list[_Map] = []
    for mode in asked.modes:
        for start in range(0, count, most):
            made = _Map(mode, asked.lengths[start : start + most], square, gap)
            if row and sum(each.width + 1 for each in (*row, made)) > room:
                yield row
                row = []
            row.append(made)
    yield row


def _name(drawn: _Map, tallies: Tallies) -> str:
    tally = tallies.by_mode.get(drawn.mode, Tally())
    shares = (figures.total(tally), *([figures.percent(tally.share)] if tally.answered else []))
    forms = (f"{drawn.mode.value} {share}" for share in shares)
    told = next((each for each in forms if len(each) <= drawn.width), drawn.mode.value)
    return f"{told:<{drawn.width}}"


def _lengths(drawn: _Map) -> str:
    behind = " " * drawn.gap
    return "".join(f"{_thousands(each):>{drawn.square}}{behind}" for each in drawn.lengths)


def _thousands(length: int) -> str:
    return f"{length / 1000:g}"


def _line(drawn: _Map, depth: float, tallies: Tallies, *, colour: bool) -> str:
    squares = (tallies.squares.get((drawn.mode, length, depth)) for length in drawn.lengths)
    behind = " " * drawn.gap
    return "".join(_square(each, drawn.square, colour=colour) + behind for each in squares)


def _square(tally: Tally | None, width: int, *, colour: bool) -> str:
    if tally is None or not tally.cells:
        return " " * width
    if tally.share is None:
        return _UNFIT * width if tally.unfit else f"{_FAILED:>{width}}"
    number = figures.points(tally.share)
    if colour:
        ground = colour_of(tally.share)
        return on(ground, ink_on(ground), f"{number:>{width}}")
    shade = _SHADES[min(len(_SHADES) - 1, int(tally.share * len(_SHADES)))]
    return f"{shade}{number:>{width - 1}}"
