"""The units of a tool's result: lines of a log, rows of a table, records of JSON, paragraphs.

A unit can be quoted separately. A table's header, the path of names to a record and the lines that
a block is indented under are included with it.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Any

_RULE = re.compile(r"[\s|:+=-]++")
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_INDENT = re.compile(r"[ \t]*")
_ABOVE = re.compile(r"Caused by:|\.\.\. \d+ more")
"""A line that continues the stack trace above it."""
_TRACEBACK = "Traceback (most recent call last)"
"""Python's first line; the line after the frames is the exception."""
_ENDS = re.compile(
    r"</(?:tr|p|li|[uo]l|div|h[1-6]|d[td]|pre|option|section|article)>|<br\s*+/?>"
    r"|(?<![.!?。！？])[.!?。！？]++[\"')\]]*+(?:\s++|(?<=[。！？]))|[;}\]],?+\s++|\},",
    re.IGNORECASE,
)
"""The end of a part of a long line: of an HTML block, a sentence, an item."""
_LONGEST_BLOCK = 480
"""Maximum characters of lines that form one unit; a longer block is split by indentation."""
_LONGEST_LINE = 1_200
_LEAST_PART, _LONGEST_PART = 60, 600
"""Minimum and maximum characters of the parts of a longer line."""
_LONGEST_RECORD = 600
_DEEPEST = 32
_NAMES = ("name", "id", "title", "key", "label")
"""The fields that can name a record of a list."""
_LONGEST_NAME = 60


@dataclass(frozen=True, slots=True)
class Units:
    texts: tuple[str, ...]
    """In order."""
    companions: tuple[tuple[int, ...], ...]
    """For each unit: the units included with it, such as the lines it is indented under."""
    header: str = ""
    """The text before any units that are taken; empty if there is none."""


def lines_of(text: str) -> list[str]:
    """Split at line feeds only, keeping them; joined, the lines are the text."""
    return _LINE.findall(text)


def units_of(text: str) -> Units:
    """Split a result into its units."""
    if records := _records_of(text):
        return Units(records, ((),) * len(records))
    lines = lines_of(text)
    header = _header(lines)
    splitter = _Splitter()
    for paragraph in _paragraphs(lines[header:]):
        splitter.add(paragraph, ())
    return Units(tuple(splitter.texts), tuple(splitter.companions), "".join(lines[:header]))


def _records_of(text: str) -> tuple[str, ...]:
    """List the records of a JSON text; of any other text, none."""
    stripped = text.strip()
    if stripped[:1] not in ("{", "["):
        return ()
    try:
        value = json.loads(stripped)
    except (ValueError, RecursionError):
        return ()
    return tuple(f"{record}\n" for record in _records(value, "", _DEEPEST))


def _records(value: Any, path: str, depth: int) -> Iterator[str]:  # noqa: ANN401  JSON
    """Walk a value: a small value is one record, a larger one is split."""
    whole = json.dumps(value, ensure_ascii=False)
    is_list = isinstance(value, list) and len(value) > 1
    is_root = not path and isinstance(value, dict)
    is_whole = len(whole) <= _LONGEST_RECORD and not is_list and not is_root
    if is_whole or not depth or not isinstance(value, dict | list):
        yield f"{path}: {whole}" if path else whole
    elif isinstance(value, dict):
        for name, each in value.items():
            yield from _records(each, f"{path}.{name}" if path else str(name), depth - 1)
    else:
        for number, each in enumerate(value):
            yield from _records(each, f"{path}[{number}{_name_in(each)}]", depth - 1)


def _name_in(record: Any) -> str:  # noqa: ANN401  JSON
    """Return the name of a record that is split, with a space before it; usually empty."""
    if not isinstance(record, dict) or len(json.dumps(record)) <= _LONGEST_RECORD:
        return ""
    within = (each for each in record.values() if isinstance(each, dict))
    for each in (record, *within):
        names = (each[name] for name in _NAMES if isinstance(each.get(name), str | int))
        if (name := next(names, None)) is not None and len(str(name)) <= _LONGEST_NAME:
            return f" {name}"
    return ""


