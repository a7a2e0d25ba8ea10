"""Draws a text that grows: finished blocks are drawn once, the open one again each time.

Of a list or a table, only the last items or rows are drawn again while the layout stays the same.
"""

import re
from collections.abc import Sequence
from itertools import chain

from markdown_it.tree import SyntaxTreeNode

from jitchat.text.markdown.parse import parse
from jitchat.tui.render.look import Layout, Line, Look
from jitchat.tui.render.render import parts_of

_LOOKS_AHEAD = ("]:", "$", "\\[", "\\(")
"""With one of these in it, the end of a text may change what is before: a definition, a formula."""

_UNDECIDED = re.compile(r"\n[ \t>]*(?:-+|=+|`{1,2})[ \t]*\Z")
"""A line that may begin a list or code, or make a heading of the one above."""


_OPEN_PARTS = 2
"""Items or rows at the end that more text may change, or what is between them."""


class Growing:
    """The lines of a text. Once complete, they are exactly those that `render` returns."""

    def __init__(self) -> None:
        self._drawn: tuple[str, Look | None, bool] = "", None, False
        """What `lines` show."""
        self.lines: list[Line] = []
        self._begin(0, 0)

    def _begin(self, start: int, line: int) -> None:
        """Note where the first block begins that is not finished, of which no part is finished."""
        self._start = start
        self._first = line
        self._finished = line
        """The lines of finished blocks, with the blank ones after them, and of finished parts."""
        self._layout: Layout | None = None
        """That in which finished parts are drawn, together with those that are not finished."""
        self._certain: Layout | None = None
        """That of finished parts alone."""
        self._rest: tuple[int, ...] = (start,)
        """What `parse` takes to read what is not finished."""

    def draw(self, text: str, look: Look, *, is_complete: bool = False) -> list[Line]:
        """Draw a text, which usually is the one before with something added."""
        text = text if is_complete else _UNDECIDED.sub("", text)
        before, look_before, _ = self._drawn
        if (text, look, is_complete) == self._drawn:
            return self.lines
        is_same = look == look_before and text.startswith(before)
        if not is_same or (is_complete and any(mark in text for mark in _LOOKS_AHEAD)):
            self._begin(0, 0)
        self._drawn = text, look, is_complete
        if not self._extend(text, look):
            self._begin(self._start, self._first)
            self._extend(text, look)
        return self.lines

    def _extend(self, text: str, look: Look) -> bool:
        """Draw what is not finished; return False if that changes the layout of finished parts."""
        blocks = SyntaxTreeNode(parse(text, *self._rest)).children
        open_from = _open_from(text, blocks)
        lines = list(self.lines[: self._finished])
        for number, node in enumerate(blocks):
            layout, parts = parts_of(node, look, None if number else self._certain)
            if number:
                lines.append([])
            elif self._layout is not None and layout.shape != self._layout.shape:
                return False
            if number and number == open_from:
                self._begin(node.meta["start"], len(lines))
            is_last = number == open_from == len(blocks) - 1
            is_long = len(parts) > _OPEN_PARTS + 1  # of a table, more than the header is finished
            finished = parts[:-_OPEN_PARTS] if is_last and is_long else []
            lines += chain.from_iterable(drawn for _, drawn in finished)
            if finished:
                start, _ = parts[len(finished)]
                begun = SyntaxTreeNode(parse(text[: text.index("\n", start)], *self._rest))
                self._certain, _ = parts_of(begun.children[0], look, self._certain)
                self._rest = (self._start, start) if node.type == "table" else (start,)
                self._layout = layout
                self._finished = len(lines)
            lines += chain.from_iterable(drawn for _, drawn in parts[len(finished) :])
        self.lines = lines
        return bool(blocks) or self._layout is None


def _open_from(text: str, blocks: Sequence[SyntaxTreeNode]) -> int:
    """Return the index of the first block that more text may change.

    The lines that a block begins with decide what it is: two of them, for a table.
    """
    if len(blocks) < 2:
        return 0
    is_certain = text.count("\n", blocks[-1].meta["start"]) > 1
    return len(blocks) - (1 if is_certain else 2)
