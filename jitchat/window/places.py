"""Where the segments of a window are in the JSON of the request that carried it.

A protocol puts messages into the texts of its request in order. It changes no character, and JSON
encodes each character separately.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter

from jitchat.window.window import ContextWindow, Kind, Segment
from jitchat.writing.pieces import Part

_TEXT = re.compile(r'"([^"\\]*+(?:\\.[^"\\]*+)*+)(?:"(\s*:)?|\\?\Z)')
"""A string of a document, with the colon that marks it as a name."""
_HOLDERS = frozenset({"content", "text"})
"""Names of the fields that hold the text of a message."""


@dataclass(frozen=True, slots=True)
class SegmentPlace:
    start: int
    end: int
    """After its last character."""
    segment: Segment


@dataclass(frozen=True, slots=True)
class FoundSegments:
    places: tuple[SegmentPlace, ...]
    """In the order of the body."""
    missing: tuple[Segment, ...]
    """Segments without a text: blank messages, and calls, whose arguments JSON writes again."""


def find_segments(window: ContextWindow, body: str) -> FoundSegments:
    texts = _Texts(body)
    found: list[SegmentPlace] = []
    sent = (piece for piece in window.pieces if piece.part is Part.TEXT)
    for _, group in groupby(sent, attrgetter("message")):
        pieces = [(piece.segment, json.dumps(piece.text)[1:-1]) for piece in group]
        start = texts.take("".join(text for _, text in pieces))
        if start is None:
            continue
        for index, text in pieces:
            if text:
                found.append(SegmentPlace(start, start + len(text), window.segments[index]))
            start += len(text)
    places = {place.segment for place in found}
    missing = (each for each in window.segments if each.kind is not Kind.TOOLS)
    return FoundSegments(tuple(found), tuple(each for each in missing if each not in places))


class _Texts:
    """The texts of a body, from which messages are taken one by one."""

    def __init__(self, body: str) -> None:
        self._body, self._spans = body, list(_spans(body))
        self._at = 0
        """The index of the next text."""

    def take(self, message: str) -> int | None:
        """Find where the next message starts; None if the body does not have it."""
        for at in range(self._at, len(self._spans)):
            start, end = self._spans[at]
            if end - start == len(message) and self._body.startswith(message, start):
                self._at = at + 1
                return start
        return None


def _spans(body: str) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each value of `content` and `text`."""
    name = ""
    for match in _TEXT.finditer(body):
        if match[2] is not None:
            name = match[1]
        elif name in _HOLDERS:
            yield match.start(1), match.end(1)
            name = ""
