"""A run as one SVG picture: heatmaps side by side at the top, curves and figures below.

It has a light background, so that it is readable on a dark page too; every square shows its figures
on hover.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from itertools import groupby, product
from math import log
from string import Template
from textwrap import wrap
from typing import NamedTuple
from xml.sax.saxutils import escape, quoteattr

from jitchat.lab import stats
from jitchat.lab.colours import MODE_COLOURS, SCALE, ink_on
from jitchat.lab.evidence import COLOURS, SIGNS, TITLE, Evidence, Outcome, evidence_by_mode
from jitchat.lab.experiment import Experiment, Result
from jitchat.lab.export.heatmap import HeatLayout, Map, Square, side_by_side, square_of
from jitchat.lab.report import brief_title, caveats, mode_lines, settings_line
from jitchat.lab.run_file import Run, short
from jitchat.lab.stats import Tallies, Tally
from jitchat.text.sanitize import one_line
from jitchat.values import Mode

_TEMPLATE = files("jitchat.lab.export") / "picture.svg"
"""The template uses local fonts; nothing is fetched."""
INK, FAINT, RULE, PAPER = "#1c2128", "#5b626d", "#dfe2e6", "#fdfdfc"
_LETTER = 0.53
"""A letter's width as a share of its height, slightly above average."""
_NO_XML = dict.fromkeys(
    (*range(32), *range(0xD800, 0xE000), 0xFFFE, 0xFFFF), "\N{REPLACEMENT CHARACTER}"
)
_Value = str | float

_WIDTH, _EDGE, _CARDS = 960, 32, 300
_MAPS = "Right answers in per cent, by depth and length"
_AXES = (
    "Rows: depth of the fact in the conversation, 0 % is the beginning. Columns: tokens of the"
    " conversation."
)
_CURVES = "Right answers by length"
_EVIDENCE = (
    "In the window: every turn that the answer needs, at full text. Wrong with it: not used; wrong"
    " without it: not retrieved."
)
_BANDS = (
    "Bands and brackets: 95 % intervals (Wilson); over all lengths, with the design effect of"
    " asking for the same facts at each."
)


