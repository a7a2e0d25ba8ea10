"""Tables: each column as wide as it needs, or as records where there is no room for columns."""

from collections.abc import Iterator, Sequence
from itertools import zip_longest

from markdown_it.tree import SyntaxTreeNode

from jitchat.tui.render.wrap import Layout, Line, Look, Parts, Piece, measure, prose, width_of, wrap

NARROWEST = 8
"""Cells. Words are broken down to this width; in narrower columns nothing can be read."""
_LONG_WORD = 20
"""Cells. Longer words are mostly addresses; the words of other columns come first."""
_BAR, _COPIED_BAR = " │ ", " | "
_LABEL = ": "


def row_parts(
    node: SyntaxTreeNode, look: Look, drawn: Layout | None = None
) -> tuple[Layout, Parts]:
    """Draw the rows; those behind rows of the layout `drawn`, without the header."""
    trees = [row for section in node.children for row in section.children]
    columns = max(len(row.children) for row in trees)
    if drawn is not None:
        columns = max(columns, len(drawn.sizes))
    rows = [[_cell(row.children, column, look) for column in range(columns)] for row in trees]
    measured = [[measure(cell) for cell in column] for column in zip(*rows, strict=True)]
    for column, size in zip(measured, drawn.sizes if drawn is not None else (), strict=False):
        column.append(size)
    sizes = [(max(word for word, _ in all_), max(line for _, line in all_)) for all_ in measured]
    is_behind = drawn is not None
    widths = _widths(sizes, look)
    if widths is None:
        parts, is_tall = list(_records(rows, look, int(is_behind))), False
    else:
        wrapped = [[wrap(*cell) for cell in zip(row, widths, strict=True)] for row in rows]
        is_tall = any(len(cell) > 1 for row in wrapped[1:] for cell in row)
        is_tall |= drawn is not None and drawn.is_spread
        longest = max((row.children for row in trees), key=len)
        styles = [str(cell.attrs["style"]) for cell in longest]
        parts = [_row_lines(row, widths, styles, look) for row in wrapped]
        for number, lines in enumerate(parts[1:], start=1 + is_behind):
            crossing = "═╪═" if number == 1 and is_tall else "─┼─"
            rule = crossing.join(crossing[0] * width for width in widths)
            lines[:0] = [[look.decoration(rule, "rule")]] if number == 1 or is_tall else []
    starts = [row.meta["start"] for row in trees]
    return Layout(sizes, widths, is_tall), list(zip(starts, parts, strict=True))[is_behind:]


def _cell(cells: Sequence[SyntaxTreeNode], column: int, look: Look) -> Line:
    """Return the text of a cell, behind what is copied for the bar before it."""
    if column >= len(cells):
        return []
    cell, start = cells[column], cells[column].meta["start"]
    bar = Piece("", look.style(), (start - 1, start), copied=_COPIED_BAR)
    text = prose(cell.children[0].children, look, cell.tag)
    one_line = (piece._replace(copied=" ") if piece.copied == "\n" else piece for piece in text)
    return [*([bar] if column else []), *one_line]


def _row_lines(
    row: Sequence[Sequence[Line]], widths: Sequence[int], alignments: Sequence[str], look: Look
) -> list[Line]:
    lines: list[Line] = []
    for height in range(max(len(cell) for cell in row)):
        line: list[Piece] = []
        for cell, width, alignment in zip_longest(row, widths, alignments):
            inside = cell[height] if height < len(cell) else []
            free = max(0, width - width_of(inside))
            before = {"text-align:right": free, "text-align:center": free // 2}.get(alignment, 0)
            line += [look.decoration(_BAR, "rule")] if line else []
            line += [look.decoration(" " * before), *inside, look.decoration(" " * (free - before))]
        lines.append(line)
    return lines


def _widths(sizes: Sequence[tuple[int, int]], look: Look) -> list[int] | None:
    """Divide the width by need; None if the columns would be too narrow to read.

    A column gets what its longest line needs; if that is too much, the widest give way to each
    other, but words are broken only where there is no room even for the longest of each column.
    """
    room = look.width - len(_BAR) * (len(sizes) - 1)
    natural = [line for _, line in sizes]
    if sum(natural) <= room:
        return natural
    longest = [min(_LONG_WORD, word) for word, _ in sizes]
    least = [min(width, NARROWEST) for width in longest]
    if sum(least) > room:
        return None
    return _level(_level(least, longest, room), natural, room)


def _level(least: Sequence[int], most: Sequence[int], room: int) -> list[int]:
    """Widen all columns together until each has what it needs or the room is used up."""
    widths = list(least)
    for level in range(min(least), min(room, max(most)) + 1):
        for column, width in enumerate(widths):
            if width < min(level, most[column]) and sum(widths) < room:
                widths[column] += 1
    return widths


def _records(rows: Sequence[Sequence[Line]], look: Look, drawn: int) -> Iterator[list[Line]]:
    """Draw a row as lines of a name and a value; the names of the first record are the header."""
    names = rows[0]
    widest = max(measure(name)[1] for name in names)
    indent = min(widest, look.width // 3) + len(_LABEL)
    if rows[1:]:
        yield []
    for number, row in enumerate(rows[1:] or [[[]] * len(names)], start=drawn):
        lines: list[Line] = []
        if number:
            lines.append([look.decoration("─" * min(look.width, 2 * indent), "rule")])
        for name, value in zip(names, row, strict=True):
            label = name if number == 0 else [look.decoration(piece.text, "th") for piece in name]
            lines += _field(label, value, indent, look)
        yield lines


def _field(name: Line, value: Line, indent: int, look: Look) -> Iterator[Line]:
    names = wrap(name, indent - len(_LABEL))
    values = wrap(value, max(1, look.width - indent))
    for height in range(max(len(names), len(values))):
        left = names[height] if height < len(names) else []
        right = values[height] if height < len(values) else []
        label = _LABEL if height == len(names) - 1 else ""
        space = " " * (indent - width_of(left) - len(label))
        yield [*left, look.decoration(label, "label"), look.decoration(space), *right]