def _header(lines: list[str]) -> int:
    """Return how many lines at the start name a table's columns; 0 if it is no table."""
    for place, (line, after) in enumerate(pairwise(lines[:8])):
        is_rule = "---" in after or "===" in after
        if line.strip() and is_rule and _RULE.fullmatch(after.strip()):
            return place + 2
    first = [line for line in lines[:12] if line.strip()]
    for mark in (",", ";", "\t", "|"):
        counts = {line.count(mark) for line in first}
        if len(first) > 2 and len(counts) == 1 and min(counts) > 0:
            return lines.index(first[0]) + 1
    columns = [len(re.split(r" {2,}|\t", line.strip())) for line in first]
    is_named = bool(first) and first[0].strip().upper() == first[0].strip()
    if is_named and len(columns) > 2 and len(set(columns)) == 1 and columns[0] > 1:
        return lines.index(first[0]) + 1
    return 0


def _paragraphs(lines: Sequence[str]) -> Iterator[list[str]]:
    """Yield the lines up to each blank one; indented lines after it belong to the paragraph."""
    paragraph: list[str] = []
    for line in lines:
        is_after_blank = bool(paragraph) and paragraph[-1].isspace()
        if is_after_blank and not line.isspace() and not _indent(line):
            yield paragraph
            paragraph = []
        paragraph.append(line)
    if paragraph:
        yield paragraph


class _Splitter:
    """Splits blocks of lines into units."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.companions: list[tuple[int, ...]] = []

    def add(self, lines: Sequence[str], above: tuple[int, ...], depth: int = _DEEPEST) -> None:
        """Add a block as one unit or, if it is long, split by its indentation."""
        is_small = len(lines) > 1 and sum(map(len, lines)) <= _LONGEST_BLOCK
        if is_small or not any(map(str.strip, lines)):
            self._unit("".join(lines), above)
        elif len(lines) == 1 or not depth:
            for part in chain.from_iterable(map(_parts, lines)):
                self._unit(part, above)
        else:
            least = min(map(_indent, filter(str.strip, lines)), default=0)
            is_under = _indent(lines[0]) > least
            for number, tree in enumerate(_trees(lines, least)):
                # the line that closes an indented block is quoted with the block's last line
                with_last = is_under and number == 1
                around = (*above, len(self.texts) - 1) if with_last else above
                self._tree(tree, around, least, depth - 1)

    def _tree(self, lines: Sequence[str], above: tuple[int, ...], least: int, depth: int) -> None:
        """Add a line with the lines that are indented under it."""
        is_small = len(lines) == 1 or sum(map(len, lines)) <= _LONGEST_BLOCK
        if is_small or _indent(lines[0]) > least:
            self.add(lines, above, depth)
        else:
            self._unit(lines[0], above)
            self.add(lines[1:], (*above, len(self.texts) - 1), depth)

    def _unit(self, text: str, above: tuple[int, ...]) -> None:
        self.texts.append(text)
        self.companions.append(above)


def _trees(lines: Sequence[str], least: int) -> Iterator[list[str]]:
    """Split lines at those of the least indentation, except those that continue a stack trace."""
    tree: list[str] = []
    for line in lines:
        is_first = not line.isspace() and _indent(line) <= least
        if is_first and tree and not _continues(tree, line):
            yield tree
            tree = []
        tree.append(line)
    if tree:
        yield tree


def _continues(tree: Sequence[str], line: str) -> bool:
    is_closing = tree[0].lstrip().startswith(_TRACEBACK) and _indent(tree[-1]) > _indent(tree[0])
    return is_closing or bool(_ABOVE.match(line.lstrip()))


def _indent(line: str) -> int:
    match = _INDENT.match(line)
    return match.end() if match else 0


def _parts(line: str) -> Iterator[str]:
    """Split a long line at sentences, items and HTML blocks; joined, the parts are the line."""
    if len(line) <= _LONGEST_LINE:
        yield line
        return
    start = 0
    for end in (*(match.end() for match in _ENDS.finditer(line)), len(line)):
        while end - start > _LONGEST_PART:
            space = line.rfind(" ", start + _LEAST_PART, start + _LONGEST_PART) + 1
            cut = space or start + _LONGEST_PART
            yield line[start:cut]
            start = cut
        if end - start >= _LEAST_PART or end == len(line):
            yield line[start:end]
            start = end
