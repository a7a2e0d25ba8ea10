"""A run as a picture for slides and pages: SVG on its own, without scripts and fetched fonts.

Heatmaps side by side above, the curves beneath. It brings its own light ground, so that it reads
on a dark page too; every square tells its figures when it is pointed at.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from jitchat.rot import figures
from jitchat.rot.caveat import READER_CAVEAT
from jitchat.rot.cells import Result
from jitchat.rot.export.svg import (
    FAINT,
    FONT,
    PAPER,
    RULE,
    Part,
    escaped,
    moved,
    paragraph,
    stacked,
    tag,
    words,
)
from jitchat.rot.export.svg_cards import cards
from jitchat.rot.export.svg_curves import curves
from jitchat.rot.export.svg_heatmap import AXIS, GAP, LEAST, heatmaps, legend
from jitchat.rot.export.told import brief_title, settings_line
from jitchat.rot.run import Run
from jitchat.rot.tally import Tallies, tallied

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
        f"\n{tag('title', title)}\n{tag('desc', escaped(figures.decided(run, tallies.whole)))}\n",
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
    lines = (figures.decided(run, tallies.whole), settings_line(run))
    told = stacked((paragraph(line, width, fill=FAINT) for line in lines), 0, 30, gap=0)
    return Part(told.height, title + told.drawn)
