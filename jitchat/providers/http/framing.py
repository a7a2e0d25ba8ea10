"""What takes a body apart into events, whatever their framing: bytes in, (event, data) out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

MAX_EVENT_BYTES = 8 << 20
BOM = b"\xef\xbb\xbf"


class EventTooLargeError(ValueError):
    """One event is larger than 8 MiB."""


class Decoder(Protocol):
    """Feed it chunks; it yields each event as soon as it is complete."""

    def feed(self, chunk: bytes) -> Iterator[tuple[str, str]]:
        """Yield the events that `chunk` completes: their names, often empty, and their data.

        Raises:
            EventTooLargeError: An event, or what is there of the open one, is more than 8 MiB.

        """

    def end(self) -> Iterator[tuple[str, str]]:
        """Yield what is left when the stream is over; it may have been cut in its middle."""
