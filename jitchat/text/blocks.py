"""Split text into blocks that can be quoted by themselves.

A block is a paragraph, a list item, a table row or a fenced code block. A long paragraph is split
into blocks of whole sentences, a long code block into blocks of whole lines. Blocks are slices in
order and together make up the text; blank lines belong to the block before them.

A block brings the blocks that it cannot be read without: the heading above it, the line that
introduces its list ("The ports are:"), its table's header, both fences of its code. Runs in linear
time.
"""

import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from jitchat.text.sentences import cut_at_spaces, sentence_ends

LONG_PARAGRAPH = 400
"""Characters. A longer paragraph is split into groups of whole sentences."""
LONG_UNIT = 1_000
"""Characters. A longer list item or code block is split."""
_PART = 320
"""Maximum characters of a group of sentences or lines."""

_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})")
_HEADING = re.compile(r" {0,3}#{1,6}[ \t]+\S|\*\*[^*\n]{1,80}\*\*:?\s*$|__[^_\n]{1,80}__:?\s*$")
_ITEM = re.compile(r"([ \t]*)(?:[-*+•]|\d{1,3}[.)])[ \t]+\S")

_HTML_END = re.compile("</(?:tr|p|li|div|h[1-6]|dd|option|section|article)>", re.IGNORECASE)

_SPACE = re.compile(r"\s*+")


@dataclass(frozen=True, slots=True)
class Block:
    start: int
    end: int
    """The index after its last character and the blank lines that follow."""
    brings: tuple[int, ...] = ()
    """The numbers of the blocks that this one cannot be read without, ascending."""
    is_frame: bool = False
    """Whether it only frames other blocks: a heading, a fence, a table header."""


Span = tuple[int, int]


def blocks_of(text: str) -> tuple[Block, ...]:
    """Split `text` into blocks; blank text has none."""
    splitter = _Splitter(text)
    if text.strip():
        splitter.split()
    return tuple(splitter.blocks)


_TRACEBACK = "Traceback (most recent call last)"
"""Python's first line; the line after the frames is the exception."""


def records_of(text: str) -> tuple[Block, ...]:
    """Split data into blocks: the paragraphs, or the lines of a paragraph that is long.

    A line comes with the lines that are indented under it or, if they are long, they are blocks
    that bring it. All lines of a paragraph bring its first one, which can be a table's header.
    """
    lines = list(_lines(text))
    levels = list(_levels([text[slice(*line)] for line in lines]))
    ends = _ends_of_trees(levels)
    blocks: list[Block] = []
    above: list[tuple[float, int]] = []
    """(level, number) of the lines that the next one is under."""
    at = 0
    while at < len(lines):
        while above and above[-1][0] >= levels[at]:
            above.pop()
        brought = tuple(number for _, number in above)
        start, end = lines[at][0], lines[ends[at] - 1][1]
        if end - start > LONG_PARAGRAPH and ends[at] > at + 1:
            end = lines[at][1]
            above.append((levels[at], len(blocks)))
            at += 1
        else:
            at = ends[at]
        spans = _split(text, (start, end), LONG_PARAGRAPH)
        blocks += (Block(*span, brought) for span in spans)
    return tuple(blocks)


def _levels(lines: Iterable[str]) -> Iterator[float]:
    """Yield how deep each line is: 0 for the first one of a paragraph, more for indented ones.

    A blank line and the last one of a stack trace belong to the line before.
    """
    is_first = True
    trace = -1
    """The indent of an open stack trace; -1 if none is open."""
    for line in lines:
        indent = len(line) - len(line.lstrip())
        if line.isspace() or indent <= trace:
            yield math.inf
        else:
            yield 0 if is_first and not indent else indent + 1
        is_first = line.isspace()
        if line.startswith(_TRACEBACK, indent):
            trace = indent
        elif indent <= trace:
            trace = -1


def _ends_of_trees(levels: Sequence[float]) -> list[int]:
    """Return the index after the last line that is under each line."""
    ends = [len(levels)] * len(levels)
    open_lines: list[int] = []
    for number, level in enumerate(levels):
        while open_lines and levels[open_lines[-1]] >= level:
            ends[open_lines.pop()] = number
        open_lines.append(number)
    return ends


