"""Turns inline tokens into cells, and breaks them into lines; how a reply looks.

This is where foreign text is made safe for the terminal. Lines break at spaces and between Chinese
and Japanese characters, not before their closing punctuation; a word longer than a line is broken.
"""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import accumulate, pairwise
from typing import NamedTuple

from markdown_it.tree import SyntaxTreeNode
from rich.cells import cell_len, get_character_cell_size
from textual.markup import parse_style
from textual.style import Style

from jitchat.text.expressions import packaged
from jitchat.text.sanitize import for_terminal


class Piece(NamedTuple):
    """Cells in one style."""

    text: str
    style: Style
    span: tuple[int, int] = (0, 0)
    """What it stands for in the source; empty for what only decorates."""
    link: str = ""
    """Address and title of the link that it belongs to."""
    copied: str | None = None
    """What is copied for it, if it is not its text."""

    @property
    def is_literal(self) -> bool:
        """Whether each of its characters stands for one of the source."""
        start, end = self.span
        return self.copied is None and len(self.text) == end - start


Line = Sequence[Piece]
Parts = list[tuple[int, list[Line]]]
"""The lines of items or rows, each with its start in the text."""


class Layout(NamedTuple):
    """What the items of a list or the rows of a table have in common."""

    sizes: Sequence[tuple[int, int]]
    """Of each column, the cells of its longest word and line."""
    widths: Sequence[int] | None
    """Of columns or markers; None for records."""
    is_spread: bool
    """Whether something is between any two parts."""

    @property
    def shape(self) -> tuple[object, ...]:
        """What the lines of each part depend on."""
        return self.widths, self.is_spread, len(self.sizes)


@dataclass(frozen=True, slots=True)
class Theme:
    name: str
    is_dark: bool
    is_ansi: bool
    variables: Mapping[str, str] = field(repr=False, hash=False)


_STYLES = "styles.toml"


def tokens() -> Iterable[tuple[str, str]]:
    """Yield kinds of tokens in code, as Pygments names them, with their styles."""
    styles: dict[str, str] = packaged(__package__, _STYLES)["tokens"]
    return styles.items()


@cache
def _style(theme: Theme, names: tuple[str, ...]) -> Style:
    styles, differing = packaged(__package__, _STYLES), "terminal" if theme.is_ansi else "light"
    changed = {} if theme.is_dark and not theme.is_ansi else styles[differing]
    written = (changed.get(name, styles.get(name, name)) for name in names)
    parsed = [parse_style(style, dict(theme.variables)) for style in written]
    return sum(parsed, start=Style())


@dataclass(frozen=True, slots=True)
class Look:
    width: int
    """Cells."""
    theme: Theme
    wraps_code: bool = True
    """Whether lines of code that are too long go on in the next line, or end with `…`."""
    depth: int = 0
    """Of lists around what is drawn."""

    def style(self, *names: str) -> Style:
        """Combine styles named in `styles.toml`, or written as Textual writes styles."""
        return _style(self.theme, names)

    def narrower(self, cells: int, deeper: int = 0) -> "Look":
        return replace(self, width=max(1, self.width - cells), depth=self.depth + deeper)

    def decoration(self, text: str, *names: str) -> Piece:
        return Piece(text, self.style(*names))


_WIDE = "\u2e80-\ua4cf\uf900-\ufaff\ufe30-\ufe4f\uff01-\uff60\U00020000-\U0003ffff"
_OPENING, _CLOSING = "「『（【《〈〔［｛", "、。，．・：；？！」』）】》〉〕］｝ー…々％"
_ATOM = re.compile(rf"\n| +|[{_OPENING}]*[{_WIDE}][{_CLOSING}]*|[^ \n{_WIDE}]+")
_JOINER = "\u200d"
_PICTURE = "🖼 "


def cells(piece: Piece) -> Iterator[Piece]:
    """Yield the same as pieces that are safe for a terminal; what is copied stays as it was."""
    shown = for_terminal(piece.text).cells
    if shown == piece.text:
        yield piece
    elif piece.is_literal and len(piece.text) > 1:
        for place, character in enumerate(piece.text, start=piece.span[0]):
            yield from cells(piece._replace(text=character, span=(place, place + 1)))
    else:
        copied = piece.text if piece.copied is None else piece.copied
        yield piece._replace(text=shown, copied=copied)


def prose(
    nodes: Sequence[SyntaxTreeNode], look: Look, *names: str, link: str = ""
) -> Iterator[Piece]:
    """Yield the cells of inline tokens."""
    for node in nodes:
        if node.type in ("link", "image"):
            yield from _linked(node, look, *names)
        elif node.nester_tokens:
            more = () if node.tag in names else (node.tag,)
            yield from prose(node.children, look, *names, *more, link=link)
        else:
            name = "math" if node.meta.get("is_math") else node.tag if node.tag == "code" else ""
            style, span = look.style(*names, name), node.meta["span"]
            text = node.content.replace("\t", " ")
            if node.type in ("softbreak", "hardbreak"):
                yield Piece("", style, span, copied="\n")
                text, span = "\n", (0, 0)
            yield from cells(Piece(text, style, span, link, node.meta.get("copied")))


