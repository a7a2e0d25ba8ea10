"""Server-sent events: bytes in, (event, data) out.

As the WHATWG's HTML standard defines the stream (section 9.2.6), and tolerant where servers
are not: chunks may split anywhere, even inside a character or between CR and LF, and an event
that the stream's end leaves open still counts.
"""

from __future__ import annotations

from collections.abc import Iterator

from jitchat.providers.http.framing import BOM, MAX_EVENT_BYTES, EventTooLargeError


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
            EventTooLargeError: An event, or what is there of the open one, is more than 8 MiB.

        """
        self._buffer += chunk
        if self._skip_bom():
            yield from self._lines(self._complete())
        if self._held + len(self._buffer) > MAX_EVENT_BYTES:
            raise EventTooLargeError

    def end(self) -> Iterator[tuple[str, str]]:
        """Yield what is left when the stream is over."""
        rest = bytes(self._buffer)
        self._buffer.clear()
        yield from self._lines([*rest.splitlines(), b""])

    def _skip_bom(self) -> bool:
        """Whether the start of the stream is known well enough to go on."""
        if not self._started and len(self._buffer) >= len(BOM):
            if self._buffer.startswith(BOM):
                del self._buffer[: len(BOM)]
            self._started = True
        return self._started

    def _complete(self) -> list[bytes]:
        """Take the lines that are complete; a CR at the very end may be half of a line's end."""
        buffer = self._buffer
        last = max(buffer.rfind(b"\n", self._scanned), buffer.rfind(b"\r", self._scanned, -1))
        block = bytes(buffer[: last + 1])
        del buffer[: last + 1]
        self._scanned = max(0, len(buffer) - 1)
        return block.splitlines()  # of bytes: at CR, LF and CRLF only

    def _lines(self, lines: list[bytes]) -> Iterator[tuple[str, str]]:
        for line in lines:
            if not line:
                if self._data:
                    yield self._event, "\n".join(self._data)
                self._data, self._held, self._event = [], 0, ""
            elif line[0] != _COLON:
                self._field(line)

    def _field(self, line: bytes) -> None:
        field, _, value = line.partition(b":")
        if field == b"data":
            self._held += len(line)
            if self._held > MAX_EVENT_BYTES:
                raise EventTooLargeError
            self._data.append(value.removeprefix(b" ").decode("utf-8", "replace"))
        elif field == b"event":
            self._event = value.removeprefix(b" ").decode("utf-8", "replace")


_COLON = ord(":")
