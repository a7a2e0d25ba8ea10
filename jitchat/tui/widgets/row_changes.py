"""Which rows of a window's table came with the last plan, and which went. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from textual.content import Content

from jitchat.tui.palette import MUTED
from jitchat.tui.segment_rows import Bars, Row, line_of
from jitchat.window.difference import difference
from jitchat.window.window import ContextWindow, Kind

MARK_AT = 9
"""The cell of a row between kind and turn, blank in each."""
ENTERED, LEFT = "+", "−"
"""Marks of a row, for a moment."""
MOST = 24
"""Where more turns come and go than these it is another window, not a change to one."""

_ORDER = [kind.value for kind in Kind]
_STYLES = {ENTERED: "bold $text-success", LEFT: f"{MUTED} strike"}


def with_changes(
    rows: Sequence[Row], before: Sequence[Row], windows: tuple[ContextWindow, ContextWindow]
) -> tuple[list[Row], dict[int, str]]:
    """Put the rows of turns that left back among those of the second window, in their place.

    Gives the rows, and the marks of those that changed, by index.
    """
    found = difference(*windows)
    came = {change.turn for change in (*found.entered, *found.moved)}
    gone = {change.turn for change in found.left}
    if not 0 < len(came) + len(gone) <= MOST or windows[0].mode is not windows[1].mode:
        return list(rows), {}
    left = [row for row in before if _is_turn(row) and _turn(row) in gone]
    marked = [(row, ENTERED if _is_turn(row) and _turn(row) in came else "") for row in rows]
    for row in left:
        place = next((n for n, (each, _) in enumerate(marked) if _key(each) > _key(row)), None)
        marked.insert(len(marked) if place is None else place, (row, LEFT))
    marks = {number: mark for number, (_, mark) in enumerate(marked) if mark}
    return [row for row, _ in marked], marks


def without_left(
    rows: Sequence[Row], marks: Mapping[int, str]
) -> tuple[list[Row], tuple[int, ...]]:
    """Take the rows that left out again; gives the rows and the indices that are gone."""
    gone = tuple(number for number, mark in marks.items() if mark == LEFT)
    return [row for number, row in enumerate(rows) if number not in gone], gone


def lines_of(rows: Sequence[Row], marks: Mapping[int, str], shown: Bars = None) -> list[Content]:
    """Draw every row with its mark; the bars are to scale with those of the rows that are there."""
    there = [row for number, (_, _, row) in enumerate(rows) if row and marks.get(number) != LEFT]
    largest = max((value for row in there for _, value in row.parts), default=0.0)
    return [
        marked_line(line_of(*row, largest, shown), marks.get(number, ""))
        for number, row in enumerate(rows)
    ]


def telling_row(rows: Sequence[Row], marks: Mapping[int, str]) -> int:
    """Find the best of what was retrieved: in a small terminal little else is in view."""
    ranked = [
        (row.rank, number)
        for number, (kind, _, row) in enumerate(rows)
        if kind == Kind.RETRIEVED.value and row and row.rank and marks.get(number) != LEFT
    ]
    return min(ranked)[1] if ranked else 0


def marked_line(line: Content, mark: str) -> Content:
    """Draw a row with its mark in a cell that is blank otherwise."""
    if not mark:
        return line
    plain = line.plain
    return Content.styled(f"{plain[:MARK_AT]}{mark}{plain[MARK_AT + 1 :]}", _STYLES[mark])


def _is_turn(row: Row) -> bool:
    """Whether the row is a single turn's that is in the window."""
    kind, segments, _ = row
    return len(segments) == 1 and kind not in (Kind.SYSTEM, Kind.DRAFT)


def _turn(row: Row) -> int:
    _, segments, known = row
    turn = segments[0].turn if segments else known.turn if known else None
    return -1 if turn is None else turn


def _key(row: Row) -> tuple[int, int]:
    """The place of a row in the table; what was left out comes last."""
    place = _ORDER.index(row[0]) if row[0] in _ORDER else len(_ORDER)
    return place, _turn(row)
