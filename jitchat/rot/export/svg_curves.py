"""The curves of an SVG picture: right answers against length, a line a mode, each in its band."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import log

from jitchat.rot import figures
from jitchat.rot.colours import MODE_COLOURS
from jitchat.rot.experiment import Experiment
from jitchat.rot.export.svg import FAINT, RULE, Part, tag, words
from jitchat.rot.export.svg_marks import line, mark
from jitchat.rot.run import short
from jitchat.rot.tally import Tallies
from jitchat.turn import Mode

_LEFT, _TOP, _HIGH, _MARGIN = 44, 8, 232, 26
_QUARTERS = (0.0, 0.25, 0.5, 0.75, 1.0)
_LABEL = 34
"""Least room between two lengths that are both named."""


@dataclass(frozen=True, slots=True)
class _Point:
    """A length at which a mode has an answer."""

    at: int
    """Which length it is, from 0."""
    x: float
    share: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class _Plot:
    """Where lengths and shares are."""

    lengths: Sequence[int]
    width: float

    def x(self, length: int) -> float:
        """Place a length: each doubling takes the same room."""
        first, last = log(self.lengths[0]), log(self.lengths[-1])
        part = (log(length) - first) / (last - first) if last > first else 0.5
        room = self.width - _LEFT - 2 * _MARGIN
        return _LEFT + _MARGIN + part * room


def curves(asked: Experiment, tallies: Tallies, width: float) -> Part:
    """Draw the lines of every mode, the bands beneath all of them."""
    plot = _Plot(asked.lengths, width)
    lines = {mode: list(_stretches(mode, plot, tallies)) for mode in asked.modes}
    drawn = [*_axes(plot)]
    drawn += [_band(mode, part) for mode, parts in lines.items() for part in parts]
    drawn += [line(mode, _path(part)) for mode, parts in lines.items() for part in parts]
    for mode, parts in lines.items():
        drawn += [mark(mode, point.x, _y(point.share)) for part in parts for point in part]
    return Part(_TOP + _HIGH + 40, "\n".join(drawn))


def _y(share: float) -> float:
    return _TOP + (1 - share) * _HIGH


def _stretches(mode: Mode, plot: _Plot, tallies: Tallies) -> Iterator[list[_Point]]:
    """List the points of a mode; a length without an answer parts two stretches."""
    points = []
    for at, length in enumerate(plot.lengths):
        tally = tallies.by_length.get((mode, length))
        if tally is not None and tally.share is not None and tally.interval is not None:
            points.append(_Point(at, plot.x(length), tally.share, *tally.interval))
    for _, part in groupby(enumerate(points), key=lambda each: each[1].at - each[0]):
        yield [point for _, point in part]


def _path(points: Sequence[_Point]) -> str:
    return "M" + "L".join(f"{point.x:.1f} {_y(point.share):.1f}" for point in points)


def _band(mode: Mode, points: Sequence[_Point]) -> str:
    """Draw the interval along a line; about a single point, as a bar."""
    colour = MODE_COLOURS[mode]
    if len(points) == 1:
        bar = f"M{points[0].x:.1f} {_y(points[0].low):.1f}V{_y(points[0].high):.1f}"
        return tag("path", d=bar, stroke=colour, stroke_width=6, stroke_opacity="0.25")
    upper = [f"{point.x:.1f} {_y(point.high):.1f}" for point in points]
    lower = [f"{point.x:.1f} {_y(point.low):.1f}" for point in reversed(points)]
    return tag("path", d=f"M{'L'.join(upper + lower)}z", fill=colour, fill_opacity="0.14")


def _axes(plot: _Plot) -> Iterator[str]:
    for share in _QUARTERS:
        y = _y(share)
        yield tag("path", d=f"M{_LEFT} {y:.1f}H{plot.width:.1f}", stroke=RULE)
        yield words(figures.percent(share), _LEFT - 8, y + 4, 11, fill=FAINT, text_anchor="end")
    named = -_LABEL
    for length in plot.lengths:
        x = plot.x(length)
        yield tag("path", d=f"M{x:.1f} {_y(0):.1f}v4", stroke=FAINT)
        if x - named >= _LABEL:
            named = int(x)
            y = _y(0) + 17
            yield words(short(length), x, y, 11, fill=FAINT, text_anchor="middle")
    middle = (_LEFT + plot.width) / 2
    told = "tokens of the conversation, each doubling equally wide"
    yield words(told, middle, _y(0) + 34, 11, fill=FAINT, text_anchor="middle")
