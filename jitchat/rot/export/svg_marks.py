"""How the modes are told apart in an SVG picture: by colour, dashes and the shape of a mark."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from jitchat.rot.colours import MODE_COLOURS
from jitchat.rot.export.svg import PAPER, tag
from jitchat.turn import Mode

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
