"""The loop around every wire protocol: send, decode, report errors as sentences.

A key is only ever in the request's headers. Exceptions of httpx carry the request, so ours are
raised outside of their handlers, without them as a context; and what a server says is
searched for the key before it is passed on.
"""

from __future__ import annotations

import asyncio
import ipaddress
import threading
from collections.abc import AsyncGenerator, Sequence

import httpx

from jitchat.errors import KeyRefused, NotAnAnswer, ProviderError, StreamCut, Unreachable
from jitchat.providers.http.answer import Answer
from jitchat.providers.protocol import Endpoint, WireProtocol
from jitchat.providers.protocols.refusals import refusal
from jitchat.providers.provider import Options, Piece
from jitchat.text.safe import one_line, shortened
from jitchat.turn import Message

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
        """Stream the answer, piece by piece."""
        response = await self._open(self._request(messages, options))
        answer = Answer(self._protocol, streamed=_media_type(response) != "application/json")
        failure: ProviderError | None = None
        try:
            await self._require_answer(response)
            async for chunk in response.aiter_bytes():
                for piece in answer.feed(chunk):
                    yield piece
                if answer.over:
                    break
            for piece in answer.end():
                yield piece
        except ProviderError as error:
            failure = self._without_key(error)
        except (httpx.HTTPError, httpx.StreamError) as error:
            failure = None if answer.finished else _cut(error)
        finally:
            await response.aclose()
        if failure is not None:
            raise failure

    async def aclose(self) -> None:
        """Close the connections."""
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    def _request(self, messages: Sequence[Message], options: Options) -> httpx.Request:
        if not _sendable(self._endpoint.key):
            raise KeyRefused(
                "The API key holds characters that no key has (a blank, a line break, an"
                " ellipsis …).",
                "Copy it again; it was not sent anywhere.",
            )
        request = self._addressed(messages, options)
        if request is None:
            raise Unreachable(
                f"{shortened(self._endpoint.base_url, 200)!r} is not an address.",
                "Set provider.base_url, for example http://localhost:8080/v1.",
            )
        request.extensions["timeout"] = self._timeout().as_dict()
        return request

    def _addressed(self, messages: Sequence[Message], options: Options) -> httpx.Request | None:
        """Make the request; None where the base URL is not one."""
        try:
            request = self._protocol.request(self._endpoint, messages, options)
        except (httpx.InvalidURL, ValueError):
            return None
        url = request.url
        known = url.scheme in ("http", "https") and url.host and (url.port or 80) < 1 << 16
        return request if known else None

    def _timeout(self) -> httpx.Timeout:
        endpoint = self._endpoint
        return httpx.Timeout(
            connect=endpoint.connect_seconds, read=endpoint.read_seconds, write=30.0, pool=5.0
        )

    async def _open(self, request: httpx.Request) -> httpx.Response:
        """Send the request; the response, with its body still to come."""
        client = await asyncio.to_thread(self._ready, request.url)
        try:
            return await client.send(request, stream=True)
        except httpx.HTTPError as error:
            reason = _reason(error)
        where = f"{request.url.scheme}://{request.url.netloc.decode()}"
        raise Unreachable(
            f"{self.name} cannot be reached at {where}: {reason}.",
            "Is the server running, and provider.base_url right?",
        )

    def _ready(self, url: httpx.URL) -> httpx.AsyncClient:
        """Make the client, once; it is thread's work, for reading certificates takes 40 ms."""
        with self._lock:
            try:
                self._client = self._client or _make_client(url, self._transport)
            except (ImportError, ValueError, OSError, httpx.InvalidURL) as error:
                reason = shortened(str(error), 200)
            else:
                return self._client
        raise Unreachable(
            f"The proxy or TLS settings of the environment do not work: {reason}.",
            "Check ALL_PROXY, HTTP_PROXY, HTTPS_PROXY, NO_PROXY, SSL_CERT_FILE and SSL_CERT_DIR.",
        )

    async def _require_answer(self, response: httpx.Response) -> None:
        if response.is_redirect:
            target = shortened(response.headers["location"], 200)
            raise NotAnAnswer(
                f"The server redirects to {target}, which was not followed.",
                "If that is right, set provider.base_url to it.",
            )
        if not response.is_success:
            body = await _start_of(response)
            raise refusal(response.status_code, body, self._endpoint.key_help)
        if _media_type(response) in ("text/html", "application/xhtml+xml"):
            raise NotAnAnswer(
                "The server answered with a web page, not with a model's answer.",
                "Check provider.base_url (it usually ends in /v1), and that no login page is"
                " between.",
            )

    def _without_key(self, error: ProviderError) -> ProviderError:
        """Make the error anew, without the key that a server may have repeated, and alone."""
        key = self._endpoint.key
        what = error.what.replace(key, "•••") if key else error.what
        return type(error)(what, error.remedy)


def _sendable(key: str) -> bool:
    return key.isascii() and key.isprintable() and " " not in key


def _make_client(url: httpx.URL, transport: httpx.AsyncBaseTransport | None) -> httpx.AsyncClient:
    """Make the client. A proxy is for other machines, never for the way to this one.

    Plain HTTP to this machine needs nothing from the environment, so nothing in it can break
    that, and it needs no certificates.
    """
    secure, here = url.scheme == "https", _is_this_machine(url.host)
    return httpx.AsyncClient(
        transport=transport,
        mounts=dict.fromkeys(("http://", "https://")) if here and transport is None else None,
        trust_env=secure or not here,
        verify=secure,
    )


def _is_this_machine(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified


def _media_type(response: httpx.Response) -> str:
    kind: str = response.headers.get("content-type", "")
    return kind.partition(";")[0].strip().lower()


def _reason(error: Exception) -> str:
    if isinstance(error, httpx.TimeoutException):
        return "no answer in time"
    return one_line(str(error)).rstrip(".") or type(error).__name__


def _cut(error: Exception) -> StreamCut:
    return StreamCut(f"The connection broke: {_reason(error)}.", "What came is kept. Send again.")


async def _start_of(response: httpx.Response) -> str:
    """Read the first 64 KiB of a body, or what can be read of them."""
    body = bytearray()
    try:
        async for chunk in response.aiter_bytes():
            body += chunk
            if len(body) > _MAX_ERROR_BYTES:
                break
    except httpx.HTTPError:
        pass  # the status tells enough
    return bytes(body).decode("utf-8", "replace")