def _linked(node: SyntaxTreeNode, look: Look, *names: str) -> Iterator[Piece]:
    """Yield the text of a link or picture, and nothing that is seen for what it hides.

    Without a text, the address is shown.
    """
    attributes = node.attrs
    title = f' "{attributes["title"]}"' if "title" in attributes else ""
    link = f"{attributes.get('href', attributes.get('src', ''))}{title}"
    style = look.style(*names, "a")
    closing = node.nester_tokens.closing if node.nester_tokens else None
    start, end = closing.meta["span"] if closing else (node.meta["inside"], node.meta["span"][1])
    if node.type == "image":
        yield Piece(_PICTURE, style, link=link)
    yield from prose(node.children, look, *names, "a", link=link)
    if not node.children:
        yield from cells(Piece(link, style, (start, end), link))
    elif end - start > 1:  # more than the bracket of an address
        yield Piece("", style, (start, end), link, copied=f" ({link})")


def wrap(line: Line, width: int, *, by_words: bool = True, is_indented: bool = False) -> list[Line]:
    """Break a line into lines of at most `width` cells; spaces at their ends are only copied.

    Those at the beginning of all are drawn if it is indented.
    """
    text = "".join(piece.text for piece in line)
    ends = list(accumulate((len(piece.text) for piece in line), initial=0))
    lines: list[Line] = []
    for start, after in pairwise((*_starts(text, width, by_words), len(text))):
        index = max(0, bisect_left(ends, start) - 1)
        rest, offset = line[index:], ends[index]
        shown = text[start:after].rstrip(" \n") if by_words else text[start:after]
        end = start + len(shown)
        keeps_start = not by_words or (is_indented and not start)
        first = start if keeps_start else end - len(shown.lstrip(" "))
        spaces = part(rest, end - offset, after - offset) if end < after else ()
        copied = (
            space._replace(text="", copied=space.copied or " ") if space.text else space
            for space in spaces
        )
        lines.append([*part(rest, first - offset, end - offset), *copied])
    return lines


def _starts(text: str, width: int, by_words: bool) -> Iterator[int]:
    """Yield where each line starts."""
    yield 0
    used = 0
    for atom in _ATOM.finditer(text) if by_words else re.finditer(r"[\s\S]+", text):
        length = cell_len(atom[0])
        if atom[0] == "\n":
            yield atom.end()
            used = 0
        elif used + length <= width or (by_words and atom[0].isspace()):
            used += length
        else:
            if used and (length <= width or used > width // 2):
                yield atom.start()
                used = 0
            for place, size in _clusters(text, *atom.span()):
                if used and used + size > width:
                    yield place
                    used = 0
                used += size


def _clusters(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield where each character begins, with its marks and whatever is joined to it; its cells."""
    first = start
    for place in range(start + 1, end + 1):
        is_joined = place < end and (
            _JOINER in text[place - 1 : place + 1] or not get_character_cell_size(text[place])
        )
        if not is_joined:
            yield first, cell_len(text[first:place])
            first = place


def part(line: Line, start: int, end: int) -> Line:
    """Cut out some characters of a line."""
    pieces: list[Piece] = []
    column = 0
    for piece in line:
        if column > end:
            break
        left, right = max(start - column, 0), min(end - column, len(piece.text))
        is_empty = not piece.text and (start < column <= end or column == start in (0, end))
        if left < right or is_empty:
            pieces.append(_slice(piece, left, right))
        column += len(piece.text)
    return pieces


def _slice(piece: Piece, left: int, right: int) -> Piece:
    if right - left == len(piece.text):
        return piece
    text = piece.text[left:right]
    start, end = piece.span
    span = (start + left, start + right) if piece.is_literal else (start, end)
    return piece._replace(
        text=text, span=span, copied="" if left and piece.copied else piece.copied
    )


def cut(line: Line, width: int, mark: Piece) -> Line:
    """Cut off a line that is too long, and put a mark at its end."""
    if width_of(line) <= width:
        return line
    return [*wrap(line, width - 1, by_words=False)[0], mark]


def measure(line: Line) -> tuple[int, int]:
    """Return the cells of the longest word and of the longest line."""
    text = "".join(piece.text for piece in line)
    longest_line = max(cell_len(part) for part in text.split("\n"))
    return max((cell_len(word) for word in _ATOM.findall(text)), default=1), longest_line or 1


def width_of(line: Line) -> int:
    """Return the cells of a line."""
    return sum(cell_len(piece.text) for piece in line)
