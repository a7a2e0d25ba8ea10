"""The heatmaps of an SVG picture, one a mode, side by side: depth downwards, length across."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

from jitchat.rot import figures
from jitchat.rot.colours import SCALE, colour_of, ink_on
from jitchat.rot.experiment import Experiment
from jitchat.rot.export.svg import FAINT, RULE, Part, moved, tag, words
from jitchat.rot.export.svg_marks import key
from jitchat.rot.run import short
from jitchat.rot.tally import Tallies, Tally
from jitchat.turn import Mode

AXIS, GAP, LEAST = 44, 26, 30
"""Room for the depths, room between two modes, and the least width of a square."""
_MOST, _HIGH, _HEAD, _BETWEEN = 104, 30, 26, 2
_NAMED = 190
"""So wide must a map be to have its mode's share above it."""
_HATCH = "jitchat-rot-does-not-fit"


@dataclass(frozen=True, slots=True)
class _Grid:
    """Where squares stand in the map of one mode."""

    asked: Experiment
    square: float
    """Its width, with the gap behind it."""

    @property
    def width(self) -> float:
        return self.square * len(self.asked.lengths)

    @property
    def height(self) -> float:
        return _HIGH * len(self.asked.depths)


def heatmaps(asked: Experiment, tallies: Tallies, width: float) -> Part:
    """Draw the maps of every mode, the depths to the left of the first."""
    room = (width - AXIS - GAP * (len(asked.modes) - 1)) / len(asked.modes)
    grid = _Grid(asked, min(_MOST, max(LEAST, room / len(asked.lengths))))
    drawn = [_hatch(), moved(_depths(grid), 0, _HEAD)]
    for at, mode in enumerate(asked.modes):
        x = AXIS + at * (grid.width + GAP)
        drawn.append(moved(_map(mode, grid, tallies), x, 0))
    return Part(_HEAD + grid.height + 20, "\n".join(drawn))


def legend(tallies: Tallies, asked: Experiment) -> Part:
    """Explain the colours, and those other squares that there are."""
    stops = [
        tag("stop", offset=f"{100 * at / (len(SCALE) - 1):.0f}%", stop_color=colour)
        for at, colour in enumerate(SCALE)
    ]
    scale = "jitchat-rot-scale"
    drawn = [
        tag("defs", tag("linearGradient", *stops, id=scale)),
        words("none right", AXIS, 11, 11, fill=FAINT),
        tag("rect", x=AXIS + 62, y=1, width=160, height=12, rx=3, fill=f"url(#{scale})"),
        words("all right", AXIS + 230, 11, 11, fill=FAINT),
    ]
    places = product(asked.modes, asked.lengths, asked.depths)
    there = {figures.share(tallies.squares.get(place)) for place in places}
    x = AXIS + 310.0
    for tally, told in _WITHOUT_SHARE:
        if figures.share(tally) in there:
            drawn += [moved(_square(tally, 22, 14), x, 0), words(told, x + 28, 11, 11, fill=FAINT)]
            x += 116
    return Part(14, "".join(drawn))


_WITHOUT_SHARE = (
    (Tally(unfit=1), "does not fit"),
    (Tally(failed=1), "failed"),
    (None, "no result yet"),
)


def _map(mode: Mode, grid: _Grid, tallies: Tallies) -> str:
    told = figures.total(tallies.by_mode.get(mode)) if grid.width >= _NAMED else ""
    drawn = [
        moved(key(mode), 0, 6),
        words(mode.value, 30, 11, 14, font_weight="600"),
        words(told, grid.width - _BETWEEN, 11, 12, fill=FAINT, text_anchor="end"),
        *_squares(mode, grid, tallies),
    ]
    for at, length in enumerate(grid.asked.lengths):
        x, y = (at + 0.5) * grid.square - _BETWEEN / 2, _HEAD + grid.height + 13
        drawn.append(words(short(length), x, y, 11, fill=FAINT, text_anchor="middle"))
    return "".join(drawn)


def _squares(mode: Mode, grid: _Grid, tallies: Tallies) -> Iterator[str]:
    for row, depth in enumerate(grid.asked.depths):
        for column, length in enumerate(grid.asked.lengths):
            tally = tallies.squares.get((mode, length, depth))
            square = _square(tally, grid.square - _BETWEEN, _HIGH - _BETWEEN)
            about = f"{mode.value}, {length:,} tokens, depth {figures.percent(depth)}"
            told = tag("title", f"{about}: {figures.share_of(tally)}")
            yield moved(told + square, column * grid.square, _HEAD + row * _HIGH)


def _square(tally: Tally | None, width: float, height: float) -> str:
    """Draw one: its share in its colour and as a number; hatched, crossed or empty without."""
    box = {"width": width, "height": height, "rx": 3.0}
    if tally is None or not tally.cells:
        edge = {"x": 0.5, "y": 0.5, "width": width - 1, "height": height - 1, "rx": 3.0}
        return tag("rect", **edge, fill="none", stroke=RULE, stroke_dasharray="3 3")
    if tally.share is not None:
        return _shared(tally.share, box)
    if tally.unfit:
        return tag("rect", **box, fill=f"url(#{_HATCH})")
    x, y = width / 2, height / 2
    cross = f"M{x - 4:.1f} {y - 4:.1f}l8 8m0 -8l-8 8"
    return tag("rect", **box, fill=RULE) + tag("path", d=cross, stroke=FAINT, stroke_width=1.6)


def _shared(share: float, box: dict[str, float]) -> str:
    colour = colour_of(share)
    x, y = box["width"] / 2, box["height"] / 2 + 4.3
    number = words(figures.points(share), x, y, 12, fill=ink_on(colour), text_anchor="middle")
    return tag("rect", **box, fill=colour) + number


def _depths(grid: _Grid) -> str:
    drawn = []
    for row, depth in enumerate(grid.asked.depths):
        y = (row + 0.5) * _HIGH + 3
        told = figures.percent(depth)
        drawn.append(words(told, AXIS - 8, y, 11, fill=FAINT, text_anchor="end"))
    return "".join(drawn)


def _hatch() -> str:
    ground = tag("rect", width=6, height=6, fill="#eceef1")
    line = tag("path", d="M0 0v6", stroke="#b3b9c2", stroke_width=2)
    turned = {"patternUnits": "userSpaceOnUse", "patternTransform": "rotate(45)"}
    return tag("defs", tag("pattern", ground, line, id=_HATCH, width=6, height=6, **turned))
