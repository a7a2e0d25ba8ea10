"""Tables: each column as wide as it needs, or as records where there is no room for columns."""

from collections.abc import Iterator, Sequence

from markdown_it.tree import SyntaxTreeNode

from jitchat.tui.render.look import Line, Look, Piece
from jitchat.tui.render.wrap import measure, prose, width_of, wrap

NARROWEST = 8
"""Cells. Words are broken down to this width; in narrower columns nothing can be read."""
_LONG_WORD = 20
"""Cells. Longer words are mostly addresses; the words of other columns come first."""
_BAR, _COPIED_BAR = " │ ", " | "
_LABEL = ": "


def table_lines(node: SyntaxTreeNode, look: Look) -> Iterator[Line]:
    nodes = [row.children for section in node.children for row in section.children]
    count = max(len(cells) for cells in nodes)
    rows = [[_cell(cells, column, look) for column in range(count)] for cells in nodes]
    widths = _widths(rows, look)
    if widths is None:
        yield from _records(rows, look)
        return
    alignments = [str(cell.attrs["style"]) for cell in max(nodes, key=len)]
    drawn = [[wrap(cell, width) for cell, width in zip(row, widths, strict=True)] for row in rows]
    is_tall = any(len(cell) > 1 for row in drawn[1:] for cell in row)
    for number, row in enumerate(drawn):
        if number == 1 or (number and is_tall):
            crossing = "═╪═" if number == 1 and is_tall else "─┼─"
            yield [look.decoration(crossing.join(crossing[0] * width for width in widths), "rule")]
        for height in range(max(len(cell) for cell in row)):
            yield _row_line(row, height, widths, alignments, look)


def _cell(cells: Sequence[SyntaxTreeNode], column: int, look: Look) -> Line:
    """Return the text of a cell, behind what is copied for the bar before it."""
    if column >= len(cells):
        return []
    cell, start = cells[column], cells[column].meta["start"]
    bar = Piece("", look.style(), (start - 1, start), copied=_COPIED_BAR)
    text = prose(cell.children[0].children, look, cell.tag)
    one_line = (piece._replace(copied=" ") if piece.copied == "\n" else piece for piece in text)
    return [*([bar] if column else []), *one_line]


def _row_line(
    row: Sequence[Sequence[Line]],
    height: int,
    widths: Sequence[int],
    alignments: Sequence[str],
    look: Look,
) -> Line:
    line: list[Piece] = []
    for column, (cell, width) in enumerate(zip(row, widths, strict=True)):
        inside = cell[height] if height < len(cell) else []
        free = max(0, width - width_of(inside))
        before_aligned = {"text-align:right": free, "text-align:center": free // 2}
        before = before_aligned.get(alignments[column], 0)
        line += [look.decoration(_BAR, "rule")] if column else []
        line += [look.decoration(" " * before), *inside, look.decoration(" " * (free - before))]
    return line


def _widths(rows: Sequence[Sequence[Line]], look: Look) -> list[int] | None:
    """Divide the width by need; None if the columns would be too narrow to read.

    A column gets what its longest line needs; if that is too much, the widest give way to each
    other, but words are broken only where there is no room even for the longest of each column.
    """
    measured = [[measure(cell) for cell in column] for column in zip(*rows, strict=True)]
    room = look.width - len(_BAR) * (len(measured) - 1)
    natural = [max(line for _, line in column) for column in measured]
    if sum(natural) <= room:
        return natural
    longest = [min(_LONG_WORD, max(word for word, _ in column)) for column in measured]
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


def _records(rows: Sequence[Sequence[Line]], look: Look) -> Iterator[Line]:
    """Draw a row as lines of a name and a value; the names of the first record are the header."""
    names = rows[0]
    widest = max(measure(name)[1] for name in names)
    indent = min(widest, look.width // 3) + len(_LABEL)
    for number, row in enumerate(rows[1:] or [[[]] * len(names)]):
        if number:
            yield [look.decoration("─" * min(look.width, 2 * indent), "rule")]
        for name, value in zip(names, row, strict=True):
            label = name if number == 0 else [look.decoration(piece.text, "th") for piece in name]
            yield from _field(label, value, indent, look)


def _field(name: Line, value: Line, indent: int, look: Look) -> Iterator[Line]:
    names = wrap(name, indent - len(_LABEL))
    values = wrap(value, max(1, look.width - indent))
    for height in range(max(len(names), len(values))):
        left = names[height] if height < len(names) else []
        right = values[height] if height < len(values) else []
        label = _LABEL if height == len(names) - 1 else ""
        space = " " * (indent - width_of(left) - len(label))
        yield [*left, look.decoration(label, "label"), look.decoration(space), *right]
