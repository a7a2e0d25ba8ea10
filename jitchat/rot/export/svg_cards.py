"""What stands beside the curves of an SVG picture: each mode in a few figures."""

from __future__ import annotations

from jitchat.rot.experiment import Experiment
from jitchat.rot.export.svg import FAINT, Part, moved, stacked, words
from jitchat.rot.export.svg_marks import key
from jitchat.rot.export.told import mode_lines
from jitchat.rot.tally import Tallies
from jitchat.turn import Mode

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
