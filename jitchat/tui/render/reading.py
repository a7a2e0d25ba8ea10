"""What drawn lines say, in the order of the source: for copying a part of them, and for finding.

In a table the lines of a cell belong together, though other cells stand between them on screen.
"""

import re
import sys
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

from textual.style import Style

from jitchat.text.search_tokens import find_folded
from jitchat.tui.render.wrap import Line, Piece, part

_BLANK_LINE = re.compile(r"\n[ \t>]*\n")


class Place(NamedTuple):
    """Some characters of a drawn line."""

    line: int
    start: int
    end: int


def between(lines: Sequence[Line], first: tuple[int, int], last: tuple[int, int]) -> list[Line]:
    """Cut out what is drawn between two places, each a line and a character in it."""
    inside = list(lines[first[0] : last[0] + 1])
    if last[0] < len(lines):
        inside[-1] = part(inside[-1], 0, last[1])
    if inside:
        inside[0] = part(inside[0], first[1], sys.maxsize)
    return inside


def overlaid(line: Line, start: int, end: int, style: Style) -> Line:
    """Add a style to some characters of a line."""
    inside = [piece._replace(style=piece.style + style) for piece in part(line, start, end)]
    return [*part(line, 0, start), *inside, *part(line, end, sys.maxsize)]


def copied(source: str, lines: Sequence[Line]) -> str:
    """Return what to copy: without the breaks of lines that are too long, and with addresses."""
    return "".join(text for text, _ in _read(source, lines, is_copied=True)).strip(" ")


def found(source: str, lines: Sequence[Line], pattern: re.Pattern[str]) -> list[list[Place]]:
    """Find a pattern for folded text in what is drawn; return the places of each match."""
    parts = list(_read(source, lines, is_copied=False))
    text = "".join(text for text, _ in parts)
    ends = list(accumulate(len(text) for text, _ in parts))
    matches = []
    for first, last in find_folded(pattern, text):
        places = []
        for number in range(bisect_right(ends, first), len(parts)):
            place, start = parts[number][1], ends[number] - len(parts[number][0])
            if start >= last:
                break
            if place is not None:
                left, right = max(first - start, 0), min(last, ends[number]) - start
                places.append(Place(place.line, place.start + left, place.start + right))
        matches.append(places)
    return matches


def _read(
    source: str, lines: Sequence[Line], *, is_copied: bool
) -> Iterator[tuple[str, Place | None]]:
    """Yield texts with their places, and the white space between them that is not drawn."""
    pieces: list[tuple[Piece, Place]] = []
    for number, line in enumerate(lines):
        column = 0
        for piece in line:
            end = column + len(piece.text)
            pieces.append((piece, Place(number, column, end)))
            column = end
    pieces.sort(key=lambda pair: pair[0].span[0])
    after, before = -1, " "
    for piece, place in pieces:
        text = piece.text
        if piece.copied is not None and (is_copied or (not text and piece.copied.isspace())):
            text = piece.copied
        start, end = piece.span
        if end == start or (piece.text and not text):
            continue
        gap = _gap(source[after:start]) if 0 <= after < start else ""
        if gap and not (gap == " " and (before.isspace() or text[:1].isspace())):
            yield gap, None
        yield text, place if piece.text else None
        after = max(end, after)
        before = (text or gap or before)[-1]


def _gap(undrawn: str) -> str:
    if "\n" in undrawn:
        return "\n\n" if _BLANK_LINE.search(undrawn) else "\n"
    return " " if any(character.isspace() for character in undrawn) else ""
