"""Shortens a large text without a model: to what an instruction asks for, or to head and tail.

What is kept is quoted word for word and in order; a line between states how much is left out. The
records of JSON are written as lines, each with its path.
"""

import json
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence

from jitchat.text.figures import plural
from jitchat.text.json_values import at as value_at
from jitchat.text.json_values import is_nested_within, parsed
from jitchat.window.excerpt import Room, passages_of_data
from jitchat.window.tokens import TokenCounter

EXTRACTOR = "the extractor"
_TROUBLE = (
    "error failed failure fatal exception panic critical denied refused timeout traceback warning"
)
_SHARE = 0.18
"""Maximum share of the text's tokens that is kept."""
_LEAST = 200
"""Tokens that can be kept of any text, whatever its size."""
_MARKER = 9
"""Approximate tokens of a line that states what is left out."""
_HEAD = 2 / 3
"""The head's share of a preview."""
_LONGEST_LINE = 1_000
"""Maximum characters of a line in a preview; the middle of a longer one is left out."""
_LONGEST_RECORD = 240
"""Maximum characters of a record that is not split. With more than 300, the gate's benchmark loses
values of nested JSON."""
_DEEPEST = 32
_NAMES = ("name", "id", "title", "key", "label")
"""The fields that can name a record of a list."""
_LONGEST_NAME = 60
_LINE = re.compile(r"[^\n]*\n|[^\n]+")

Span = tuple[int, int]


def extract(text: str, instruction: str, limit: int, counter: TokenCounter) -> tuple[str, str]:
    """Extract what an instruction asks for, in at most `limit` tokens and a fifth of the text.

    If the text has nothing of it, errors and warnings are taken, then the head and the tail. Return
    also how it was made.
    """
    text = _with_paths(text)
    room = min(limit, max(_LEAST, int(_SHARE * counter.count(text))))
    found = _matching(text, instruction, room, counter)
    if found and counter.count(extracted := quoted(text, found)) <= limit:
        return extracted, EXTRACTOR
    troubles = _matching(text, _TROUBLE, room // 2, counter)
    made = _with_ends(text, troubles, room, counter)
    return made, f"{EXTRACTOR}, which found no match: errors, head and tail"


def preview(text: str, room: int, counter: TokenCounter) -> str:
    """Show as many whole lines of both ends as fit in `room` tokens, two thirds from the head."""
    return _with_ends(text, (), room, counter)


def _matching(text: str, query: str, room: int, counter: TokenCounter) -> list[Span]:
    return passages_of_data(text, query, Room(room, _MARKER, is_for_data=True), counter.count)


def _with_ends(text: str, between: Sequence[Span], room: int, counter: TokenCounter) -> str:
    """Quote the head and the tail, as far as the room allows, and what is `between` in any case."""
    lines = list(_lines(text))

    def shown(head: int, tail: int) -> str:
        return quoted(text, (*lines[:head], *between, *lines[len(lines) - tail :]))

    most = min(len(lines), max(0, room))  # a line has at least one token
    head = bisect_right(
        range(1, most + 1), room * _HEAD, key=lambda size: counter.count(shown(size, 0))
    )
    most = min(len(lines) - head, most)
    tail = bisect_right(range(1, most + 1), room, key=lambda size: counter.count(shown(head, size)))
    return shown(head, tail)


def _lines(text: str) -> Iterator[Span]:
    """Yield the lines; of a longer one, the beginning and the end."""
    half = _LONGEST_LINE // 2
    for line in _LINE.finditer(text):
        start, end = line.span()
        if end - start > _LONGEST_LINE:
            yield start, start + half
            start = end - half
        yield start, end


def quoted(text: str, spans: Iterable[Span]) -> str:
    """Quote passages of a text, with a line that states what is left out between them."""
    parts: list[str] = []
    at = 0
    for start, end in (*sorted(spans), (len(text), len(text))):
        if at < start:
            parts.append(_left_out(text, at, start))
        parts.append(text[max(at, start) : end])
        at = max(at, end)
    return "".join(parts)


def _left_out(text: str, start: int, end: int) -> str:
    is_within = start > 0 and text[start - 1] != "\n"
    is_last = end == len(text) and text[end - 1] != "\n"
    lines = text.count("\n", start, end) + is_last
    what = plural(lines, "line") if lines else plural(end - start, "character")
    note = f"[… {what} left out …]\n"
    return f"\n{note}" if is_within else note


def _with_paths(text: str) -> str:
    """Write the records of a JSON text, each with its path; any other text stays as it is."""
    value = parsed(text)
    if not isinstance(value, dict | list) or not is_nested_within(value, _DEEPEST):
        return text
    return "".join(f"{record}\n\n" for record in _records(value, ""))


def _records(value: object, path: str) -> Iterator[str]:
    """Walk a value: a small one is one record, a larger one is split."""
    whole = json.dumps(value, ensure_ascii=False)
    if not isinstance(value, dict | list) or (path and len(whole) <= _LONGEST_RECORD):
        yield f"{path}: {whole}"
    elif isinstance(value, list):
        for number, each in enumerate(value):
            yield from _records(each, f"{path}[{number}]")
    else:
        named = f"{path[:-1]}{_name_of(value)}]" if path.endswith("]") else path
        for name, each in value.items():
            yield from _records(each, f"{named}.{name}".removeprefix("."))


def _name_of(record: Mapping[str, object]) -> str:
    """Return the name of a record of a list, with a space before it; usually empty."""
    for each in (record, *record.values()):
        for name in _NAMES:
            found = value_at(each, name)
            if isinstance(found, str | int) and len(str(found)) <= _LONGEST_NAME:
                return f" {found}"
    return ""
