"""The loop around every wire protocol: send, decode, report errors as sentences.

A key is only ever in the request's headers: exceptions of httpx, which carry the request, are
never passed on as they are.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import httpx

from jitchat.errors import KeyRefused, NotAnAnswer, ProviderError, StreamCut, Unreachable
from jitchat.providers.protocol import Endpoint, WireProtocol
from jitchat.providers.provider import Finished, Options, Piece
from jitchat.providers.sse import EventTooLarge, SseDecoder
from jitchat.text.safe import one_line
from jitchat.turn import Message

_LOCAL = ("all://127.0.0.1", "all://localhost", "all://[::1]")
_MAX_ERROR_BYTES = 64 << 10


class HttpProvider:
    """A provider behind an endpoint."""

    def __init__(
        self,
        endpoint: Endpoint,
        protocol: WireProtocol,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self._endpoint, self._protocol, self._transport = endpoint, protocol, transport
        self._client: httpx.AsyncClient | None = None

    @property
    def name(self) -> str:
        """As the settings call it."""
        return self._endpoint.name

    @property
    def model(self) -> str:
        """The model's own name."""
        return self._endpoint.model

    async def stream(self, messages: Sequence[Message], options: Options) -> AsyncIterator[Piece]:
        """The answer, piece by piece."""
        request = self._request(messages, options)
        async with self._answer(request) as response:
            await self._require_events(response)
            finished = False
            async for piece in self._pieces(response):
                finished = finished or isinstance(piece, Finished)
                yield piece
        if not finished:
            raise StreamCut("The answer stopped half way.", "What came is kept. Send again.")

    async def aclose(self) -> None:
        """Close the connections."""
        if self._client is not None:
            await self._client.aclose()
            self._client = None

    def _request(self, messages: Sequence[Message], options: Options) -> httpx.Request:
        key = self._endpoint.key
        if not (key.isascii() and key.isprintable()) or " " in key:
            raise KeyRefused(
                "The API key holds characters that no key has (a blank, a line break, an"
                " ellipsis …).",
                "Copy it again; it was not sent anywhere.",
            )
        try:
            request = self._protocol.request(self._endpoint, messages, options)
        except httpx.InvalidURL:
            request = None
        if request is None or request.url.scheme not in ("http", "https") or not request.url.host:
            raise Unreachable(
                f"{one_line(self._endpoint.base_url)!r} is not an address.",
                "Set provider.base_url, for example http://localhost:8080/v1.",
            )
        request.extensions["timeout"] = self._timeout().as_dict()
        return request

    def _timeout(self) -> httpx.Timeout:
        endpoint = self._endpoint
        return httpx.Timeout(
            connect=endpoint.connect_seconds, read=endpoint.read_seconds, write=30.0, pool=5.0
        )

    def _opened(self) -> httpx.AsyncClient:
        if self._client is None:
            try:
                self._client = httpx.AsyncClient(
                    transport=self._transport,
                    mounts=None if self._transport else dict.fromkeys(_LOCAL),
                )
            except (ImportError, ValueError, OSError, httpx.InvalidURL) as error:
                raise Unreachable(
                    f"The proxy or TLS settings of the environment do not work: {error}.",
                    "Check ALL_PROXY, HTTPS_PROXY, NO_PROXY and SSL_CERT_FILE.",
                ) from None
        return self._client

    @asynccontextmanager
    async def _answer(self, request: httpx.Request) -> AsyncIterator[httpx.Response]:
        """The open response; httpx's errors become ours, without the request in them."""
        try:
            response = await self._opened().send(request, stream=True)
            try:
                yield response
            finally:
                await response.aclose()
        except ProviderError:
            raise
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.UnsupportedProtocol) as error:
            where = f"{request.url.scheme}://{request.url.netloc.decode()}"
            raise Unreachable(
                f"{self.name} cannot be reached at {where}: {one_line(str(error)) or 'no answer'}.",
                "Is the server running, and provider.base_url right?",
            ) from None
        except (httpx.HTTPError, httpx.StreamError, EventTooLarge) as error:
            raise StreamCut(
                f"The connection broke: {one_line(str(error)) or type(error).__name__}.",
                "What came is kept. Send again.",
            ) from None

    async def _require_events(self, response: httpx.Response) -> None:
        if response.is_redirect:
            target = one_line(response.headers.get("location", "elsewhere"))
            raise NotAnAnswer(
                f"The server redirects to {target}, which was not followed.",
                "If that is right, set provider.base_url to it.",
            )
        if not response.is_success:
            body = await _start_of(response)
            raise self._protocol.refusal(response.status_code, body)
        kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind in ("text/html", "application/xhtml+xml"):
            raise NotAnAnswer(
                "The server answered with a web page, not with a model's answer.",
                "Check provider.base_url (it usually ends in /v1), and that no login page is"
                " between.",
            )

    async def _pieces(self, response: httpx.Response) -> AsyncIterator[Piece]:
        kind = response.headers.get("content-type", "")
        if kind.startswith("application/json"):
            body = (await response.aread()).decode("utf-8", "replace")
            for piece in self._protocol.parse("", body):
                yield piece
            return
        decoder = SseDecoder()
        async for chunk in response.aiter_bytes():
            for event, data in decoder.feed(chunk):
                for piece in self._protocol.parse(event, data):
                    yield piece
        for event, data in decoder.end():
            for piece in self._protocol.parse(event, data):
                yield piece


async def _start_of(response: httpx.Response) -> str:
    """The first 64 KiB of a body."""
    body = bytearray()
    async for chunk in response.aiter_bytes():
        body += chunk
        if len(body) > _MAX_ERROR_BYTES:
            break
    return bytes(body).decode("utf-8", "replace")