def svg_picture(run: Run, results: Sequence[Result]) -> str:
    tallies, asked = stats.count_results(results), run.experiment
    squares = len(asked.modes) * len(asked.lengths) * _LEAST
    inner = max(_WIDTH - 2 * _EDGE, _AXIS + squares + _GAP * (len(asked.modes) - 1))
    body = _stacked(_parts(run, tallies, inner), _EDGE, _EDGE, gap=18)
    width, height = inner + 2 * _EDGE, body.height + _EDGE
    return Template(_TEMPLATE.read_text("utf-8")).substitute(
        viewbox=f"{width:.0f} {height:.0f}",
        width=_number(width),
        height=_number(height),
        ground_width=_number(width - 1),
        ground_height=_number(height - 1),
        title=_escaped(f"Context rot: {run.title}"),
        about=_escaped(stats.cells_text(run, tallies.whole)),
        body=body.drawn,
    )


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of the picture, drawn relative to its upper left corner."""

    height: float
    drawn: str


def _parts(run: Run, tallies: Tallies, width: float) -> Iterator[_Part]:
    asked = run.experiment
    title = _words(f"Context rot: {brief_title(run)}", 0, 20, 22, font_weight="700")
    lines = (stats.cells_text(run, tallies.whole), settings_line(run))
    about = _stacked((_paragraph(line, width, fill=FAINT) for line in lines), 0, 30, gap=0)
    yield _Part(about.height, title + about.drawn)
    yield _section(_MAPS, _AXES)
    yield _heatmaps(asked, tallies, width)
    yield _legend(asked, tallies)
    yield _section(_CURVES, _BANDS)
    room = width - _CARDS - 2 * _GAP
    cards = _stacked((_card(mode, asked, tallies) for mode in asked.modes), 0, 0, gap=16)
    curves = _curves(asked, tallies, room) + _moved(cards.drawn, room + 2 * _GAP, 0)
    yield _Part(max(_TOP + _HIGH + 40, cards.height), curves)
    if outcomes := evidence_by_mode(tallies):
        yield _section(TITLE, _EVIDENCE)
        yield _evidence(outcomes, width)
    for caveat in caveats(run):
        yield _paragraph(caveat, width)


def _section(title: str, note: str) -> _Part:
    drawn = _words(title, 0, 14, 15, font_weight="600")
    return _Part(36, drawn + _words(note, 0, 32, 12, fill=FAINT))


def _tag(name: str, *content: str, **attributes: _Value) -> str:
    """Build an element; `_` in attribute names becomes `-`. `content` is markup already."""
    given = "".join(
        f" {key.strip('_').replace('_', '-')}={quoteattr(_number(value))}"
        for key, value in attributes.items()
    )
    inner = "".join(content)
    return f"<{name}{given}>{inner}</{name}>" if inner else f"<{name}{given}/>"


def _number(value: _Value) -> str:
    return value if isinstance(value, str) else f"{value:.1f}".removesuffix(".0")


def _words(text: str, x: float, y: float, size: float = 12, **attributes: _Value) -> str:
    """Draw any text with its baseline at `y`."""
    known: dict[str, _Value] = {"x": x, "y": y, "font_size": size, "fill": INK}
    return _tag("text", _escaped(text), **known | attributes)


def _label(text: str, x: float, y: float, anchor: str = "middle") -> str:
    return _words(text, x, y, 11, fill=FAINT, text_anchor=anchor)


def _escaped(text: str) -> str:
    """Escape any text for XML, on one line."""
    return escape(one_line(text).translate(_NO_XML))


def _paragraph(text: str, width: float, size: float = 12, **attributes: _Value) -> _Part:
    step = size * 1.45
    lines = wrap(text, max(20, int(width / (size * _LETTER))))
    drawn = [_words(line, 0, size + at * step, size, **attributes) for at, line in enumerate(lines)]
    return _Part(step * len(lines), "".join(drawn))


def _moved(drawn: str, x: float, y: float) -> str:
    return _tag("g", drawn, transform=f"translate({_number(x)} {_number(y)})")


def _stacked(parts: Iterable[_Part], x: float, y: float, gap: float) -> _Part:
    """Stack parts vertically; the height is measured from the top of the picture."""
    drawn = []
    for part in parts:
        drawn.append(_moved(part.drawn, x, y))
        y += part.height + gap
    return _Part(y - gap, "\n".join(drawn))


_LOOKS = (
    ("M-5.5 0a5.5 5.5 0 1 0 11 0a5.5 5.5 0 1 0 -11 0z", 3.5, "none"),
    ("M-4.5 -4.5h9v9h-9z", 2.5, "6 4"),
    ("M0 -5.5l5 9h-10z", 2.0, "none"),
    ("M0 -6l6 6l-6 6l-6 -6z", 2.0, "2 3"),
    ("M0 5.5l5 -9h-10z", 2.0, "8 3 2 3"),
    ("M-1.5 -5.5h3v4h4v3h-4v4h-3v-4h-4v-3h4z", 1.5, "none"),
    ("M-3 -5h6l3 5l-3 5h-6l-3 -5z", 1.5, "4 2"),
)
"""(mark, line width, dashes) of each mode, in order. Later lines leave the earlier ones visible."""
_LOOK = dict(zip(Mode, _LOOKS, strict=False))


def _mark(mode: Mode, x: float, y: float) -> str:
    place, colour = f"translate({x:.1f} {y:.1f})", MODE_COLOURS[mode]
    shape = _LOOK[mode][0]
    return _tag("path", d=shape, transform=place, fill=colour, stroke=PAPER, stroke_width=1)


def _line(mode: Mode, path: str) -> str:
    _, width, dashes = _LOOK[mode]
    return _tag(
        "path",
        d=path,
        fill="none",
        stroke=MODE_COLOURS[mode],
        stroke_width=width,
        stroke_dasharray=dashes,
        stroke_linejoin="round",
    )


def _key(mode: Mode) -> str:
    """Draw a mode's line with its mark, for a legend: 24 wide, centred on y = 0."""
    return _line(mode, "M0 0H24") + _mark(mode, 12, 0)


def _card(mode: Mode, asked: Experiment, tallies: Tallies) -> _Part:
    drawn = [_moved(_key(mode), 0, 8), _words(mode.value, 32, 13, 14, font_weight="600")]
    y = 13
    for figure in mode_lines(mode, asked, tallies):
        y += 17
        drawn.append(_words(figure, 32, y, 12, fill=FAINT))
    return _Part(y, "".join(drawn))


_LEFT, _TOP, _HIGH, _MARGIN = 44, 8, 232, 26
_LABEL = 34
"""Minimum distance between two labelled lengths."""


class _Point(NamedTuple):
    x: float
    y: float
    low: float
    high: float


def _curves(asked: Experiment, tallies: Tallies, width: float) -> str:
    first, last = log(asked.lengths[0]), log(asked.lengths[-1])
    left, room = _LEFT + _MARGIN, width - _LEFT - 2 * _MARGIN
    places = {
        length: left + room * ((log(length) - first) / (last - first) if last > first else 0.5)
        for length in asked.lengths
    }
    stretches = [
        (mode, points) for mode in asked.modes for points in _stretches(mode, places, tallies)
    ]
    drawn = [*_axes(places, width), *(_band(mode, points) for mode, points in stretches)]
    for mode, points in stretches:
        drawn.append(_line(mode, "M" + "L".join(f"{at.x:.1f} {at.y:.1f}" for at in points)))
    drawn += [_mark(mode, at.x, at.y) for mode, points in stretches for at in points]
    return "\n".join(drawn)


