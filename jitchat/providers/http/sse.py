"""Server-sent events: bytes in, (event, data) out.

As the WHATWG's HTML standard defines the stream (section 9.2.6), and tolerant where servers
are not: chunks may split anywhere, even inside a character or between CR and LF, and an event
that the stream's end leaves open still counts.
"""

from __future__ import annotations

from collections.abc import Iterator

MAX_EVENT_BYTES = 8 << 20
_BOM = b"\xef\xbb\xbf"


class EventTooLargeError(ValueError):
    """One event is larger than 8 MiB."""


class SseDecoder:
    """Feed it chunks; it yields each event as soon as it is complete."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._scanned = 0
        self._data: list[str] = []
        self._held = 0
        self._event = ""
        self._started = False

    def feed(self, chunk: bytes) -> Iterator[tuple[str, str]]:
        """Yield the events that `chunk` completes.

        Raises:
            EventTooLargeError: What is held of the open event is more than 8 MiB.

        """
        self._buffer += chunk
        yield from self._lines(final=False)
        if self._held + len(self._buffer) > MAX_EVENT_BYTES:
            raise EventTooLargeError

    def end(self) -> Iterator[tuple[str, str]]:
        """Yield what is left when the stream is over."""
        yield from self._lines(final=True)
        if self._buffer:
            yield from self._line(bytes(self._buffer))
            self._buffer.clear()
        yield from self._line(b"")

    def _lines(self, *, final: bool) -> Iterator[tuple[str, str]]:
        if not self._skip_bom(final=final):
            return
        while (end := self._line_end()) >= 0:
            is_cr = self._buffer[end] == ord("\r")
            if is_cr and end + 1 == len(self._buffer) and not final:
                self._scanned = end
                return
            width = 2 if is_cr and self._buffer[end + 1 : end + 2] == b"\n" else 1
            line = bytes(self._buffer[:end])
            del self._buffer[: end + width]
            self._scanned = 0
            yield from self._line(line)

    def _skip_bom(self, *, final: bool) -> bool:
        """Whether the start of the stream is known well enough to go on."""
        if not self._started:
            if len(self._buffer) < len(_BOM) and not final:
                return False
            if self._buffer.startswith(_BOM):
                del self._buffer[: len(_BOM)]
            self._started = True
        return True

    def _line_end(self) -> int:
        ends = [self._buffer.find(mark, self._scanned) for mark in (b"\n", b"\r")]
        found = min((end for end in ends if end >= 0), default=-1)
        if found < 0:
            self._scanned = len(self._buffer)
        return found

    def _line(self, line: bytes) -> Iterator[tuple[str, str]]:
        if not line:
            if self._data:
                yield self._event, "\n".join(self._data)
            self._data, self._held, self._event = [], 0, ""
            return
        field, _, value = line.partition(b":")
        text = value.removeprefix(b" ").decode("utf-8", "replace")
        if field == b"data":
            self._data.append(text)
            self._held += len(line)
        elif field == b"event":
            self._event = text
