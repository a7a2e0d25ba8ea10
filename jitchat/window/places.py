"""Where the segments of a window are in the JSON of the request that carried it.

A protocol puts messages into the texts of its request in order. It may leave out a blank message,
join several with a blank line, put the system text before them in another field, and add texts of
its own. It changes no character, and JSON encodes each character separately.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

from jitchat.window.window import ContextWindow, Segment

_TEXT = re.compile(r'"([^"\\]*+(?:\\.[^"\\]*+)*+)(?:"(\s*:)?|\\?\Z)')
"""A string of a document, with the colon that marks it as a name."""
_HOLDERS = frozenset({"content", "text"})
"""Names of the fields that hold the text of a message."""
_BETWEEN = r"\n\n"
"""The separator of two messages that share a text, as JSON writes it."""


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
    """Empty segments, and those of blank messages, which no protocol sends."""


def find_segments(window: ContextWindow, body: str) -> FoundSegments:
    texts = _Texts(body)
    found: list[SegmentPlace] = []
    missing: list[Segment] = []
    for segments in window.by_message():
        written = [json.dumps(segment.text)[1:-1] for segment in segments]
        is_sent = any(segment.text.strip() for segment in segments)
        start = texts.take("".join(written)) if is_sent else None
        for segment, text in zip(segments, written, strict=True):
            if start is None or not text:
                missing.append(segment)
            else:
                found.append(SegmentPlace(start, start + len(text), segment))
                start += len(text)
    return FoundSegments(tuple(found), tuple(missing))


class _Texts:
    """The texts of a body, from which messages are taken one by one."""

    def __init__(self, body: str) -> None:
        self._body, self._spans = body, list(_spans(body))
        self._at = self._taken_to = 0
        """The current text's index, and where the taken part of it ends; 0 if none is taken."""

    def take(self, message: str) -> int | None:
        """Find where the next message starts; None if the body does not have it."""
        for at in range(self._at, len(self._spans)):
            start, end = self._spans[at]
            if at == self._at and self._taken_to:
                start = self._taken_to + len(_BETWEEN)
            stop = start + len(message)
            matches = stop <= end and self._body.startswith(message, start)
            if matches and (stop == end or self._body.startswith(_BETWEEN, stop)):
                self._at, self._taken_to = at, stop
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
