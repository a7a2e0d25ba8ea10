"""A run as one SVG picture: cards, curves and heatmaps.

Heatmaps side by side above, the curves beneath. It brings its own light ground, so that it reads
on a dark page too; every square tells its figures when it is pointed at.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, product
from math import log
from textwrap import wrap
from types import MappingProxyType
from xml.sax.saxutils import escape, quoteattr

from jitchat.lab import stats
from jitchat.lab.colours import MODE_COLOURS, SCALE, colour_of, ink_on
from jitchat.lab.experiment import Experiment, Result
from jitchat.lab.report import READER_CAVEAT, brief_title, mode_lines, settings_line
from jitchat.lab.run_file import Run, short
from jitchat.lab.stats import Tallies, Tally, tallied
from jitchat.text.sanitize import for_terminal, one_line
from jitchat.values import Mode

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, Helvetica, Arial, sans-serif"
"""What the reader's machine has; nothing is fetched."""
INK, FAINT, RULE, PAPER = "#1c2128", "#5b626d", "#dfe2e6", "#fdfdfc"
_LETTER = 0.53
"""A letter's width in its height, on average and a little more."""
_NO_XML = dict.fromkeys((0xFFFE, 0xFFFF), "\N{REPLACEMENT CHARACTER}")
_Value = str | float


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the picture, drawn from its own upper left corner."""

    height: float
    drawn: str


def tag(name: str, *content: str, **attributes: _Value) -> str:
    """Make an element; of an attribute's name `_` is `-`. `content` is markup already."""
    told = "".join(
        f" {key.strip('_').replace('_', '-')}={quoteattr(_number(value))}"
        for key, value in attributes.items()
    )
    inner = "".join(content)
    return f"<{name}{told}>{inner}</{name}>" if inner else f"<{name}{told}/>"


def words(text: str, x: float, y: float, size: float = 12, **attributes: _Value) -> str:
    """Write a text of whatever origin, its baseline at `y`."""
    known: dict[str, _Value] = {"x": x, "y": y, "font_size": size, "fill": INK}
    return tag("text", escaped(text), **known | attributes)


def escaped(text: str) -> str:
    """Make a text of whatever origin fit for XML, on one line."""
    return escape(one_line(text).translate(_NO_XML))


def paragraph(text: str, width: float, size: float = 12, **attributes: _Value) -> Part:
    """Write a text on as many lines as its width asks for."""
    step = size * 1.45
    lines = wrap(for_terminal(text), max(20, int(width / (size * _LETTER))))
    drawn = [words(line, 0, size + at * step, size, **attributes) for at, line in enumerate(lines)]
    return Part(step * len(lines), "".join(drawn))


def moved(part: str, x: float, y: float) -> str:
    """Put what was drawn somewhere else."""
    return tag("g", part, transform=f"translate({_number(x)} {_number(y)})")


def stacked(parts: Iterable[Part], x: float, y: float, gap: float) -> Part:
    """Put parts below one another; the height counts from the top of the picture."""
    drawn = []
    for part in parts:
        drawn.append(moved(part.drawn, x, y))
        y += part.height + gap
    return Part(y - gap, "\n".join(drawn))


def _number(value: _Value) -> str:
    return value if isinstance(value, str) else f"{value:.1f}".removesuffix(".0")


DASHES: Mapping[Mode, str] = MappingProxyType(
    {Mode.FULL: "none", Mode.RECENCY: "6 4", Mode.JIT: "none"}
)
WIDTHS: Mapping[Mode, float] = MappingProxyType({Mode.FULL: 3.5, Mode.RECENCY: 2.5, Mode.JIT: 2.0})
"""Of the lines: where two of them are one, both are seen."""
_SHAPES: Mapping[Mode, str] = MappingProxyType(
    {
        Mode.FULL: "M-5.5 0a5.5 5.5 0 1 0 11 0a5.5 5.5 0 1 0 -11 0z",
        Mode.RECENCY: "M-4.5 -4.5h9v9h-9z",
        Mode.JIT: "M0 -5.5l5 9h-10z",
    }
)
"""A round, a square and a three-cornered mark; later ones leave the earlier ones visible."""


def mark(mode: Mode, x: float, y: float) -> str:
    """Draw the mark of a mode about a point."""
    place = f"translate({x:.1f} {y:.1f})"
    colour = MODE_COLOURS[mode]
    return tag("path", d=_SHAPES[mode], transform=place, fill=colour, stroke=PAPER, stroke_width=1)


def line(mode: Mode, path: str) -> str:
    """Draw a line as a mode's lines are."""
    return tag(
        "path",
        d=path,
        fill="none",
        stroke=MODE_COLOURS[mode],
        stroke_width=WIDTHS[mode],
        stroke_dasharray=DASHES[mode],
        stroke_linejoin="round",
    )


def key(mode: Mode) -> str:
    """Draw a short line with its mark, for a legend; it is 24 wide, about y 0."""
    return line(mode, "M0 0H24") + mark(mode, 12, 0)


_LINE = 17


def cards(asked: Experiment, tallies: Tallies) -> Part:
    """Tell of each mode what share is right, and what a question took."""
    return stacked((_card(mode, asked, tallies) for mode in asked.modes), 0, 0, gap=16)


