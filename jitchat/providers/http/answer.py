"""An answer as it arrives: bytes in, pieces out. Pure; `http` does the reading.

A server may stream events, as it was asked to, or send one JSON document. It has finished when
it says so, by a reason or by the protocol's last event; a stream that just ends was cut.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from jitchat.errors import NotAnAnswer, StreamCut
from jitchat.providers.http.sse import MAX_EVENT_BYTES, EventTooLargeError, SseDecoder
from jitchat.providers.protocol import WireProtocol
from jitchat.providers.protocols.refusals import CHECK_URL
from jitchat.providers.provider import Finished, Piece


class Answer:
    """Decodes one response."""

    def __init__(self, protocol: WireProtocol, *, streamed: bool) -> None:
        self._parser = protocol.parser()
        self._decoder = SseDecoder() if streamed else None
        self._document = bytearray()
        self._heard = False
        self.finished = False
        """Whether the provider said that the answer is complete."""
        self.over = False
        """Whether nothing more will come, so that there is no need to wait for the end."""

    def feed(self, chunk: bytes) -> Iterator[Piece]:
        """Yield what `chunk` completes.

        Raises:
            ProviderError: The provider reports an error, or speaks another protocol.

        """
        if self._decoder is None:
            self._keep(chunk)
            return
        try:
            for event, data in self._decoder.feed(chunk):
                yield from self._event(event, data)
        except EventTooLargeError:
            raise NotAnAnswer("The server sent an event of more than 8 MiB.", _SEND_AGAIN) from None

    def end(self) -> Iterator[Piece]:
        """Yield what is left when the response is over.

        Raises:
            StreamCut: It ended before the answer did.
            NotAnAnswer: It held no answer.

        """
        yield from self._rest(self._decoder) if self._decoder else self._whole()
        yield from self._taken(self._parser.end())
        if not self._heard:
            raise NotAnAnswer("The server answered, but with no part of an answer.", CHECK_URL)
        if not self.finished:
            raise StreamCut("The answer stopped half way.", f"What came is kept. {_SEND_AGAIN}")

    def _keep(self, chunk: bytes) -> None:
        self._document += chunk
        if len(self._document) > MAX_EVENT_BYTES:
            raise NotAnAnswer("The server sent a document of more than 8 MiB.", CHECK_URL)

    def _rest(self, decoder: SseDecoder) -> Iterator[Piece]:
        # the last event may have been cut in its middle: then it is no JSON
        with suppress(NotAnAnswer):
            for event, data in decoder.end():
                yield from self._event(event, data)

    def _whole(self) -> Iterator[Piece]:
        for piece in self._taken(self._parser.parse("", self._document.decode("utf-8", "replace"))):
            self._heard = True
            yield piece
        if self._heard:
            yield from self._finish()

    def _event(self, event: str, data: str) -> Iterator[Piece]:
        if self.over:
            return
        yield from self._taken(self._parser.parse(event, data))
        self._heard = True
        if self._parser.over:
            self.over = True
            yield from self._finish()

    def _taken(self, pieces: Iterator[Piece]) -> Iterator[Piece]:
        for piece in pieces:
            if isinstance(piece, Finished):
                yield from self._finish(piece)
            else:
                yield piece

    def _finish(self, said: Finished | None = None) -> Iterator[Piece]:
        """Yield the first reason only; servers that give none mean `stop`."""
        if not self.finished:
            self.finished = True
            yield said or Finished("stop")


_SEND_AGAIN = "Send again."