def _y(share: float) -> float:
    return _TOP + (1 - share) * _HIGH


def _stretches(mode: Mode, places: Mapping[int, float], tallies: Tallies) -> Iterator[list[_Point]]:
    """Yield the points of a mode; a length without an answer separates two stretches."""
    at = [(x, tallies.by_length.get((mode, length), Tally())) for length, x in places.items()]
    for is_answered, group in groupby(at, key=lambda each: each[1].answered > 0):
        if is_answered:
            shares = ((x, each.right / each.answered, each.interval or (0, 0)) for x, each in group)
            yield [_Point(x, _y(share), *map(_y, interval)) for x, share, interval in shares]


def _band(mode: Mode, points: Sequence[_Point]) -> str:
    """Draw the interval along a line; for a single point, as a bar."""
    colour = MODE_COLOURS[mode]
    if len(points) == 1:
        bar = f"M{points[0].x:.1f} {points[0].low:.1f}V{points[0].high:.1f}"
        return _tag("path", d=bar, stroke=colour, stroke_width=6, stroke_opacity="0.25")
    upper = [f"{point.x:.1f} {point.high:.1f}" for point in points]
    lower = [f"{point.x:.1f} {point.low:.1f}" for point in reversed(points)]
    return _tag("path", d=f"M{'L'.join(upper + lower)}z", fill=colour, fill_opacity="0.14")


def _axes(places: Mapping[int, float], width: float) -> Iterator[str]:
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        y = _y(share)
        yield _tag("path", d=f"M{_LEFT} {y:.1f}H{width:.1f}", stroke=RULE)
        yield _label(stats.percent(share), _LEFT - 8, y + 4, "end")
    named = -_LABEL
    for length, x in places.items():
        yield _tag("path", d=f"M{x:.1f} {_y(0):.1f}v4", stroke=FAINT)
        if x - named >= _LABEL:
            named = int(x)
            yield _label(short(length), x, _y(0) + 17)
    axis = "tokens of the conversation (logarithmic scale)"
    yield _label(axis, (_LEFT + width) / 2, _y(0) + 34)


_AXIS, _GAP, _LEAST = 44, 26, 30
"""Width for the depths, distance between two modes, and the minimum width of a square."""
_MOST, _SQUARE_HIGH, _HEAD, _BETWEEN = 104, 30, 26, 2
_NAMED = 190
"""Minimum width of a map with its mode's share above it."""
_HATCH = "jitchat-rot-does-not-fit"
_UNANSWERED = {"unfit": "does not fit", "failed": "failed", "none": "no result yet"}


def _heatmaps(asked: Experiment, tallies: Tallies, width: float) -> _Part:
    room = (width - _AXIS - _GAP * (len(asked.modes) - 1)) / len(asked.modes)
    wide = min(_MOST, max(_LEAST, room / len(asked.lengths)))
    maps = side_by_side([(mode, asked.lengths) for mode in asked.modes], _AXIS, wide, _GAP)
    layout = HeatLayout(maps, asked.depths, wide, _SQUARE_HIGH, _HEAD, _GAP)
    lines = _tag("path", d="M0 0v6", stroke="#b3b9c2", stroke_width=2)
    ground = _tag("rect", width=6, height=6, fill="#eceef1")
    turned = {"patternUnits": "userSpaceOnUse", "patternTransform": "rotate(45)"}
    hatch = _tag("pattern", ground, lines, id=_HATCH, width=6, height=6, **turned)
    depths = ""
    for row, depth in enumerate(asked.depths):
        depths += _label(stats.percent(depth), _AXIS - 8, (row + 0.5) * _SQUARE_HIGH + 3, "end")
    drawn = [_tag("defs", hatch), _moved(depths, 0, _HEAD)]
    drawn += [_moved(_map(shown, layout, tallies), shown.left, 0) for shown in maps]
    return _Part(_HEAD + _SQUARE_HIGH * len(asked.depths) + 20, "\n".join(drawn))


