"""The provider for every wire protocol: send the request, decode the answer, report errors.

The key is only in the request's headers. Exceptions of httpx carry the request, so ProviderErrors
are raised outside their handlers, without them as context; and the key is redacted from a server's
messages before they are passed on.
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
from jitchat.values import Message
from jitchat.writing.pieces import WritingRules

_TOGETHER = 0.08
"""Seconds in which what comes is read together: each read of a few bytes takes a third of a
millisecond of a core."""
_AT_ONCE = 0.002
"""Maximum seconds in which what is there already is read."""


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

    def rules(self, options: provider.Options) -> WritingRules:
        known = replace(options, without=options.without | self._quirks.refused())
        return self._protocol.rules(self._connection.endpoint, known)

    async def stream(
        self, messages: Sequence[Message], options: provider.Options
    ) -> AsyncGenerator[provider.Piece, None]:
        """Stream the answer; a failure before it begins may be retried."""
        attempts = Attempts(await asyncio.to_thread(self._quirks.refused), self._clock)
        request = self._request(messages, attempts.shaped(options))
        yield self._sent(request, attempts.shaped(options))
        while isinstance(response := await self._connection.send(request), Failure):
            refused, names = request, sent_in(request.content.decode())
            if attempts.may_renew(response) and await asyncio.to_thread(self._connection.renew_key):
                request = self._request(messages, attempts.shaped(options))
            elif parameter := attempts.drop(response, names):
                if parameter != "echo":  # an echo concerns one answer, not the model
                    with suppress(StoreError):  # a full disk must not stop the answer
                        await asyncio.to_thread(self._quirks.refuse, parameter)
                if self._changes_writing(parameter, options):
                    told = adaptation(self.name, self.model, parameter, names, frozenset())
                    raise provider.PartRefused(response.error, parameter, told)
                request = self._request(messages, attempts.shaped(options))
                if request.content == refused.content:
                    raise response.error
                after = sent_in(request.content.decode())
                changed = adaptation(self.name, self.model, parameter, names, after)
                yield provider.RequestAdapted(changed)
                yield self._sent(request, attempts.shaped(options))
            else:
                pause = attempts.pause(response)
                yield pause
                await self._clock.sleep(pause.seconds)
                yield self._sent(request, attempts.shaped(options))
        calls = CallNames(messages, origin_of(self._connection.endpoint, self._protocol.name))
        async with aclosing(self._read(response)) as pieces:
            async for piece in pieces:
                yield calls.named(piece)

    def _changes_writing(self, part: str, options: provider.Options) -> bool:
        """Whether messages are written otherwise for a server that refuses a part."""
        endpoint = self._connection.endpoint
        with_part = replace(options, without=options.without - {part})
        without = replace(options, without=options.without | {part})
        rules = self._protocol.rules
        return rules(endpoint, with_part) != rules(endpoint, without)

    async def _read(self, response: httpx.Response) -> AsyncGenerator[provider.Piece, None]:
        """Yield the answer; if it breaks off, yield the rest received before raising."""
        media = media_type(response.headers.get("content-type", ""))
        decoder = ResponseDecoder(self._protocol.parser(), media)
        failure: ProviderError | None = None
        chunks, until = _together(response.aiter_bytes()), None
        try:
            while not decoder.over and (chunk := await _next(chunks, until)) is not None:
                for piece in decoder.feed(chunk):
                    yield piece
                    until = None
                if decoder.finished and until is None:  # only counts and comments can follow
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
        """Return why the answer broke off; None if it was already complete."""
        if isinstance(error, ProviderError):
            return without_secrets(error, self._connection.endpoint)
        if is_complete:
            return None
        return StreamCut(f"The connection broke: {reason_of(error)}.", SEND_AGAIN)

    def wire(
        self, messages: Sequence[Message], options: provider.Options, *, as_posted: bool = False
    ) -> provider.Wire:
        """Return the request that would be sent, with secrets redacted."""
        refused: frozenset[str] = frozenset() if as_posted else self._quirks.refused()
        accepted = replace(options, without=options.without | refused)
        return wire_of(self._request(messages, accepted), self._connection.endpoint)

    async def aclose(self) -> None:
        await self._connection.aclose()

    def _request(self, messages: Sequence[Message], options: provider.Options) -> httpx.Request:
        """Make the request with the endpoint's timeouts. Raises the errors of `checked_request`."""
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
    """Wait for a chunk; raise TimeoutError at the event loop's time `until`."""
    async with asyncio.timeout_at(until):
        return await anext(chunks, None)


async def _together(chunks: AsyncIterator[bytes]) -> AsyncGenerator[bytes, None]:
    """Yield chunks; before the one after a chunk that came late, leave time for more to come."""
    time = asyncio.get_running_loop().time
    asked = time()
    async for chunk in chunks:
        is_late = time() - asked > _AT_ONCE
        yield chunk
        if is_late:
            await asyncio.sleep(_TOGETHER)
        asked = time()
