"""A sheet of character cells to draw on, in dots of braille: two across and four down a cell."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

_DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
"""By row and column within a cell."""
_BLANK = 0x2800


class Canvas:
    """What was drawn later is on top."""

    def __init__(self, width: int, height: int) -> None:
        self.width, self.height = width, height
        self._cells: dict[tuple[int, int], tuple[str, str]] = {}

    def put(self, x: int, y: int, text: str, name: str) -> None:
        """Write characters from a cell on; what is beside the sheet is left out."""
        for number, character in enumerate(text):
            if 0 <= x + number < self.width and 0 <= y < self.height:
                self._cells[x + number, y] = character, name

    def dot(self, x: int, y: int, name: str) -> None:
        """Set a dot, counted in dots; those that are in its cell stay."""
        at = x // 2, y // 4
        if not (0 <= at[0] < self.width and 0 <= at[1] < self.height):
            return
        before = ord(self._cells.get(at, (chr(_BLANK), ""))[0])
        lit = before if _BLANK <= before < _BLANK + 256 else _BLANK
        self._cells[at] = chr(lit | _DOTS[y % 4][x % 2]), name

    def line(
        self, start: tuple[int, int], end: tuple[int, int], name: str, dash: tuple[int, int]
    ) -> None:
        """Draw a line from dot to dot; `dash` dots are set and left out in turn."""
        lit, dark = dash
        steps = max(abs(end[0] - start[0]), abs(end[1] - start[1]), 1)
        for step in range(steps + 1):
            if step % (lit + dark) < lit:
                x = start[0] + round((end[0] - start[0]) * step / steps)
                y = start[1] + round((end[1] - start[1]) * step / steps)
                self.dot(x, y, name)

    def rows(self) -> Iterator[list[tuple[str, str]]]:
        """Give the rows from above, as characters of one name each."""
        for y in range(self.height):
            cells = [self._cells.get((x, y), (" ", "")) for x in range(self.width)]
            groups = groupby(cells, key=lambda cell: cell[1])
            yield [("".join(text for text, _ in group), name) for name, group in groups]