def _map(shown: Map[float], layout: HeatLayout[float], tallies: Tallies) -> str:
    mode, wide = shown.mode, layout.wide
    share = stats.share_of(tallies.by_mode.get(mode)) if shown.width >= _NAMED else ""
    drawn = [
        _moved(_key(mode), 0, 6),
        _words(mode.value, 30, 11, 14, font_weight="600"),
        _words(share, shown.width - _BETWEEN, 11, 12, fill=FAINT, text_anchor="end"),
    ]
    for row, depth in enumerate(layout.depths):
        for column, length in enumerate(shown.lengths):
            tally = tallies.squares.get((mode, length, depth))
            about = f"{mode.value}, {length:,} tokens, depth {stats.percent(depth)}"
            title = _tag("title", f"{about}: {stats.share_of(tally)}")
            square = _square(square_of(tally), wide - _BETWEEN, _SQUARE_HIGH - _BETWEEN)
            drawn.append(_moved(title + square, column * wide, _HEAD + row * _SQUARE_HIGH))
    y = _HEAD + _SQUARE_HIGH * len(layout.depths) + 13
    for column, length in enumerate(shown.lengths):
        drawn.append(_label(short(length), (column + 0.5) * wide - _BETWEEN / 2, y))
    return "".join(drawn)


def _square(square: Square, width: float, height: float) -> str:
    box = {"width": width, "height": height, "rx": 3.0}
    x, y = width / 2, height / 2
    match square.kind:
        case "share":
            ink = ink_on(square.colour)
            number = _words(square.number, x, y + 4.3, 12, fill=ink, text_anchor="middle")
            return _tag("rect", **box, fill=square.colour) + number
        case "unfit":
            return _tag("rect", **box, fill=f"url(#{_HATCH})")
        case "failed":
            cross = f"M{x - 4:.1f} {y - 4:.1f}l8 8m0 -8l-8 8"
            strokes = _tag("path", d=cross, stroke=FAINT, stroke_width=1.6)
            return _tag("rect", **box, fill=RULE) + strokes
    edge = {"x": 0.5, "y": 0.5, "width": width - 1, "height": height - 1, "rx": 3.0}
    return _tag("rect", **edge, fill="none", stroke=RULE, stroke_dasharray="3 3")


_BAR, _BAR_STEP, _BAR_LEFT = 20, 28, 110


def _evidence(outcomes: Mapping[Mode, Evidence], width: float) -> _Part:
    """Draw a legend and a bar per mode; narrow segments show their figures on hover only."""
    drawn, x = [], float(_BAR_LEFT)
    for outcome in Outcome:
        drawn.append(_moved(_tag("rect", width=14, height=12, rx=3, fill=COLOURS[outcome]), x, 0))
        drawn.append(_words(f"{SIGNS[outcome]} {outcome}", x + 20, 11, 11, fill=FAINT))
        x += 190
    y = 22.0
    for mode, found in outcomes.items():
        drawn.append(_moved(_key(mode), 0, y + _BAR / 2))
        drawn.append(_words(mode.value, 32, y + _BAR / 2 + 5, 14, font_weight="600"))
        x, room = float(_BAR_LEFT), width - _BAR_LEFT
        for outcome in Outcome:
            wide = room * found.counts[outcome] / found.of
            if wide:
                part = _segment(outcome, f"{SIGNS[outcome]} {found.text(outcome)}", mode, wide)
                drawn.append(_moved(part, x, y))
            x += wide
        y += _BAR_STEP
    return _Part(y, "\n".join(drawn))


def _segment(outcome: Outcome, figures: str, mode: Mode, wide: float) -> str:
    colour = COLOURS[outcome]
    title = _tag("title", _escaped(f"{mode}, {outcome}: {figures}"))
    box = _tag("rect", title, width=max(1.0, wide - 2), height=_BAR, rx=3, fill=colour)
    fits = wide > 12 + len(figures) * 12 * _LETTER
    return box + (_words(figures, 6, 14.5, 12, fill=ink_on(colour)) if fits else "")


def _legend(asked: Experiment, tallies: Tallies) -> _Part:
    stops = [
        _tag("stop", offset=f"{100 * at / (len(SCALE) - 1):.0f}%", stop_color=colour)
        for at, colour in enumerate(SCALE)
    ]
    scale = "jitchat-rot-scale"
    drawn = [
        _tag("defs", _tag("linearGradient", *stops, id=scale)),
        _words("none right", _AXIS, 11, 11, fill=FAINT),
        _tag("rect", x=_AXIS + 62, y=1, width=160, height=12, rx=3, fill=f"url(#{scale})"),
        _words("all right", _AXIS + 230, 11, 11, fill=FAINT),
    ]
    places = product(asked.modes, asked.lengths, asked.depths)
    kinds = {square_of(tallies.squares.get(place)).kind for place in places}
    x = _AXIS + 310.0
    for kind, text in _UNANSWERED.items():
        if kind in kinds:
            drawn.append(_moved(_square(Square(kind), 22, 14), x, 0))
            drawn.append(_words(text, x + 28, 11, 11, fill=FAINT))
            x += 116
    return _Part(14, "".join(drawn))
