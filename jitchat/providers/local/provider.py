"""The provider for a local engine, which each request starts if it is not running."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import replace

from jitchat.errors import ProviderError, StreamCut, Unreachable
from jitchat.providers import provider
from jitchat.providers.http.provider import HttpProvider
from jitchat.providers.local.engine import Engine
from jitchat.providers.protocols.protocol import WireProtocol
from jitchat.threads import left_at_exit
from jitchat.values import Message
from jitchat.writing.pieces import WritingRules

_ENDING = 1.0
"""Seconds to wait for the end of a process whose connections broke."""


class LocalProvider:
    def __init__(
        self,
        endpoint: provider.Endpoint,
        protocol: WireProtocol,
        engine: Engine,
        quirks: provider.ServerQuirks | None = None,
    ) -> None:
        """Make the provider; the engine's address and key replace those of `endpoint`."""
        self.name, self.model = endpoint.name, endpoint.model
        self._endpoint, self._protocol = endpoint, protocol
        self._engine, self._quirks = engine, quirks
        self._over_http = HttpProvider(endpoint, protocol, quirks=quirks)
        """Connected to the engine's last known address."""

    def rules(self, options: provider.Options) -> WritingRules:
        return self._over_http.rules(options)

    async def stream(
        self, messages: Sequence[Message], options: provider.Options
    ) -> AsyncGenerator[provider.Piece, None]:
        await self._find_engine()
        try:
            async with aclosing(self._over_http.stream(messages, options)) as pieces:
                async for piece in pieces:
                    if isinstance(piece, provider.RetryScheduled):
                        await self._require_engine()
                    yield piece
        except (StreamCut, Unreachable) as error:
            await self._require_engine(error)
            raise

    def wire(
        self, messages: Sequence[Message], options: provider.Options, *, as_posted: bool = False
    ) -> provider.Wire:
        return self._over_http.wire(messages, options, as_posted=as_posted)

    async def aclose(self) -> None:
        """Close the connection; the engine keeps running for other sessions."""
        await self._over_http.aclose()

    async def _find_engine(self) -> None:
        base_url, key = await left_at_exit(self._engine.server)
        if (base_url, key) != (self._endpoint.base_url, self._endpoint.key):
            former = self._over_http
            self._endpoint = replace(self._endpoint, base_url=base_url, key=key)
            self._over_http = HttpProvider(self._endpoint, self._protocol, quirks=self._quirks)
            await former.aclose()

    async def _require_engine(self, error: ProviderError | None = None) -> None:
        """Raise StreamCut if the engine's process has ended."""
        if ended_by := await left_at_exit(lambda: self._engine.ended_by(_ENDING)):
            raise StreamCut(
                f"The local model's process ended ({ended_by}).",
                "Send again to restart it. If memory is short, set a lower provider.limit.",
            ) from error
