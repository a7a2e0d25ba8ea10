"""Small questions to a server beside the chat: one JSON value each, or a ProviderError.

The same care as for an answer: the key is in a header only and never in an error, redirects
are not followed, the way to this machine is not through a proxy, and neither a body without
end nor one that trickles keeps anybody waiting.
"""

import asyncio
from collections.abc import Mapping
from urllib.parse import urlencode

import httpx

from jitchat.errors import KeyRefused, NotAnAnswer, ProviderError
from jitchat.providers.http.client import Connection, checked_request, connection_failure
from jitchat.providers.http.redaction import without_secrets
from jitchat.providers.http.retry import Failure
from jitchat.providers.protocols.json_values import parsed
from jitchat.providers.protocols.protocol import json_request
from jitchat.providers.protocols.refusals import CHECK_URL
from jitchat.providers.protocols.registry import base_of, root_of
from jitchat.providers.provider import Endpoint

MAX_BYTES = 8 << 20
PATIENCE = 20.0
"""Seconds for one question, from asking to the end of the answer."""
_NO_QUERY: Mapping[str, str | int] = {}


class JsonClient:
    """Its connections serve several questions to one server."""

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
        self.software = ""
        """What the server called itself in its last answer; empty where it does not."""
        self._protocol, self._patience = protocol_name, patience
        self._timeout = httpx.Timeout(patience, connect=connect or endpoint.connect_seconds)
        self._connection = Connection(endpoint, transport, patience)

    async def aclose(self) -> None:
        await self._connection.aclose()

    async def get(self, url: str, query: Mapping[str, str | int] = _NO_QUERY) -> object:
        """Ask.

        Raises:
            ProviderError: No JSON came, or an error did.

        """
        return await self.post(f"{url}?{urlencode(query)}" if query else url, None)

    async def post(self, url: str, body: Mapping[str, object] | None) -> object:
        answer = await self._try(url, body)
        if isinstance(answer, KeyRefused) and await asyncio.to_thread(self._connection.renew_key):
            answer = await self._try(url, body)
        if isinstance(answer, ProviderError):
            raise answer
        return answer

    async def _try(self, url: str, body: Mapping[str, object] | None) -> object:
        """Ask once; a ProviderError in place of an answer where none came."""
        endpoint = self._connection.endpoint
        request = checked_request(
            endpoint,
            lambda: json_request(endpoint, self._protocol, url, body, "application/json"),
            self._timeout,
        )
        try:
            async with asyncio.timeout(self._patience):
                return await self._answer(request)
        except ProviderError as error:
            return without_secrets(error, endpoint)
        except (httpx.HTTPError, httpx.StreamError, OSError, ValueError) as error:
            return connection_failure(endpoint, request.url, error).error

    async def _answer(self, request: httpx.Request) -> object:
        response = await self._connection.send(request)
        self.software = response.headers.get("server", "")
        if isinstance(response, Failure):
            return response.error
        body = bytearray()
        try:
            async for chunk in response.aiter_bytes():
                body += chunk
                if len(body) > MAX_BYTES:
                    size = f"{MAX_BYTES >> 20} MiB"
                    what = f"The server sent more than {size} where a short answer was due."
                    raise NotAnAnswer(what, CHECK_URL)
        finally:
            await response.aclose()
        value = parsed(body.decode("utf-8", "replace"))
        if value is None:
            name = self._connection.endpoint.name
            raise NotAnAnswer(f"{name} answered with something else.", CHECK_URL)
        return value
