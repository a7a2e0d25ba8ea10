"""Draws a text that grows: finished blocks are drawn once, the open one again each time."""

import re
from collections.abc import Sequence

from markdown_it.tree import SyntaxTreeNode

from jitchat.text.markdown.parse import parse
from jitchat.tui.render.look import Line, Look
from jitchat.tui.render.render import block_lines

_LOOKS_AHEAD = ("]:", "$", "\\[", "\\(")
"""With one of these in it, the end of a text may change what is before: a definition, a formula."""

_UNDECIDED = re.compile(r"\n[ \t>]*(?:-+|=+|`{1,2})[ \t]*\Z")
"""A line that may begin a list or code, or make a heading of the one above."""


class Growing:
    """The lines of a text. Once complete, they are exactly those that `render` returns."""

    def __init__(self) -> None:
        self._drawn: tuple[str, Look | None, bool] = "", None, False
        """What `lines` show."""
        self._start = 0
        """Where the first block begins that is not finished."""
        self._finished = 0
        """The lines of finished blocks, each with the blank line after it."""
        self.lines: list[Line] = []

    def draw(self, text: str, look: Look, *, is_complete: bool = False) -> list[Line]:
        """Draw a text, which usually is the one before with something added."""
        text = text if is_complete else _UNDECIDED.sub("", text)
        before, look_before, _ = self._drawn
        if (text, look, is_complete) == self._drawn:
            return self.lines
        is_same = look == look_before and text.startswith(before)
        if not is_same or (is_complete and any(mark in text for mark in _LOOKS_AHEAD)):
            self._start = self._finished = 0
        self._drawn = text, look, is_complete
        blocks = SyntaxTreeNode(parse(text, self._start)).children
        open_from = _open_from(text, blocks)
        finished = list(block_lines(blocks[:open_from], look))
        lines = [*self.lines[: self._finished], *finished]
        if open_from:
            lines.append([])
            self._start, self._finished = blocks[open_from].meta["start"], len(lines)
        self.lines = [*lines, *block_lines(blocks[open_from:], look)]
        return self.lines


def _open_from(text: str, blocks: Sequence[SyntaxTreeNode]) -> int:
    """Return the index of the first block that more text may change.

    The lines that a block begins with decide what it is: two of them, for a table.
    """
    if len(blocks) < 2:
        return 0
    is_certain = text.count("\n", blocks[-1].meta["start"]) > 1
    return len(blocks) - (1 if is_certain else 2)
