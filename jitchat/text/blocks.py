"""Splitting text into the parts that can be quoted by themselves.

A block is a paragraph, a list item, a row of a table or a fenced code block; of a paragraph that
is long, some of its sentences, of a long code block, some whole lines. Blocks are slices, in
order, and together they are the text: blank lines belong to the block ahead of them.

What a block cannot be read without, it brings: the heading above it, the line that announces a
list ("The ports are:"), the header of its table, both fences of its code. Time grows linearly with
the text.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from jitchat.text.sentences import LONGEST, sentence_ends

LONG_PARAGRAPH = 400
"""Characters. A longer paragraph becomes pieces of whole sentences."""
LONG_UNIT = 1_000
"""Characters up to which a list item and a code block stay whole."""
_PIECE = 320
"""Characters up to which sentences or lines are gathered."""

_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})")
_HEADING = re.compile(r" {0,3}#{1,6}[ \t]+\S|\*\*[^*\n]{1,80}\*\*:?\s*$|__[^_\n]{1,80}__:?\s*$")
_ITEM = re.compile(r"([ \t]*)(?:[-*+•]|\d{1,3}[.)])[ \t]+\S")

_SPACE = re.compile(r"\s*+")


@dataclass(frozen=True, slots=True)
class Block:
    start: int
    end: int
    """Behind its last character, and the blank lines after it."""
    brings: tuple[int, ...] = ()
    """The numbers of the blocks that it cannot be read without, ascending."""
    is_frame: bool = False
    """Whether it only frames others: a heading, a fence, the header of a table."""


Span = tuple[int, int]


def blocks_of(text: str) -> tuple[Block, ...]:
    """Split `text`; where it is blank there is no block."""
    splitter = _Splitter(text)
    if text.strip():
        splitter.split()
    return tuple(splitter.blocks)


def headings(text: str) -> list[str]:
    """List the headings of `text`, in order, without their marks."""
    frames = (text[block.start : block.end] for block in blocks_of(text) if block.is_frame)
    return [frame.strip().strip("#*_: \t") for frame in frames if _HEADING.match(frame.lstrip())]


class _Splitter:
    def __init__(self, text: str) -> None:
        self._text = text
        self._lines = list(_lines(text))
        self._at = next((n for n in range(len(self._lines)) if not self._is_blank(n)), 0)
        """The line that is read next."""
        self.blocks: list[Block] = []
        self._heading: tuple[int, ...] = ()
        self._announcers: list[tuple[int, int]] = []
        """(indent, number) of blocks that end with a colon; the items behind belong to them."""

    def split(self) -> None:
        while self._at < len(self._lines):
            line = self._line(self._at)
            if fence := _FENCE.match(line):
                self._code(fence[1])
            elif self._is_table(self._at):
                self._table()
            elif _HEADING.match(line):
                self._announcers.clear()
                self._heading = ()
                self._heading = (self._add(self._take(1), is_frame=True),)
            elif item := _ITEM.match(line):
                self._item(len(item[1].expandtabs()))
            else:
                self._paragraph()

    def _line(self, number: int) -> str:
        return self._text[slice(*self._lines[number])]

    def _is_blank(self, number: int) -> bool:
        return not self._line(number).strip()

    def _is_table(self, number: int) -> bool:
        if number + 1 >= len(self._lines) or "|" not in self._line(number):
            return False
        rule = self._line(number + 1).strip()
        return "|" in rule and "-" in rule and not rule.strip("|:- \t")

    def _take(self, count: int) -> Span:
        """Take so many lines, and the blank ones that follow."""
        start, last = self._lines[self._at][0], self._at + count
        while last < len(self._lines) and self._is_blank(last):
            last += 1
        self._at = last
        # blank lines at the very beginning belong to the first block
        return start if self.blocks else 0, self._lines[last - 1][1]

    def _add(self, span: Span, brings: Sequence[int] = (), *, is_frame: bool = False) -> int:
        brought = set(brings) | set(self._heading)
        self.blocks.append(Block(*span, tuple(sorted(brought)), is_frame))
        return len(self.blocks) - 1

    def _announced(self) -> tuple[int, ...]:
        """Name the block that announces the next one, and what it brings itself."""
        if not self._announcers:
            return ()
        number = self._announcers[-1][1]
        return *self.blocks[number].brings, number

    def _note_announcer(self, indent: int) -> None:
        """Remember the last block if it announces what follows."""
        block = self.blocks[-1]
        is_short = block.end - block.start <= LONG_PARAGRAPH
        if is_short and self._text[block.start : block.end].rstrip().rstrip("*_").endswith(":"):
            self._announcers.append((indent, len(self.blocks) - 1))

    def _paragraph(self) -> None:
        count = 1
        while self._at + count < len(self._lines) and not self._opens(self._at + count):
            count += 1
        is_next = bool(self._announcers) and self._announcers[-1][1] == len(self.blocks) - 1
        announced, span = self._announced() if is_next else (), self._take(count)
        for piece in _pieces(self._text, span, LONG_PARAGRAPH):
            self._add(piece, announced)
        self._announcers.clear()
        self._note_announcer(-1)

    def _opens(self, number: int) -> bool:
        """Whether a paragraph or an item ends ahead of a line."""
        line = self._line(number)
        found = not line.strip() or _FENCE.match(line) or _HEADING.match(line) or _ITEM.match(line)
        return bool(found) or self._is_table(number)

    def _item(self, indent: int) -> None:
        while self._announcers and self._announcers[-1][0] >= indent:
            self._announcers.pop()
        count = 1
        while self._at + count < len(self._lines) and not self._opens(self._at + count):
            count += 1
        announced = self._announced()
        first, *others = _pieces(self._text, self._take(count), LONG_UNIT)
        beginning = self._add(first, announced)
        for piece in others:
            self._add(piece, (*announced, beginning))
        self._note_announcer(indent)

    def _table(self) -> None:
        announced, span = self._announced(), self._take(2)
        header = self._add(span, announced, is_frame=True)
        while self._at < len(self._lines) and "|" in self._line(self._at):
            self._add(self._take(1), (*announced, header))

    def _closes(self, fence: str, number: int) -> bool:
        line = self._line(number).strip()
        return line.startswith(fence) and not line.strip(fence[0])

    def _code(self, fence: str) -> None:
        count = 1
        while self._at + count < len(self._lines) and not self._closes(fence, self._at + count):
            count += 1
        is_closed = self._at + count < len(self._lines)
        announced, lines = self._announced(), self._lines[self._at : self._at + count + is_closed]
        start, end = self._take(len(lines))
        if end - start <= LONG_UNIT:
            self._add((start, end), announced)
            return
        opening = self._add((start, lines[0][1]), announced, is_frame=True)
        parts = list(_gathered(lines[1 : len(lines) - is_closed], self._text))
        closing = len(self.blocks) + len(parts)
        around = (*announced, opening, *([closing] if is_closed else []))
        if parts and not is_closed:
            parts[-1] = parts[-1][0], end
        for part in parts:
            self._add(part, around)
        if is_closed:
            self._add((lines[-1][0], end), (*announced, opening), is_frame=True)


def _lines(text: str) -> Iterator[Span]:
    start = 0
    for line in text.splitlines(keepends=True):
        yield start, start + len(line)
        start += len(line)


def _pieces(text: str, span: Span, longest: int) -> list[Span]:
    """Divide a span that is longer than `longest` at the ends of sentences, else of lines."""
    start, end = span
    if end - start <= longest:
        return [span]
    ends = [start + place for place in sentence_ends(text[start:end])]
    atoms = [atom for part in _between(text, span, ends) for atom in _bounded(text, part)]
    return list(_gathered(atoms, text))


def _bounded(text: str, span: Span) -> Iterator[Span]:
    """Divide what is too long for a sentence at line ends, and what is too long for a line."""
    start, end = span
    if end - start <= LONG_PARAGRAPH:
        yield span
        return
    ends = [start + line[1] for line in _lines(text[start:end])]
    for first, last in _between(text, span, ends):
        at = first
        while last - at > LONGEST:
            blank = text.rfind(" ", at + LONGEST // 2, at + LONGEST)
            cut = blank + 1 or at + LONGEST
            yield at, cut
            at = cut
        yield at, last


def _between(text: str, span: Span, ends: Sequence[int]) -> Iterator[Span]:
    """Divide a span at `ends`; the white space behind each belongs to what is ahead of it."""
    start, end = span
    for place in ends:
        if place <= start:  # within white space that was passed
            continue
        space = _SPACE.match(text, place, end)
        stop = space.end() if space else place
        if stop >= end:
            break
        yield start, stop
        start = stop
    yield start, end


def _gathered(atoms: Sequence[Span], text: str) -> Iterator[Span]:
    """Put sentences or lines that follow each other together, up to the size of a piece."""
    start = end = None
    for first, last in atoms:
        if start is None or end is None:
            start, end = first, last
            continue
        is_broken = "\n\n" in text[max(start, end - 2) : end] and end - start > _PIECE // 2
        if last - start > _PIECE or is_broken:
            yield start, end
            start = first
        end = last
    if start is not None and end is not None:
        yield start, end
