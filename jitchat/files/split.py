"""Splits the text of a file into parts, at its structure.

A part has about `PART` bytes of UTF-8, so that Chinese, where a character can be a token, gets a
third of the characters of English. Parts begin at a heading, function, paragraph or row; only a
block that is far longer is split elsewhere. Nothing is lost: the parts' texts add up to the whole.
"""

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from io import StringIO
from itertools import pairwise

from jitchat.attachments import Part
from jitchat.text.sanitize import shorten

PART = 1_600
"""Bytes of a part: about 400 tokens, so that `jit` can recall several."""
_LONGEST = 2 * PART
"""Bytes. A longer line is split anywhere: it was not written by hand."""
_LONGEST_NAME = 80
"""Characters of a title or of a sheet's name, which each part of a section or sheet repeats."""
_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(\S.*)")
_FENCE = re.compile(r"\s*(```|~~~)")
_CLOSES = (")", "]", "}", "end", "</")
"""An unindented line that begins like this belongs to the block above."""


@dataclass(frozen=True, slots=True)
class _Block:
    """Consecutive lines that are kept together."""

    first: int
    """The number of the first line, from 1."""
    lines: list[str]

    @property
    def size(self) -> int:
        return sum(map(_size, self.lines))

    @property
    def last(self) -> int:
        return self.first + len(self.lines) - 1


def split_lines(text: str, first: int = 1) -> tuple[Part, ...]:
    """Split text or code at unindented lines after a blank line, otherwise at blank lines.

    `first` is the number of the first line.
    """
    if _size(text) <= PART:
        return (Part("", text),)
    return tuple(
        part
        for block in _merged(_finer(_Block(first, lines_of(text))))
        for part in _pieces(f"lines {_span(block)}", "".join(block.lines))
    )


def split_markdown(text: str) -> tuple[Part, ...]:
    """Split at headings; a long section is split like text."""
    made = list[Part]()
    for title, section in _sections(lines_of(text)):
        blocks = list(_merged(_finer(section))) if section.size > 2 * PART else [section]
        where = f"§ {title}" if title else "beginning"
        for block in blocks:
            locator = f"{where}, lines {_span(block)}" if len(blocks) > 1 else where
            made += _pieces(locator, "".join(block.lines))
    return (Part("", text),) if _size(text) <= PART else tuple(made)


def split_table(text: str, sheet: str = "") -> tuple[Part, ...]:
    """Split comma-separated rows into groups; each has the header as its context."""
    sheet = shorten(sheet, _LONGEST_NAME)
    starts = list(_row_starts(text))
    ends = [*starts[1:], len(text)]
    if not starts:
        return ()
    head, made, begin, size = text[starts[0] : ends[0]], list[Part](), 0, 0
    for row, end in enumerate(ends):
        is_last = row == len(ends) - 1
        size += _size(text[starts[row] : end])
        if is_last or size + _size(text[end : ends[row + 1]]) > PART:
            locator = f"{sheet} rows {begin + 1}–{row + 1}".lstrip()
            piece = text[starts[begin] : end]
            made += [
                Part(part.locator, part.text, head if begin and _size(head) < PART // 2 else "")
                for part in _pieces(locator, piece)
            ]
            begin, size = row + 1, 0
    return (Part(sheet, text),) if len(made) == 1 else tuple(made)


def split_pages(pages: Iterable[str], name: str = "p. {}") -> tuple[Part, ...]:
    """Make a part of each page with text; a long page is split further."""
    made = list[Part]()
    for number, page in enumerate(pages, 1):
        text = page.strip()
        if text:
            blocks = _merged(_finer(_Block(1, lines_of(f"{text}\n"))))
            for block in blocks:
                made += _pieces(name.format(number), "".join(block.lines))
    return tuple(made)


def _span(block: _Block) -> str:
    return f"{block.first}–{block.last}" if block.last > block.first else str(block.first)


def _sections(lines: Sequence[str]) -> Iterator[tuple[str, _Block]]:
    """Yield each heading with its lines; a heading without text is joined to the next."""
    title, start, has_text, is_fenced = "", 0, False, False
    for number, line in enumerate(lines):
        is_fenced ^= bool(_FENCE.match(line))
        heading = None if is_fenced else _HEADING.match(line)
        if heading is None:
            has_text |= not line.isspace()
            continue
        if has_text:
            yield title, _Block(start + 1, list(lines[start:number]))
            start, has_text = number, False
        title = _title(heading[2])
    if lines[start:]:
        yield title, _Block(start + 1, list(lines[start:]))


def _title(heading: str) -> str:
    """Shorten a heading without its closing number signs: `Install ##`."""
    title = heading.rstrip()
    bare = title.rstrip("#")
    return shorten(bare.rstrip() if bare[-1:].isspace() or not bare else title, _LONGEST_NAME)


def _finer(block: _Block) -> Iterator[_Block]:
    """Split a long block at unindented lines, then at blank lines, then anywhere."""
    if block.size <= PART:
        yield block
        return
    for begins in (_begins_at_margin, _is_behind_blank, _is_any):
        starts = [0, *(at for at in range(1, len(block.lines)) if begins(block.lines, at))]
        if len(starts) > 1:
            for start, end in pairwise((*starts, len(block.lines))):
                piece = _Block(block.first + start, block.lines[start:end])
                yield from _finer(piece) if begins is not _is_any else (piece,)
            return
    yield block


def _merged(blocks: Iterable[_Block]) -> Iterator[_Block]:
    """Join neighbouring blocks while they fit into one part."""
    held: _Block | None = None
    for block in blocks:
        if held is not None and held.size + block.size <= PART:
            held = _Block(held.first, held.lines + block.lines)
            continue
        if held is not None:
            yield held
        held = block
    if held is not None:
        yield held


def _is_behind_blank(lines: Sequence[str], at: int) -> bool:
    return bool(lines[at].strip()) and not lines[at - 1].strip()


def _begins_at_margin(lines: Sequence[str], at: int) -> bool:
    line = lines[at]
    is_indented = line[:1].isspace()
    return _is_behind_blank(lines, at) and not is_indented and not line.startswith(_CLOSES)


def _is_any(lines: Sequence[str], at: int) -> bool:  # noqa: ARG001  the signature of all splitters
    return True


def _pieces(locator: str, text: str) -> Iterator[Part]:
    """Make one part, or several if there are no lines to split at."""
    size = _size(text)
    if size <= _LONGEST:
        yield Part(locator, text)
        return
    step = max(1, PART * len(text) // size)
    for number, start in enumerate(range(0, len(text), step), 1):
        yield Part(f"{locator}, piece {number}", text[start : start + step])


def _size(text: str) -> int:
    return len(text.encode())


def _row_starts(text: str) -> Iterator[int]:
    """Return the offsets of a table's rows; quoted fields may contain line feeds.

    Raises:
        csv.Error: It is not a table.

    """
    lines = lines_of(text)
    reader, at, read = csv.reader(lines), 0, 0
    for _ in reader:
        yield at
        at += sum(map(len, lines[read : reader.line_num]))
        read = reader.line_num


def lines_of(text: str) -> list[str]:
    """Split at line feeds only, keeping them; other separators are part of a line."""
    return list(StringIO(text))
