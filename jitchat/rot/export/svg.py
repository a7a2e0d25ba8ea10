"""Pieces of an SVG picture: every text in it is escaped here, and nowhere else."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from textwrap import wrap
from xml.sax.saxutils import escape, quoteattr

from jitchat.text.safe import one_line, visible

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
    lines = wrap(visible(text), max(20, int(width / (size * _LETTER))))
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
