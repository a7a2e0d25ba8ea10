"""The loop around every wire protocol: send, decode, report errors as sentences.

A key is only ever in the request's headers. Exceptions of httpx carry the request, so ours are
raised outside of their handlers, without them as a context; and what a server says is
searched for the key before it is passed on.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing, suppress
from dataclasses import replace

import httpx

from jitchat.errors import ProviderError, StoreError, StreamCut
from jitchat.providers import provider
from jitchat.providers.http.client import Connection, checked_request, reason_of
from jitchat.providers.http.decode import SEND_AGAIN, ResponseDecoder, media_type
from jitchat.providers.http.redaction import wire_of, without_secrets
from jitchat.providers.http.retry import Attempts, Clock, Failure, SessionQuirks, adaptation
from jitchat.providers.protocols.calls import CallNames, origin_of
from jitchat.providers.protocols.protocol import WireProtocol
from jitchat.providers.protocols.refusals import sent_in
from jitchat.providers.tools import paired
from jitchat.values import Message


class HttpProvider:
    """A provider behind an endpoint."""

    def __init__(
        self,
        endpoint: provider.Endpoint,
        protocol: WireProtocol,
        transport: httpx.AsyncBaseTransport | None = None,
        *,
        quirks: provider.ServerQuirks | None = None,
        clock: Clock | None = None,
    ) -> None:
        self.name, self.model = endpoint.name, endpoint.model
        self._protocol = protocol
        self._quirks = quirks or SessionQuirks()
        self._clock = clock or Clock()
        self._connection = Connection(endpoint, transport, self._clock.patience)

    async def stream(
        self, messages: Sequence[Message], options: provider.Options
    ) -> AsyncGenerator[provider.Piece, None]:
        """Stream the answer, piece by piece; what fails before it begins may be tried again."""
        if left_out := paired(messages).sentence:
            yield provider.RequestAdapted(left_out)
        attempts = Attempts(await asyncio.to_thread(self._quirks.refused), self._clock)
        request = self._request(messages, attempts.shaped(options))
        yield self._sent(request, attempts.shaped(options))
        while isinstance(response := await self._connection.send(request), Failure):
            refused, names = request, sent_in(request.content.decode())
            if attempts.may_renew(response) and await asyncio.to_thread(self._connection.renew_key):
                request = self._request(messages, attempts.shaped(options))
            elif parameter := attempts.drop(response, names):
                request = self._request(messages, attempts.shaped(options))
                if request.content == refused.content:
                    raise response.error
                if parameter != "echo":  # which is of one answer, not of the model
                    with suppress(StoreError):  # nothing waits for a disk that is full
                        await asyncio.to_thread(self._quirks.refuse, parameter)
                after = sent_in(request.content.decode())
                changed = adaptation(self.name, self.model, parameter, names, after)
                yield provider.RequestAdapted(changed)
                yield self._sent(request, attempts.shaped(options))
            else:
                pause = attempts.pause(response)
                yield pause
                await self._clock.sleep(pause.seconds)
        calls = CallNames(messages, origin_of(self._connection.endpoint, self._protocol.name))
        async with aclosing(self._read(response)) as pieces:
            async for piece in pieces:
                yield calls.named(piece)

    async def _read(self, response: httpx.Response) -> AsyncGenerator[provider.Piece, None]:
        """Yield the answer; where it breaks off, what there is of it first."""
        media = media_type(response.headers.get("content-type", ""))
        decoder = ResponseDecoder(self._protocol.parser(), media)
        failure: ProviderError | None = None
        chunks, until = response.aiter_bytes(), None
        try:
            while not decoder.over and (chunk := await _next(chunks, until)) is not None:
                for piece in decoder.feed(chunk):
                    yield piece
                    until = None
                if decoder.finished and until is None:  # only counts may come, and comments
                    until = asyncio.get_running_loop().time() + self._clock.patience
            for piece in decoder.end():
                yield piece
        except (ProviderError, httpx.HTTPError, httpx.StreamError, TimeoutError) as error:
            failure = self._broken(error, is_complete=decoder.finished)
        finally:
            await response.aclose()
        for piece in decoder.held():
            yield piece
        if failure is not None:
            raise failure

    def _broken(self, error: Exception, *, is_complete: bool) -> ProviderError | None:
        """Say why the answer broke off; None where it was complete, and no harm was done."""
        if isinstance(error, ProviderError):
            return without_secrets(error, self._connection.endpoint)
        if is_complete:
            return None
        return StreamCut(f"The connection broke: {reason_of(error)}.", SEND_AGAIN)

    def wire(
        self, messages: Sequence[Message], options: provider.Options, *, as_posted: bool = False
    ) -> provider.Wire:
        """Make the request that would be sent, as it may be shown."""
        refused: frozenset[str] = frozenset() if as_posted else self._quirks.refused()
        left = replace(options, without=options.without | refused)
        return wire_of(self._request(messages, left), self._connection.endpoint)

    async def aclose(self) -> None:
        await self._connection.aclose()

    def _request(self, messages: Sequence[Message], options: provider.Options) -> httpx.Request:
        """Make the request, with the endpoint's timeouts; raises what `checked_request` does."""
        endpoint = self._connection.endpoint
        timeout = httpx.Timeout(
            connect=endpoint.connect_seconds, read=endpoint.read_seconds, write=30.0, pool=5.0
        )
        return checked_request(
            endpoint, lambda: self._protocol.request(endpoint, messages, options), timeout
        )

    def _sent(self, request: httpx.Request, options: provider.Options) -> provider.SentRequest:
        wire = wire_of(request, self._connection.endpoint)
        return provider.SentRequest(self.name, wire.url, options, wire.sha256)


async def _next(chunks: AsyncIterator[bytes], until: float | None) -> bytes | None:
    """Wait for a chunk, no longer than until that time of the loop's: TimeoutError then."""
    async with asyncio.timeout_at(until):
        return await anext(chunks, None)
