"""Decoding the bytes of an answer into events: server-sent events, or JSON objects.

Server-sent events are parsed as defined by the WHATWG's HTML standard (section 9.2.6), but
leniently: chunks may split anywhere, even inside a character or between CR and LF, and an event
that is still open at the end of the stream counts.

In line-delimited JSON, a line ends only at a line feed, because JSON can contain every other line
end. Objects in an array, spread over lines, or with nothing between them are found by their braces;
a single JSON document is the case of one object.

A content type of JSON lines is trusted if the body is JSON; one of a web page is trusted unless the
body is clearly something else.

A server may stream events, as requested, or send one JSON document. An answer is finished when the
server says so, by a finish reason or by the protocol's last event; a stream that ends without
either was cut. Text that the parser holds back is yielded in every case.
"""

import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Protocol

from jitchat.errors import NotAnAnswer, StreamCut
from jitchat.providers.protocols.protocol import AnswerParser
from jitchat.providers.protocols.refusals import CHECK_URL
from jitchat.providers.provider import Finished, Piece

MAX_EVENT_BYTES = 8 << 20
BOM = b"\xef\xbb\xbf"


class EventTooLargeError(ValueError):
    """One event is larger than 8 MiB."""


class Decoder(Protocol):
    """Splits a stream of chunks into events."""

    def feed(self, chunk: bytes) -> Iterator[tuple[str, str]]:
        """Yield the events that `chunk` completes, as (name, data); the name is often empty.

        Raises:
            EventTooLargeError: An event, complete or not, is larger than 8 MiB.

        """

    def end(self) -> Iterator[tuple[str, str]]:
        """Yield the rest at the end of the stream; the last event may be incomplete."""


class SseDecoder:
    """Decodes server-sent events."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._scanned = 0
        self._data: list[str] = []
        self._held = 0
        self._event = ""
        self._started = False

    def feed(self, chunk: bytes) -> Iterator[tuple[str, str]]:
        self._buffer += chunk
        if self._skip_bom():
            yield from self._lines(self._complete())
        if self._held + len(self._buffer) > MAX_EVENT_BYTES:
            raise EventTooLargeError

    def end(self) -> Iterator[tuple[str, str]]:
        rest = bytes(self._buffer)
        self._buffer.clear()
        yield from self._lines([*rest.splitlines(), b""])

    def _skip_bom(self) -> bool:
        """Skip a byte order mark; return whether enough bytes have arrived to decide."""
        if not self._started and len(self._buffer) >= len(BOM):
            if self._buffer.startswith(BOM):
                del self._buffer[: len(BOM)]
            self._started = True
        return self._started

    def _complete(self) -> list[bytes]:
        """Remove and return the complete lines; a CR at the very end may be half of a CRLF."""
        buffer = self._buffer
        last = max(buffer.rfind(b"\n", self._scanned), buffer.rfind(b"\r", self._scanned, -1))
        block = bytes(buffer[: last + 1])
        del buffer[: last + 1]
        self._scanned = max(0, len(buffer) - 1)
        return block.splitlines()  # bytes are split only at CR, LF and CRLF

    def _lines(self, lines: list[bytes]) -> Iterator[tuple[str, str]]:
        for line in lines:
            if not line:
                if self._data:
                    yield self._event, "\n".join(self._data)
                self._data, self._held, self._event = [], 0, ""
            elif not line.startswith(b":"):
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


class LineDecoder:
    """Decodes lines: each one that is not blank is an event."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._scanned = 0

    def feed(self, chunk: bytes) -> Iterator[tuple[str, str]]:
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
        rest = bytes(self._buffer)
        self._buffer.clear()
        yield from _event(rest)


