"""A request as rows of a screen: each is a slice of it, and of one segment at most. Pure."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from jitchat.text.safe import visible
from jitchat.window.places import Place
from jitchat.window.window import Kind

LETTERS = {
    Kind.SYSTEM: "S",
    Kind.PINNED: "P",
    Kind.RECENT: "R",
    Kind.INDEX: "I",
    Kind.RETRIEVED: "T",
    Kind.DRAFT: "D",
}
"""What stands in the gutter, so that kinds are told apart without colour."""
GUTTER = 9
"""Cells: a letter, the turn, a line."""
_BROKEN = re.compile(r"(?<!\\)(?:\\\\)*\\n")
"""A line break that is written as an escape, and no backslash ahead of an n."""
_LEAST = 20


class Row(NamedTuple):
    """A row; the one without an end is the boundary of the stable prefix."""

    start: int
    end: int | None
    place: Place | None = None
    """The segment that it shows a part of; None for what the protocol adds."""

    @property
    def kind(self) -> Kind | None:
        """Of the segment."""
        return self.place.segment.kind if self.place else None

    @property
    def gutter(self) -> str:
        """The segment's letter; on its first row, with its turn."""
        if self.place is None:
            return f"{'':<{GUTTER - 2}}│ "
        segment, opens = self.place.segment, self.start == self.place.start
        turn = f"#{segment.turn}" if opens and segment.turn is not None else ""
        return f"{LETTERS[segment.kind]} {turn:<{GUTTER - 4}}│ "

    def text(self, whole: str) -> str:
        """Its slice, safe to show."""
        return visible(whole[self.start : self.end]).replace("\n", " ").replace("\t", " ")


@dataclass(frozen=True, slots=True)
class Sheet:
    """A request, cut into rows."""

    whole: str
    rows: Sequence[Row]
    begins: Sequence[int]
    """The numbers of the rows where another kind of segment begins than the one before."""


def sheet_of(whole: str, places: Sequence[Place], width: int, *, parted: bool) -> Sheet:
    """Cut a request as `rows_of` does; slow where it is a long one."""
    rows = rows_of(whole, places, width, parted=parted)
    begins: list[int] = []
    kind = None
    for number, row in enumerate(rows):
        if row.place is not None and row.kind is not kind:
            kind = row.kind
            begins.append(number)
    return Sheet(whole, rows, begins)


def rows_of(whole: str, places: Sequence[Place], width: int, *, parted: bool) -> list[Row]:
    """Cut a request into rows of `width` cells, the gutter included.

    A row ends at a line break, where a segment begins or ends, or where it is full; with `parted`
    also behind a line break that is written as an escape, and a full one behind a blank.
    """
    room = max(_LEAST, width - GUTTER)
    cuts = sorted({0, len(whole), *_cuts(whole, places, parted=parted)})
    starts = [place.start for place in places]
    boundary = _boundary(places)
    rows: list[Row] = []
    for start, end in pairwise(cuts):
        place = _at(start, starts, places)
        last = end - 1 if whole[end - 1] == "\n" else end
        edges = [start, *_full(whole, start, last, room, by_word=parted), last]
        rows += [Row(first, behind, place) for first, behind in pairwise(edges)]
        if end == boundary:
            rows.append(Row(end, None))
    return rows


def _cuts(whole: str, places: Sequence[Place], *, parted: bool) -> Iterator[int]:
    for line in re.finditer("\n", whole):
        yield line.end()
    for place in places:
        yield place.start
        yield place.end
    if parted:
        for escape in _BROKEN.finditer(whole):
            yield escape.end()


def _full(whole: str, start: int, end: int, room: int, *, by_word: bool) -> Iterator[int]:
    """Go through the places where a row is full and the next one begins."""
    while end - start > room:
        blank = whole.rfind(" ", start + room // 2, start + room) if by_word else -1
        start = start + room if blank < 0 else blank + 1
        yield start


def _boundary(places: Sequence[Place]) -> int | None:
    """Say where the stable prefix ends; None where nothing of it is there."""
    ends = [place.end for place in places if place.segment.kind.is_stable]
    return ends[-1] if ends else None


def _at(position: int, starts: Sequence[int], places: Sequence[Place]) -> Place | None:
    found = bisect_right(starts, position) - 1
    return places[found] if found >= 0 and position < places[found].end else None
