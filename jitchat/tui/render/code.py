"""Blocks of code, highlighted in the language that they name."""

import re
from collections import deque
from collections.abc import Iterable, Iterator
from functools import lru_cache

from markdown_it.tree import SyntaxTreeNode
from rich.cells import cell_len
from textual.content import Span

from jitchat.tui.render.wrap import Line, Look, Piece, cells, cut, part, tokens, width_of, wrap

_MARGIN = 2
"""Cells to the left and right of code."""
_CONTINUES = "↳"
"""Stands to the left of what goes on from the line above."""
_SECTION = 2_000
"""Characters that are highlighted at a time. At the end of 30,000 characters of Python that grow, a
draw takes 60 ms, and 460 ms if all are highlighted again."""
_AHEAD = 400
"""Characters after a section that are highlighted with it, too, to compare."""
_TAB = re.compile(r"\t|[^\t]+")
_TAB_STOP = 8
_SPACE = re.compile(r"[^\S\n]")


def code_lines(node: SyntaxTreeNode, look: Look) -> Iterator[Line]:
    """Draw code on a ground of its own, with its language above it."""
    language = node.info.split()[0] if node.info else ""
    inner = look.narrower(2 * _MARGIN)
    has_ground = bool(look.style("block"))
    if language:
        info = Piece(node.info, look.style("block", "info"), node.meta["span"], copied="")
        yield from (_grounded(line, look) for line in _broken([info], inner))
    elif has_ground:
        yield _grounded([], look)
    spans = deque(_colours(node.content, language) if language else ())
    start = 0
    for text, place in zip(node.content.split("\n"), node.meta["starts"], strict=False):
        line = Piece(text, look.style("block"), (place, place + len(text)))
        broken = _broken(_coloured(line, spans, start, look), inner)
        yield _grounded(broken[0], look)
        yield from (_grounded(rest, look, _CONTINUES) for rest in broken[1:])
        start += len(text) + 1
    if has_ground:
        yield _grounded([], look)


def _grounded(line: Line, look: Look, mark: str = "") -> Line:
    after = max(0, look.width - _MARGIN - width_of(line))
    styles = ("block", "info") if mark else ("block",)
    margin = look.decoration(mark.ljust(min(_MARGIN, look.width)), *styles)
    return [margin, *line, look.decoration(" " * after, "block")]


def _broken(pieces: Iterable[Piece], look: Look) -> list[Line]:
    """Break one line of code into lines, or cut it off."""
    line = list(tabbed(cell for piece in pieces for cell in cells(piece)))
    if look.wraps_code:
        return wrap(line, look.width, by_words=False)
    return [cut(line, look.width, look.decoration("…", "block", "info"))]


def tabbed(pieces: Iterable[Piece]) -> Iterator[Piece]:
    """Yield pieces of one line with spaces in place of tabs."""
    column = 0
    for piece in pieces:
        if "\t" not in piece.text:
            column += cell_len(piece.text)
            yield piece
            continue
        for section in _TAB.finditer(piece.text):
            (cell,) = part([piece], *section.span())
            if section[0] == "\t":
                cell = cell._replace(text=" " * (_TAB_STOP - column % _TAB_STOP), copied="\t")
            column += width_of([cell])
            yield cell


def _coloured(line: Piece, spans: deque[Span], start: int, look: Look) -> Iterator[Piece]:
    """Cut a line, which starts at `start` in the code, where its colour changes."""
    at, end = start, start + len(line.text)
    origin = line.span[0] - start
    while at < end:
        while spans and spans[0].end <= at:
            spans.popleft()
        span = spans[0] if spans else Span(end, end, "")
        stop = min(end, span.start if at < span.start else span.end)
        style = line.style if at < span.start else look.style("block", str(span.style))
        yield Piece(line.text[at - start : stop - start], style, (origin + at, origin + stop))
        at = stop


def _colours(code: str, language: str) -> Iterator[Span]:
    """Highlight code by sections, so that of code that grows only the last one is read again.

    A section ends where what follows has colours, the same with the section and without it.
    """
    start = 0
    size = _SECTION
    while end := code.find("\n", start + size) + 1:
        if end + _AHEAD > len(code):
            break
        section = _highlighted(code[start : end + _AHEAD], language)
        inside = [span for span in section if span.end <= end - start]
        after = _highlighted(code[end : end + _AHEAD], language)
        if after and section == [*inside, *_moved(after, end - start)]:
            yield from _moved(inside, start)
            start = end
            size = _SECTION
        else:
            size *= 2
    yield from _moved(_highlighted(code[start:], language), start)


def _moved(spans: Iterable[Span], distance: int) -> Iterator[Span]:
    return (Span(start + distance, end + distance, style) for start, end, style in spans)


@lru_cache(maxsize=128)
def _highlighted(code: str, language: str) -> list[Span]:
    from pygments.token import string_to_tokentype  # noqa: PLC0415  not before there is code
    from textual.highlight import HighlightTheme, highlight  # noqa: PLC0415  likewise

    class Calm(HighlightTheme):
        STYLES = {  # noqa: RUF012  Textual's own shape
            string_to_tokentype(name): style for name, style in tokens()
        }

    same_length = _SPACE.sub(" ", code)
    content = highlight(same_length, language=language, theme=Calm)
    return [span for span in content.spans if span.style != "$text"]
