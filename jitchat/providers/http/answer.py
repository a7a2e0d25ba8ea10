"""An answer as it arrives: bytes in, pieces out. Pure; `http` does the reading.

A server may stream events, as it was asked to, or send one JSON document. It has finished when
it says so, by a reason or by the protocol's last event; a stream that just ends was cut. What
the parser holds back comes out in every case.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from jitchat.errors import NotAnAnswer, StreamCut
from jitchat.providers.http.framing import Decoder, EventTooLargeError
from jitchat.providers.http.ndjson import ValueDecoder
from jitchat.providers.http.sniffing import decoder_for
from jitchat.providers.protocol import WireProtocol
from jitchat.providers.protocols.refusals import CHECK_URL
from jitchat.providers.provider import Finished, Piece

SEND_AGAIN = "What came is kept. Send again."


class Answer:
    """Decodes one response, whose `media` type is a first guess at how it is framed."""

    def __init__(self, protocol: WireProtocol, media: str = "") -> None:
        self._parser = protocol.parser()
        self._media = media
        self._start = b""
        self._decoder: Decoder | None = None
        self._events = 0
        self._said = False
        self._ended = False
        self.finished = False
        """Whether the provider said that the answer is complete."""
        self.over = False
        """Whether nothing more will come, so that there is no need to wait for the end."""

    def feed(self, chunk: bytes) -> Iterator[Piece]:
        """Yield what `chunk` completes.

        Raises:
            ProviderError: The provider reports an error, or speaks another protocol.

        """
        decoder = self._decoder
        if decoder is None:
            chunk = self._start + chunk
            decoder = self._sniffed(chunk, whole=False)
        if decoder is not None:
            yield from self._decoded(decoder.feed(chunk))

    def end(self) -> Iterator[Piece]:
        """Yield what is left when the response is over.

        Raises:
            ProviderError: It ends in an error.
            StreamCut: It ended before the answer did.
            NotAnAnswer: It held no answer.

        """
        decoder = self._decoder or self._sniffed(self._start, whole=True)
        with suppress(NotAnAnswer):  # the last event may have been cut in its middle
            yield from self._decoded(decoder.end() if decoder else iter(()))
        yield from self.held()
        is_open = isinstance(decoder, ValueDecoder) and decoder.is_open
        if not self._heard and not is_open:
            raise NotAnAnswer("The server answered, but with no part of an answer.", CHECK_URL)
        if isinstance(decoder, ValueDecoder) and decoder.values == 1 and not is_open:
            yield from self._finish()  # one document is whole, with or without a reason
        if not self.finished:
            raise StreamCut("The answer stopped half way.", SEND_AGAIN)

    def held(self) -> Iterator[Piece]:
        """Yield, once, what the parser holds back; where an answer broke, that is its last."""
        if not self._ended:
            self._ended = True
            yield from self._taken(self._parser.end())

    def _sniffed(self, start: bytes, *, whole: bool) -> Decoder | None:
        self._decoder = decoder_for(start, self._media, whole=whole)
        self._start = start if self._decoder is None else b""
        return self._decoder

    def _decoded(self, events: Iterator[tuple[str, str]]) -> Iterator[Piece]:
        try:
            for event, data in events:
                if self.over:
                    return
                yield from self._taken(self._parser.parse(event, data))
                self._events += 1
                if self._parser.over:
                    self.over = True
                    yield from self._finish()
        except EventTooLargeError:
            raise NotAnAnswer(
                "The server sent an event of more than 8 MiB.", "Send again."
            ) from None

    def _taken(self, pieces: Iterator[Piece]) -> Iterator[Piece]:
        for piece in pieces:
            self._said = True
            if type(piece) is Finished:
                yield from self._finish(piece)
            else:
                yield piece

    def _finish(self, said: Finished | None = None) -> Iterator[Piece]:
        """Yield the first reason only; servers that give none mean `stop`."""
        if not self.finished:
            self.finished = True
            yield said or Finished("stop")

    @property
    def _heard(self) -> bool:
        """Whether there was an answer. A lone document that says nothing is none."""
        return self._said or self._events > isinstance(self._decoder, ValueDecoder)
