"""Small questions to a server beside the chat: one JSON value each, or a ProviderError.

The same care as for an answer: the key is in a header only and never in an error, redirects
are not followed, the way to this machine is not through a proxy, and neither a body without
end nor one that trickles keeps anybody waiting.
"""

import asyncio
from collections.abc import Mapping
from types import TracebackType
from typing import Self

import httpx

from jitchat.errors import KeyRefused, NotAnAnswer, ProviderError
from jitchat.providers.http.client import (
    is_address,
    make_client,
    no_address,
    renewed,
    require_sendable,
    unreached,
)
from jitchat.providers.http.redaction import without_secrets
from jitchat.providers.protocols.refusals import CHECK_URL, refusal
from jitchat.providers.protocols.registry import base_of, root_of
from jitchat.providers.protocols.requests import USER_AGENT, addressed, credentials
from jitchat.providers.protocols.responses import parsed
from jitchat.providers.provider import Endpoint

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
        self.base = base_of(endpoint.base_url, protocol_name)
        self.root = root_of(self.base)
        """The server without its API's version, where it has routes of its own."""
        self._endpoint, self._protocol, self._transport = endpoint, protocol_name, transport
        self._patience, self._connect = patience, connect or endpoint.connect_seconds
        self._client: httpx.AsyncClient | None = None
        self.software = ""
        """What the server called itself in its last answer; empty where it does not."""

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
        found = await self._tried(self._request(method, url, params, body))
        if isinstance(found, KeyRefused):
            endpoint = await asyncio.to_thread(renewed, self._endpoint)
            if endpoint is not None:
                self._endpoint = endpoint
                found = await self._tried(self._request(method, url, params, body))
        if isinstance(found, ProviderError):
            raise found
        return found

    async def _tried(self, request: httpx.Request) -> object:
        """Send it; a ProviderError in place of an answer where none came."""
        try:
            async with asyncio.timeout(self._patience):
                return await self._answer(request)
        except ProviderError as error:
            return without_secrets(error, self._endpoint)
        except (httpx.HTTPError, httpx.StreamError, OSError, ValueError) as error:
            failure = unreached(self._endpoint.name, request.url, error).error
            return without_secrets(failure, self._endpoint)

    def _request(
        self, method: str, url: str, params: Params | None, body: Mapping[str, object] | None
    ) -> httpx.Request:
        require_sendable(self._endpoint)
        try:
            route = addressed(self._endpoint, httpx.URL(url, params=params))
            request = httpx.Request(method, route, json=body, headers=self._headers())
        except (httpx.InvalidURL, ValueError):
            request = None
        if request is None or not is_address(request.url):
            raise no_address(self._endpoint)
        times = httpx.Timeout(self._patience, connect=self._connect)
        request.extensions["timeout"] = times.as_dict()
        return request

    def _headers(self) -> httpx.Headers:
        """Make the headers; the user's own ones win."""
        headers = httpx.Headers({"accept": "application/json", "user-agent": USER_AGENT})
        named = credentials(self._endpoint, self._protocol)
        for name, value in (*named.items(), *self._endpoint.headers.items()):
            headers[name] = value
        return headers

    async def _answer(self, request: httpx.Request) -> object:
        client = await asyncio.to_thread(self._ready, request.url)
        response = await client.send(request, stream=True)
        self.software = response.headers.get("server", "")
        try:
            body = await _body(response)
        finally:
            await response.aclose()
        text = body.decode("utf-8", "replace")
        if not response.is_success:
            headers = dict(response.headers.items())
            key_help = self._endpoint.help_of(response.status_code)
            raise refusal(response.status_code, text, key_help, headers)
        found = parsed(text)
        if found is None:
            raise NotAnAnswer(f"{self._endpoint.name} answered with something else.", CHECK_URL)
        return found

    def _ready(self, url: httpx.URL) -> httpx.AsyncClient:
        """Make the client, once; it is thread's work, for reading certificates takes 40 ms."""
        if self._client is None:
            self._client = make_client(url, self._transport)
        return self._client


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
