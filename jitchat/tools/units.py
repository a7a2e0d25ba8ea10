"""What a tool's result consists of: lines of a log, rows of a table, records of JSON, paragraphs.

A unit can be quoted by itself. The header of a table and the names on the way to a record go along
with whatever is taken of it.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

_CONTINUED = re.compile(r"[ \t]+\S|\t|Caused by:|\.\.\. \d+ more")
"""A line that goes on with the one above it: of a stack trace, or of an indented block."""
_RULE = re.compile(r"[\s|:+=-]++")
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_LONGEST_UNIT = 1_200
"""Characters; a longer run of lines is parted at a line."""
_LONGEST_RECORD = 600
_DEEPEST = 32


@dataclass(frozen=True, slots=True)
class Units:
    texts: tuple[str, ...]
    """In order; each ends with a line feed."""
    header: str = ""
    """What stands ahead of whatever is taken; empty for none."""


def lines_of(text: str) -> list[str]:
    """Split at line feeds alone, which stay; joined, the lines are the text."""
    return _LINE.findall(text)


def units_of(text: str) -> Units:
    """Split a result into its units."""
    stripped = text.strip()
    if stripped[:1] in ("{", "["):
        try:
            value = json.loads(stripped)
        except (ValueError, RecursionError):
            value = None
        if value is not None and (records := list(_records(value, "", _DEEPEST))):
            return Units(tuple(f"{record}\n" for record in records))
    lines = lines_of(text)
    header = _header(lines)
    return Units(tuple(_runs(lines[header:])), "".join(lines[:header]))


def _records(value: Any, path: str, depth: int) -> Iterator[str]:  # noqa: ANN401  JSON
    """Go through a value: what is small enough is one record, what is not is taken apart."""
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
            yield from _records(each, f"{path}[{number}]", depth - 1)


def _header(lines: list[str]) -> int:
    """Tell how many lines ahead name the columns of a table; 0 where it is none."""
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


def _runs(lines: list[str]) -> Iterator[str]:
    """Gather the lines that go on with the one above them."""
    run, size = list[str](), 0
    for line in lines:
        goes_on = bool(run) and bool(_CONTINUED.match(line)) and size + len(line) <= _LONGEST_UNIT
        if not goes_on and run:
            yield _ended("".join(run))
            run, size = [], 0
        run.append(line)
        size += len(line)
    if run:
        yield _ended("".join(run))


def _ended(text: str) -> str:
    return text if text.endswith("\n") else f"{text}\n"