def _card(mode: Mode, asked: Experiment, tallies: Tallies) -> Part:
    drawn = [moved(key(mode), 0, 8), words(mode.value, 32, 13, 14, font_weight="600")]
    lines = list(mode_lines(mode, asked, tallies))
    for at, told in enumerate(lines, start=1):
        drawn.append(words(told, 32, 13 + at * _LINE, 12, fill=FAINT))
    return Part(13 + len(lines) * _LINE, "".join(drawn))


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
        yield words(stats.percent(share), _LEFT - 8, y + 4, 11, fill=FAINT, text_anchor="end")
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


AXIS, GAP, LEAST = 44, 26, 30
"""Room for the depths, room between two modes, and the least width of a square."""
_MOST, _SQUARE_HIGH, _HEAD, _BETWEEN = 104, 30, 26, 2
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
        return _SQUARE_HIGH * len(self.asked.depths)


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
    there = {stats.share(tallies.squares.get(place)) for place in places}
    x = AXIS + 310.0
    for tally, told in _WITHOUT_SHARE:
        if stats.share(tally) in there:
            drawn += [moved(_square(tally, 22, 14), x, 0), words(told, x + 28, 11, 11, fill=FAINT)]
            x += 116
    return Part(14, "".join(drawn))


_WITHOUT_SHARE = (
    (Tally(unfit=1), "does not fit"),
    (Tally(failed=1), "failed"),
    (None, "no result yet"),
)


def _map(mode: Mode, grid: _Grid, tallies: Tallies) -> str:
    told = stats.total(tallies.by_mode.get(mode)) if grid.width >= _NAMED else ""
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
            square = _square(tally, grid.square - _BETWEEN, _SQUARE_HIGH - _BETWEEN)
            about = f"{mode.value}, {length:,} tokens, depth {stats.percent(depth)}"
            told = tag("title", f"{about}: {stats.share_of(tally)}")
            yield moved(told + square, column * grid.square, _HEAD + row * _SQUARE_HIGH)


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
    number = words(stats.points(share), x, y, 12, fill=ink_on(colour), text_anchor="middle")
    return tag("rect", **box, fill=colour) + number


def _depths(grid: _Grid) -> str:
    drawn = []
    for row, depth in enumerate(grid.asked.depths):
        y = (row + 0.5) * _SQUARE_HIGH + 3
        told = stats.percent(depth)
        drawn.append(words(told, AXIS - 8, y, 11, fill=FAINT, text_anchor="end"))
    return "".join(drawn)


def _hatch() -> str:
    ground = tag("rect", width=6, height=6, fill="#eceef1")
    line = tag("path", d="M0 0v6", stroke="#b3b9c2", stroke_width=2)
    turned = {"patternUnits": "userSpaceOnUse", "patternTransform": "rotate(45)"}
    return tag("defs", tag("pattern", ground, line, id=_HATCH, width=6, height=6, **turned))


_WIDTH, _EDGE, _CARDS = 960, 32, 300
_MAPS = "Right answers in per cent, by depth and length"
_ROWS = (
    "Down: the depth at which the fact lies, 0 % is the beginning. Across: tokens of the"
    " conversation."
)
_CURVES = "Right answers by length"
_BANDS = "The bands are 95 % intervals (Wilson)."


def svg_picture(run: Run, results: Sequence[Result]) -> str:
    """Draw a run, finished or not."""
    tallies, asked = tallied(results), run.experiment
    squares = len(asked.modes) * len(asked.lengths) * LEAST
    inner = max(_WIDTH - 2 * _EDGE, AXIS + squares + GAP * (len(asked.modes) - 1))
    body = stacked(_parts(run, tallies, inner), _EDGE, _EDGE, gap=18)
    width, height = inner + 2 * _EDGE, body.height + _EDGE
    title = escaped(f"Context rot: {run.title}")
    ground = tag(
        "rect", x=0.5, y=0.5, width=width - 1, height=height - 1, rx=10, fill=PAPER, stroke=RULE
    )
    drawn = tag(
        "svg",
        f"\n{tag('title', title)}\n{tag('desc', escaped(stats.decided(run, tallies.whole)))}\n",
        f"{ground}\n{body.drawn}\n",
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {width:.0f} {height:.0f}",
        width=width,
        height=height,
        role="img",
        font_family=FONT,
    )
    return f"{drawn}\n"


def _parts(run: Run, tallies: Tallies, width: float) -> Iterator[Part]:
    asked = run.experiment
    yield _heading(run, tallies, width)
    yield _section(_MAPS, _ROWS)
    yield heatmaps(asked, tallies, width)
    yield legend(tallies, asked)
    yield _section(_CURVES, _BANDS)
    room = width - _CARDS - 2 * GAP
    lines, told = curves(asked, tallies, room), cards(asked, tallies)
    beside = lines.drawn + moved(told.drawn, room + 2 * GAP, 0)
    yield Part(max(lines.height, told.height), beside)
    if run.is_reader:
        yield paragraph(READER_CAVEAT, width)


def _section(title: str, note: str) -> Part:
    drawn = words(title, 0, 14, 15, font_weight="600")
    return Part(36, drawn + words(note, 0, 32, 12, fill=FAINT))


def _heading(run: Run, tallies: Tallies, width: float) -> Part:
    title = words(f"Context rot: {brief_title(run)}", 0, 20, 22, font_weight="700")
    lines = (stats.decided(run, tallies.whole), settings_line(run))
    told = stacked((paragraph(line, width, fill=FAINT) for line in lines), 0, 30, gap=0)
    return Part(told.height, title + told.drawn)
