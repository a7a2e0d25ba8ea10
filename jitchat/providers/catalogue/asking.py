"""Small questions to a server beside the chat: one JSON value each, or a ProviderError.

The same care as for an answer: the key is in a header only and never in an error, redirects
are not followed, the way to this machine is not through a proxy, and neither a body without
end nor one that trickles keeps anybody waiting.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from types import TracebackType
from typing import Self

import httpx

from jitchat.errors import KeyRefused, NotAnAnswer, ProviderError, Unreachable
from jitchat.providers.http.provider import _make_client, _reason, _sendable
from jitchat.providers.protocol import Endpoint
from jitchat.providers.protocols.refusals import CHECK_URL, refusal
from jitchat.providers.protocols.values import parsed
from jitchat.text.safe import shortened

MAX_BYTES = 8 << 20
PATIENCE = 20.0
"""Seconds for one question, from asking to the end of the answer."""

Params = Mapping[str, str | int]


class Server:
    """Who is asked. Open it with `async with`: its connections serve several questions."""

    def __init__(
        self,
        endpoint: Endpoint,
        protocol_name: str,
        transport: httpx.AsyncBaseTransport | None = None,
        *,
        patience: float = PATIENCE,
        connect: float | None = None,
    ) -> None:
        """`patience` and `connect` are in seconds; `connect` None: as the endpoint says."""
        self.base = endpoint.base_url.rstrip("/")
        self.root = self.base.removesuffix("/v1").removesuffix("/api")
        """The server without its API's version, where it has routes of its own."""
        self._endpoint, self._protocol, self._transport = endpoint, protocol_name, transport
        self._patience, self._connect = patience, connect or endpoint.connect_seconds
        self._client: httpx.AsyncClient | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._client is not None:
            await self._client.aclose()

    async def get(self, url: str, params: Params | None = None) -> object:
        """Ask.

        Raises:
            ProviderError: No JSON came, or an error did.

        """
        return await self._asked("GET", url, params, None)

    async def post(self, url: str, body: Mapping[str, object]) -> object:
        """Ask with a body; raises what `get` raises."""
        return await self._asked("POST", url, None, body)

    async def _asked(
        self, method: str, url: str, params: Params | None, body: Mapping[str, object] | None
    ) -> object:
        request = self._request(method, url, params, body)
        failure: ProviderError
        try:
            async with asyncio.timeout(self._patience):
                return await self._answer(request)
        except TimeoutError:
            failure = self._unreachable(request.url, "no answer in time")
        except ProviderError as error:
            failure = type(error)(self._without_key(error.what), error.remedy)
        except (httpx.HTTPError, httpx.StreamError) as error:
            failure = self._unreachable(request.url, self._without_key(_reason(error)))
        raise failure

    def _request(
        self, method: str, url: str, params: Params | None, body: Mapping[str, object] | None
    ) -> httpx.Request:
        if not _sendable(self._endpoint.key):
            raise KeyRefused(
                "The API key holds characters that no key has (a blank, a line break, an"
                " ellipsis …).",
                "Copy it again; it was not sent anywhere.",
            )
        try:
            request = httpx.Request(method, url, params=params, json=body, headers=self._headers())
        except (httpx.InvalidURL, ValueError):
            request = None
        if request is None or not _is_address(request.url):
            raise Unreachable(
                f"{shortened(self.base, 200)!r} is not an address.",
                "Set provider.base_url, for example http://localhost:8080/v1.",
            )
        times = httpx.Timeout(self._patience, connect=self._connect)
        request.extensions["timeout"] = times.as_dict()
        return request

    def _headers(self) -> dict[str, str]:
        key = self._endpoint.key
        headers = {"accept": "application/json", **self._endpoint.headers}
        if self._protocol == "anthropic":
            headers["anthropic-version"] = "2023-06-01"
            return headers | ({"x-api-key": key} if key else {})
        if self._protocol == "gemini":
            return headers | ({"x-goog-api-key": key} if key else {})
        return headers | ({"authorization": f"Bearer {key}"} if key else {})

    async def _answer(self, request: httpx.Request) -> object:
        client = await asyncio.to_thread(self._ready, request.url)
        response = await client.send(request, stream=True)
        try:
            body = await _body(response)
        finally:
            await response.aclose()
        text = body.decode("utf-8", "replace")
        if response.is_redirect:
            target = shortened(response.headers["location"], 200)
            raise NotAnAnswer(
                f"The server redirects to {target}, which was not followed.",
                "If that is right, set provider.base_url to it.",
            )
        if not response.is_success:
            raise refusal(response.status_code, text, self._endpoint.key_help)
        found = parsed(text)
        if found is None:
            raise NotAnAnswer(f"{self._endpoint.name} answered with something else.", CHECK_URL)
        return found

    def _ready(self, url: httpx.URL) -> httpx.AsyncClient:
        """Make the client, once; it is thread's work, for reading certificates takes 40 ms."""
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

    def _unreachable(self, url: httpx.URL, reason: str) -> Unreachable:
        where = f"{url.scheme}://{url.netloc.decode()}"
        return Unreachable(
            f"{self._endpoint.name} cannot be reached at {where}: {reason}.",
            "Is the server running, and provider.base_url right?",
        )

    def _without_key(self, text: str) -> str:
        key = self._endpoint.key
        return text.replace(key, "•••") if key else text


def _is_address(url: httpx.URL) -> bool:
    return url.scheme in ("http", "https") and url.host != "" and (url.port or 80) < 1 << 16


async def _body(response: httpx.Response) -> bytes:
    """Read the body.

    Raises:
        NotAnAnswer: It is larger than anything that is asked for here.

    """
    body = bytearray()
    async for chunk in response.aiter_bytes():
        body += chunk
        if len(body) > MAX_BYTES:
            raise NotAnAnswer(
                f"The server sent more than {MAX_BYTES >> 20} MiB where a short answer was due.",
                CHECK_URL,
            )
    return bytes(body)
