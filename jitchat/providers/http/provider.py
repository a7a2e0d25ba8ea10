"""The loop around every wire protocol: send, decode, report errors as sentences.

A key is only ever in the request's headers. Exceptions of httpx carry the request, so ours are
raised outside of their handlers, without them as a context; and what a server says is
searched for the key before it is passed on.
"""

import asyncio
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing, suppress

import httpx

from jitchat.errors import ProviderError, StoreError, StreamCut
from jitchat.providers.http.client import make_client, make_request, reason_of, renewed, unreached
from jitchat.providers.http.decode import SEND_AGAIN, Answer, media_type
from jitchat.providers.http.redaction import blotted, without_secrets
from jitchat.providers.http.retry import Attempts, Failure, Pace, SessionLessons, adaptation
from jitchat.providers.http.wire_view import wire_of
from jitchat.providers.protocols.parameters import sent_in
from jitchat.providers.protocols.refusals import message_of, refusal
from jitchat.providers.protocols.responses import parsed
from jitchat.providers.provider import (
    Endpoint,
    Options,
    Piece,
    RequestAdapted,
    SentRequest,
    ServerQuirks,
    Wire,
    WireProtocol,
)
from jitchat.values import Message

_MAX_ERROR_BYTES = 64 << 10


class HttpProvider:
    """A provider behind an endpoint."""

    def __init__(
        self,
        endpoint: Endpoint,
        protocol: WireProtocol,
        transport: httpx.AsyncBaseTransport | None = None,
        *,
        lessons: ServerQuirks | None = None,
        pace: Pace | None = None,
    ) -> None:
        self._endpoint, self._protocol, self._transport = endpoint, protocol, transport
        self._lessons = lessons or SessionLessons()
        self._pace = pace or Pace()
        self._lock = threading.Lock()
        self._client: httpx.AsyncClient | None = None

    @property
    def name(self) -> str:
        """As the settings call it."""
        return self._endpoint.name

    @property
    def model(self) -> str:
        """The model's own name."""
        return self._endpoint.model

    async def stream(
        self, messages: Sequence[Message], options: Options
    ) -> AsyncGenerator[Piece, None]:
        """Stream the answer, piece by piece; what fails before it begins may be tried again."""
        attempts = Attempts(await asyncio.to_thread(self._lessons.refused), self._pace)
        request = self._request(messages, attempts.shaped(options))
        yield self._posted(request, attempts.shaped(options))
        while isinstance(opened := await self._send(request), Failure):
            refused, sent = request, sent_in(request.content.decode())
            if attempts.may_renew(opened) and await asyncio.to_thread(self._renew):
                request = self._request(messages, attempts.shaped(options))
            elif parameter := attempts.drop(opened, sent):
                request = self._request(messages, attempts.shaped(options))
                if request.content == refused.content:
                    raise opened.error
                await asyncio.to_thread(self._learn, parameter)
                after = sent_in(request.content.decode())
                yield RequestAdapted(adaptation(self.name, self.model, parameter, sent, after))
                yield self._posted(request, attempts.shaped(options))
            else:
                pause = attempts.pause(opened)
                yield pause
                await self._pace.sleep(pause.seconds)
        async with aclosing(self._read(opened)) as pieces:
            async for piece in pieces:
                yield piece

    def wire(
        self, messages: Sequence[Message], options: Options, *, as_posted: bool = False
    ) -> Wire:
        """Make the request that would be posted, as it may be shown."""
        refused: frozenset[str] = frozenset() if as_posted else self._lessons.refused()
        shaped = Attempts(refused, self._pace).shaped(options)
        return wire_of(self._request(messages, shaped), self._endpoint)

    async def aclose(self) -> None:
        """Close the connections."""
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    def _request(self, messages: Sequence[Message], options: Options) -> httpx.Request:
        return make_request(self._endpoint, self._protocol, messages, options)

    def _posted(self, request: httpx.Request, options: Options) -> SentRequest:
        wire = wire_of(request, self._endpoint)
        return SentRequest(self.name, wire.url, options, wire.sha256)

    async def _send(self, request: httpx.Request) -> httpx.Response | Failure:
        """Send the request; the response, with its body still to come, or why there is none."""
        client = await asyncio.to_thread(self._ready, request.url)
        try:
            response = await client.send(request, stream=True)
        except (httpx.HTTPError, OSError, ValueError) as error:
            return unreached(self.name, request.url, error)
        if response.is_success:
            return response
        try:
            return await self._failure(response)
        finally:
            await response.aclose()

    def _renew(self) -> bool:
        """Get another key; whether there is one."""
        endpoint = renewed(self._endpoint)
        self._endpoint = endpoint or self._endpoint
        return endpoint is not None

    def _learn(self, parameter: str) -> None:
        with suppress(StoreError):  # the answer does not wait for a disk that is full
            self._lessons.refuse(parameter)

    def _ready(self, url: httpx.URL) -> httpx.AsyncClient:
        """Make the client, once."""
        with self._lock:
            if self._client is None:
                self._client = make_client(url, self._transport)
            return self._client

    async def _failure(self, response: httpx.Response) -> Failure:
        """Read why there is no answer."""
        status, headers = response.status_code, dict(response.headers.items())
        body = await self._start_of(response)
        error = refusal(status, body, self._endpoint.help_of(status), headers)
        said = message_of(parsed(body)).rstrip(".")
        why = blotted(": ".join(filter(None, (f"HTTP {status}", said))), self._endpoint)
        return Failure(without_secrets(error, self._endpoint), status, headers, body, why)

    async def _start_of(self, response: httpx.Response) -> str:
        """Read the first 64 KiB of a body, or what can be read of them in a short time."""
        body = bytearray()
        try:
            async with asyncio.timeout(self._pace.patience):
                async for chunk in response.aiter_bytes():
                    body += chunk
                    if len(body) > _MAX_ERROR_BYTES:
                        break
        except (httpx.HTTPError, httpx.StreamError, TimeoutError):
            pass  # the status tells enough
        return bytes(body).decode("utf-8", "replace")

    async def _read(self, response: httpx.Response) -> AsyncGenerator[Piece, None]:
        """Yield the answer; where it breaks off, what there is of it first."""
        answer = Answer(self._protocol, media_type(response.headers.get("content-type", "")))
        failure: ProviderError | None = None
        chunks, until = response.aiter_bytes(), None
        try:
            while not answer.over and (chunk := await _next(chunks, until)) is not None:
                for piece in answer.feed(chunk):
                    yield piece
                    until = None
                if answer.finished and until is None:  # only counts may come, and comments
                    until = asyncio.get_running_loop().time() + self._pace.patience
            for piece in answer.end():
                yield piece
        except (ProviderError, httpx.HTTPError, httpx.StreamError, TimeoutError) as error:
            failure = self._broken(answer, error)
        finally:
            await response.aclose()
        for piece in answer.held():
            yield piece
        if failure is not None:
            raise failure

    def _broken(self, answer: Answer, error: Exception) -> ProviderError | None:
        """Say why the answer broke off; None where it was complete, and no harm was done."""
        if isinstance(error, ProviderError):
            return without_secrets(error, self._endpoint)
        if answer.finished:
            return None
        return StreamCut(f"The connection broke: {reason_of(error)}.", SEND_AGAIN)


async def _next(chunks: AsyncIterator[bytes], until: float | None) -> bytes | None:
    """Wait for a chunk, no longer than until that time of the loop's; None: for as long as needed.

    Raises:
        TimeoutError: None came in time.

    """
    async with asyncio.timeout_at(until):
        return await anext(chunks, None)