class ValueDecoder:
    """Decodes JSON objects: each outermost one is an event, whatever is between them."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._scanned = 0
        self._depth = 0
        self._in_text = False
        self.values = 0
        """Number of objects so far."""

    @property
    def is_open(self) -> bool:
        """Whether an object is incomplete."""
        return self._depth > 0

    def feed(self, chunk: bytes) -> Iterator[tuple[str, str]]:
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
        """Yield the whole text if there was no object; nothing of an incomplete object."""
        rest = bytes(self._buffer)
        self._buffer.clear()
        if not self.values and not self.is_open:
            yield from _event(rest)

    def _end(self) -> int | None:
        """Return where the first object ends; None if incomplete. No byte is scanned twice."""
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
"""Up to the end of a string, or up to a backslash at the end of the buffer."""
_NO_BRACE = re.compile(rb'[^"{}]*+(?:"[^"\\]*+(?:\\.[^"\\]*+)*+"[^"{}]*+)*+', re.DOTALL)
"""Up to a brace, or up to a string whose end is not in the buffer."""


def _event(data: bytes) -> Iterator[tuple[str, str]]:
    text = data.removeprefix(BOM).strip()
    if len(text) > MAX_EVENT_BYTES:
        raise EventTooLargeError
    if text:
        yield "", text.decode("utf-8", "replace")


_LINES = frozenset({"application/x-ndjson", "application/ndjson", "application/jsonl"})
_PAGES = frozenset({"text/html", "application/xhtml+xml"})
_MOST_BLANKS = 64 << 10
_STREAM = re.compile(rb":|(?:data|event|id|retry):")
_LONGEST_FIELD = len(b"event:")


def media_type(content_type: str) -> str:
    return content_type.partition(";")[0].strip().lower()


def decoder_for(start: bytes, media: str, *, whole: bool) -> Decoder | None:
    """Choose the decoder for a body that begins with `start`; None if more bytes are needed.

    `whole` means that `start` is the whole body.

    Raises:
        NotAnAnswer: The body is a web page.

    """
    seen = start.removeprefix(BOM).lstrip()
    if not (whole or _is_enough(seen, media) or len(start) > _MOST_BLANKS):
        return None
    if seen[:1] in (b"{", b"["):
        return LineDecoder() if seen[:1] == b"{" and media in _LINES else ValueDecoder()
    if seen[:1] == b"<" or (media in _PAGES and not _STREAM.match(seen)):
        what = "The server answered with a web page, not with a model's answer."
        raise NotAnAnswer(what, CHECK_URL)
    return SseDecoder()


def _is_enough(seen: bytes, media: str) -> bool:
    """Whether the bytes seen so far are enough to choose a decoder."""
    if BOM.startswith(seen):  # nothing yet, or an incomplete byte order mark
        return False
    is_clear = media not in _PAGES or seen[:1] in (b"{", b"[", b"<", b":")
    return is_clear or len(seen) >= _LONGEST_FIELD


SEND_AGAIN = "The partial reply is kept. Send again."


class ResponseDecoder:
    """Decodes one response. Its `media` type is only a hint at the framing."""

    def __init__(self, parser: AnswerParser, media: str = "") -> None:
        self._parser, self._media = parser, media
        self._start = b""
        self._decoder: Decoder | None = None
        self._events = 0
        self._has_pieces = False
        self._ended = False
        self.finished = False
        """Whether the provider ended the answer."""
        self.over = False
        """Whether the answer is complete, so that the end of the stream need not be awaited."""

    def feed(self, chunk: bytes) -> Iterator[Piece]:
        """Yield the parts of the answer that `chunk` completes.

        Raises:
            ProviderError: The provider reports an error, or uses another protocol.

        """
        decoder = self._decoder
        if decoder is None:
            chunk = self._start + chunk
            decoder = self._choose_decoder(chunk, whole=False)
        if decoder is not None:
            yield from self._parse(decoder.feed(chunk))

    def end(self) -> Iterator[Piece]:
        """Yield the rest at the end of the response.

        Raises:
            ProviderError: The response ends with an error.
            StreamCut: The response ended before the answer did.
            NotAnAnswer: The response contains no answer.

        """
        decoder = self._decoder or self._choose_decoder(self._start, whole=True)
        with suppress(NotAnAnswer):  # the last event may be incomplete
            yield from self._parse(decoder.end() if decoder else iter(()))
        yield from self.held()
        values = decoder if isinstance(decoder, ValueDecoder) else None
        is_open = values is not None and values.is_open
        # a single document without content is not an answer
        if not self._has_pieces and self._events <= (values is not None) and not is_open:
            raise NotAnAnswer("The server's response contains no answer.", CHECK_URL)
        if values is not None and values.values == 1 and not is_open:
            yield from self._finish()  # one document is complete, with or without a reason
        if not self.finished:
            raise StreamCut("The answer stopped half way.", SEND_AGAIN)

    def held(self) -> Iterator[Piece]:
        """Yield the text that the parser holds back; after the first call, nothing."""
        if not self._ended:
            self._ended = True
            yield from self._take(self._parser.end())

    def _choose_decoder(self, start: bytes, *, whole: bool) -> Decoder | None:
        self._decoder = decoder_for(start, self._media, whole=whole)
        self._start = start if self._decoder is None else b""
        return self._decoder

    def _parse(self, events: Iterator[tuple[str, str]]) -> Iterator[Piece]:
        try:
            for event, data in events:
                if self.over:
                    return
                yield from self._take(self._parser.parse(event, data))
                self._events += 1
                if self._parser.over:
                    self.over = True
                    yield from self._finish()
        except EventTooLargeError:
            raise NotAnAnswer(
                "The server sent an event of more than 8 MiB.", "Send again."
            ) from None

    def _take(self, pieces: Iterator[Piece]) -> Iterator[Piece]:
        for piece in pieces:
            self._has_pieces = True
            if type(piece) is Finished:
                yield from self._finish(piece)
            else:
                yield piece

    def _finish(self, finished: Finished | None = None) -> Iterator[Piece]:
        """Yield only the first finish reason; without one, `stop`."""
        if not self.finished:
            self.finished = True
            yield finished or Finished("stop")
