"""Draws a reply: a text and a look give lines of styled pieces with their offsets in the text."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from markdown_it.tree import SyntaxTreeNode

from jitchat.text.markdown.parse import parse
from jitchat.tui.render.code import code_lines
from jitchat.tui.render.tables import row_parts
from jitchat.tui.render.wrap import Layout, Line, Look, Parts, Piece, prose, width_of, wrap

_LOOKS_AHEAD = ("]:", "$", "\\[", "\\(")
"""With one of these in it, the end of a text may change what is before: a definition, a formula."""

_UNDECIDED = re.compile(r"\n[ \t>]*(?:-+|=+|`{1,2})[ \t]*\Z")
"""A line that may begin a list or code, or make a heading of the one above."""


_OPEN_PARTS = 2
"""Items, rows or lines at the end that more text may change, or what is between them."""

_SIGN, _WORD = re.compile(r"[*_`\[<$\\~|]"), re.compile("[A-Za-z]{2}")
"""What later text may pair with, and what begins nothing but a paragraph."""


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
        self._shape: tuple[object, ...] = ()
        """Of the block with finished parts, and of the layout in which all its parts are drawn."""
        self._certain: Layout | None = None
        """The layout of finished parts alone."""
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
            elif self._shape and (node.type, layout.shape) != self._shape:
                return False
            if number and number == open_from:
                self._begin(node.meta["start"], len(lines))
            finished: Parts = []
            if number == open_from == len(blocks) - 1:
                finished, parts = _divided(node, parts, text)
            lines += chain.from_iterable(drawn for _, drawn in finished)
            if finished:
                self._finish(node, parts[0][0], text, look)
                self._shape = node.type, layout.shape
                self._finished = len(lines)
            lines += chain.from_iterable(drawn for _, drawn in parts)
        self.lines = lines
        return bool(blocks) or not self._shape

    def _finish(self, node: SyntaxTreeNode, start: int, text: str, look: Look) -> None:
        """Note that all of a block before an offset is finished."""
        if node.type != "paragraph":
            begun = SyntaxTreeNode(parse(text[: text.index("\n", start)], *self._rest))
            self._certain, _ = parts_of(begun.children[0], look, self._certain)
        self._rest = (self._start, start) if node.type == "table" else (start,)


def _open_from(text: str, blocks: Sequence[SyntaxTreeNode]) -> int:
    """Return the index of the first block that more text may change.

    The lines that a block begins with decide what it is: two of them, for a table. One that begins
    with a word goes on with no block above it.
    """
    if len(blocks) < 2:
        return 0
    start = blocks[-1].meta["start"]
    is_certain = text.count("\n", start) > 1 or _WORD.match(text, start) is not None
    return len(blocks) - (1 if is_certain else 2)


def _divided(node: SyntaxTreeNode, parts: Parts, text: str) -> tuple[Parts, Parts]:
    """Return the parts of an open block that are finished, and those that more text may change."""
    if node.type == "paragraph":
        return _divided_paragraph(node, *parts[0], text)
    is_long = len(parts) > _OPEN_PARTS + 1  # of a table, more than the header is finished
    finished = parts[:-_OPEN_PARTS] if is_long else []
    return finished, parts[len(finished) :]


def _divided_paragraph(
    node: SyntaxTreeNode, first: int, lines: list[Line], text: str
) -> tuple[Parts, Parts]:
    """Divide a paragraph where one of its last lines begins with a word, and nothing is open.

    So what follows is read on its own as it is in the paragraph.
    """
    texts = [each for each in node.walk() if each.type == "text"]
    signs = (each.meta["span"][0] for each in texts if _SIGN.search(each.content))
    open_from = next(signs, len(text))
    spans = [each.meta["span"] for each in texts if each.parent is node.children[0]]
    for number in range(len(lines) - _OPEN_PARTS, 0, -1):
        ends = [piece.span[1] for piece in lines[number - 1][-1:]]
        starts = [piece.span[0] for piece in lines[number][:1]]
        at = starts[0] if starts == ends else 0
        is_outermost = any(start < at < end for start, end in spans)
        is_word = text[at - 1] == " " and _WORD.match(text, at)
        if at <= open_from and is_outermost and is_word:
            return [(first, lines[:number])], [(at, lines[number:])]
    return [], [(first, lines)]


_BULLETS = "•◦▪"
_QUOTED = "▌ "


def render(text: str, look: Look) -> list[Line]:
    """Draw a Markdown text in lines of at most the look's width."""
    return list(block_lines(SyntaxTreeNode(parse(text)).children, look))


def block_lines(
    nodes: Sequence[SyntaxTreeNode], look: Look, *, is_tight: bool = False
) -> Iterator[Line]:
    for number, node in enumerate(nodes):
        if number and not is_tight:
            yield []
        yield from _lines(node, look)


def _lines(node: SyntaxTreeNode, look: Look) -> Iterable[Line]:
    match node.type:
        case "fence" | "code_block":
            return code_lines(node, look)
        case "blockquote":
            bar = [look.decoration(_QUOTED, "rule")]
            return _behind(bar, bar, node, look)
        case "bullet_list" | "ordered_list" | "table":
            return chain.from_iterable(lines for _, lines in parts_of(node, look)[1])
        case "hr":
            return [[look.decoration("─" * look.width, "rule")]]
    return wrap(list(prose(node.children[0].children, look, node.tag)), look.width)


def _behind(
    first: Line, others: Line, node: SyntaxTreeNode, look: Look, *, is_tight: bool = False
) -> Iterator[Line]:
    """Draw blocks behind a marker."""
    inner = look.narrower(width_of(first))
    before = first
    for line in block_lines(node.children, inner, is_tight=is_tight):
        yield [*before, *line]
        before = others
    if before is first and not node.children:
        yield first


def parts_of(node: SyntaxTreeNode, look: Look, drawn: Layout | None = None) -> tuple[Layout, Parts]:
    """Draw the items of a list, the rows of a table, or any other block as one part.

    `drawn` is the layout of parts that were drawn already and, but for a header, are not in `node`.
    """
    match node.type:
        case "table":
            return row_parts(node, look, drawn)
        case "bullet_list" | "ordered_list":
            return _item_parts(node, look, drawn)
    return Layout((), (), is_spread=False), [(node.meta["start"], list(_lines(node, look)))]


def _item_parts(node: SyntaxTreeNode, look: Look, drawn: Layout | None) -> tuple[Layout, Parts]:
    bullet = _BULLETS[min(look.depth, len(_BULLETS) - 1)] if node.type == "bullet_list" else ""
    blocks = [block for item in node.children for block in item.children]
    is_loose = any(block.type == "paragraph" and not block.hidden for block in blocks)
    widest = max(len(bullet or item.content) for item in node.children)
    if drawn is not None and drawn.widths:
        is_loose |= drawn.is_spread
        widest = max(widest, *drawn.widths)
    inner = look.narrower(0, deeper=1)
    parts: Parts = []
    for item in node.children:
        text, style = bullet or item.content, look.style("marker")
        marker = Piece(text, style, item.meta["span"], copied=item.meta["copied"])
        before = look.decoration(" " * (widest - len(text)))
        first = [before, marker, look.decoration(" ")]
        rest = [look.decoration(" " * (widest + 1))]
        blank: list[Line] = [[]] if is_loose and (parts or drawn) else []
        lines = _behind(first, rest, item, inner, is_tight=not is_loose)
        parts.append((item.meta["start"], [*blank, *lines]))
    return Layout((), [widest], is_loose), parts
