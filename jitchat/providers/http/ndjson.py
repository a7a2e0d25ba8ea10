"""JSON that is no event stream: a value on each line, or objects one after the other.

Lines end at a line feed and nowhere else, for JSON may hold every other line end as it is. Objects
that follow each other in any other way, in an array, spread over lines or with nothing between
them, are found by their braces; one document is the case of a single object.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from jitchat.providers.http.framing import BOM, MAX_EVENT_BYTES, EventTooLargeError


class LineDecoder:
    """Makes an event of each line that is not blank."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._scanned = 0

    def feed(self, chunk: bytes) -> Iterator[tuple[str, str]]:
        """Yield the lines that `chunk` completes.

        Raises:
            EventTooLargeError: A line is more than 8 MiB.

        """
        self._buffer += chunk
        last = self._buffer.rfind(b"\n", self._scanned)
        lines = bytes(self._buffer[: last + 1]).split(b"\n")
        del self._buffer[: last + 1]
        self._scanned = len(self._buffer)
        for line in lines:
            yield from _event(line)
        if len(self._buffer) > MAX_EVENT_BYTES:
            raise EventTooLargeError

    def end(self) -> Iterator[tuple[str, str]]:
        """Yield the last line, whose end may be missing."""
        rest = bytes(self._buffer)
        self._buffer.clear()
        yield from _event(rest)


class ValueDecoder:
    """Makes an event of each JSON object that is in no other, whatever stands between them."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._scanned = 0
        self._depth = 0
        self._in_text = False
        self.values = 0
        """How many objects there were so far."""

    @property
    def is_open(self) -> bool:
        """Whether an object still waits for its end."""
        return self._depth > 0

    def feed(self, chunk: bytes) -> Iterator[tuple[str, str]]:
        """Yield the objects that `chunk` completes.

        Raises:
            EventTooLargeError: An object is more than 8 MiB.

        """
        self._buffer += chunk
        while (end := self._end()) is not None:
            value = bytes(self._buffer[self._buffer.index(b"{") : end])
            del self._buffer[:end]
            self._scanned = 0
            self.values += 1
            yield from _event(value)
        if len(self._buffer) > MAX_EVENT_BYTES:
            raise EventTooLargeError

    def end(self) -> Iterator[tuple[str, str]]:
        """Yield what is there where no object is; nothing of one that was cut."""
        rest = bytes(self._buffer)
        self._buffer.clear()
        if not self.values and not self.is_open:
            yield from _event(rest)

    def _end(self) -> int | None:
        """Find where the first object ends; None where it does not. Nothing is scanned twice."""
        buffer = self._buffer
        while True:
            skipped = (_TEXT if self._in_text else _NO_BRACE).match(buffer, self._scanned)
            self._scanned = place = skipped.end() if skipped else self._scanned
            mark = bytes(buffer[place : place + 1])
            if mark in (b"", b"\\"):
                return None
            self._scanned += 1
            if mark == b'"':
                self._in_text = not self._in_text
            elif mark == b"{":
                self._depth += 1
            elif self._depth:
                self._depth -= 1
                if not self._depth:
                    return self._scanned


_TEXT = re.compile(rb'[^"\\]*+(?:\\.[^"\\]*+)*+', re.DOTALL)
"""Up to the end of a text, or up to the backslash that ends the buffer."""
_NO_BRACE = re.compile(rb'[^"{}]*+(?:"[^"\\]*+(?:\\.[^"\\]*+)*+"[^"{}]*+)*+', re.DOTALL)
"""Up to a brace, or up to a text that the buffer does not hold the end of."""


def _event(data: bytes) -> Iterator[tuple[str, str]]:
    text = data.removeprefix(BOM).strip()
    if len(text) > MAX_EVENT_BYTES:
        raise EventTooLargeError
    if text:
        yield "", text.decode("utf-8", "replace")