def headings(text: str) -> list[str]:
    """List the headings of `text`, in order, without their Markdown marks."""
    frames = (text[block.start : block.end] for block in blocks_of(text) if block.is_frame)
    return [frame.strip().strip("#*_: \t") for frame in frames if _HEADING.match(frame.lstrip())]


class _Splitter:
    def __init__(self, text: str) -> None:
        self._text = text
        self._lines = list(_lines(text))
        self._at = next((n for n in range(len(self._lines)) if not self._is_blank(n)), 0)
        """The line to read next."""
        self.blocks: list[Block] = []
        self._heading: tuple[int, ...] = ()
        self._announcers: list[tuple[int, int]] = []
        """(indent, number) of blocks that end with a colon and introduce the items after them."""

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
        """Take `count` lines, and the blank lines that follow."""
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
        """Return the block that introduces the next one, with the blocks that it brings."""
        if not self._announcers:
            return ()
        number = self._announcers[-1][1]
        return *self.blocks[number].brings, number

    def _note_announcer(self, indent: int) -> None:
        """Remember the last block if it introduces the blocks that follow."""
        block = self.blocks[-1]
        is_short = block.end - block.start <= LONG_PARAGRAPH
        if is_short and self._text[block.start : block.end].rstrip().rstrip("*_").endswith(":"):
            self._announcers.append((indent, len(self.blocks) - 1))

    def _paragraph(self) -> None:
        count = self._count_until(self._opens)
        is_next = bool(self._announcers) and self._announcers[-1][1] == len(self.blocks) - 1
        announced, span = self._announced() if is_next else (), self._take(count)
        for part in _split(self._text, span, LONG_PARAGRAPH):
            self._add(part, announced)
        self._announcers.clear()
        self._note_announcer(-1)

    def _count_until(self, is_end: Callable[[int], bool]) -> int:
        """Count the lines from the one to read next, at least one, to the line that is an end."""
        count = 1
        while self._at + count < len(self._lines) and not is_end(self._at + count):
            count += 1
        return count

    def _opens(self, number: int) -> bool:
        """Return whether a paragraph or an item ends before a line."""
        line = self._line(number)
        found = not line.strip() or _FENCE.match(line) or _HEADING.match(line) or _ITEM.match(line)
        return bool(found) or self._is_table(number)

    def _item(self, indent: int) -> None:
        while self._announcers and self._announcers[-1][0] >= indent:
            self._announcers.pop()
        count = self._count_until(self._opens)
        announced = self._announced()
        first, *others = _split(self._text, self._take(count), LONG_UNIT)
        beginning = self._add(first, announced)
        for part in others:
            self._add(part, (*announced, beginning))
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
        count = self._count_until(partial(self._closes, fence))
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


def _split(text: str, span: Span, longest: int) -> list[Span]:
    """Split a span longer than `longest` at the ends of sentences, or else of lines."""
    start, end = span
    if end - start <= longest:
        return [span]
    ends = [start + place for place in sentence_ends(text[start:end])]
    atoms = [atom for part in _between(text, span, ends) for atom in _bounded(text, part)]
    return list(_gathered(atoms, text))


def _bounded(text: str, span: Span) -> Iterator[Span]:
    """Split an overlong sentence at the ends of lines and of HTML blocks, then at spaces."""
    start, end = span
    if end - start <= LONG_PARAGRAPH:
        yield span
        return
    ends = [start + line[1] for line in _lines(text[start:end])]
    ends += [found.end() for found in _HTML_END.finditer(text, start, end)]
    for first, last in _between(text, span, sorted(ends)):
        yield from cut_at_spaces(text, first, last)


def _between(text: str, span: Span, ends: Sequence[int]) -> Iterator[Span]:
    """Split a span at `ends`; the white space after each end belongs to the part before it."""
    start, end = span
    stop = start
    for place in ends:
        if place <= stop:  # within white space that was skipped
            continue
        space = _SPACE.match(text, place, end)
        stop = space.end() if space else place
        if stop < end:
            yield start, stop
            start = stop
    yield start, end


def _gathered(atoms: Sequence[Span], text: str) -> Iterator[Span]:
    """Group consecutive sentences or lines, up to `_PART` characters each."""
    if not atoms:
        return
    start, end = atoms[0]
    for first, last in atoms[1:]:
        is_broken = "\n\n" in text[max(start, end - 2) : end] and end - start > _PART // 2
        if last - start > _PART or is_broken:
            yield start, end
            start = first
        end = last
    yield start, end
