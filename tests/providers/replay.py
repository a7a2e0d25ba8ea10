"""Recorded streams, replayed through the provider: whole, and split at every byte.

The files in `recorded/` are named PROTOCOL_WHAT; their suffix tells how a server would call them.
"""

from __future__ import annotations

from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path

import httpx

from jitchat.errors import ProviderError
from jitchat.providers.http.provider import HttpProvider
from jitchat.providers.protocol import WireProtocol
from jitchat.providers.provider import Options, Piece
from tests.providers.streams import ASKED, Body, endpoint

RECORDED = Path(__file__).parent / "recorded"
_MEDIA_TYPES = {
    ".sse": "text/event-stream",
    ".ndjson": "application/x-ndjson",
    ".json": "application/json",
}


@dataclass(frozen=True, slots=True)
class Replayed:
    """What came of an answer."""

    pieces: list[Piece]
    error: str = ""
    """What the user is told; empty where nothing went wrong."""


async def replay(protocol: WireProtocol, file: str) -> Replayed:
    """Answer a request with a recorded stream, in one go."""
    (whole,) = await _replays(protocol, file, [0])
    return whole


async def require_same_at_every_byte(protocol: WireProtocol, file: str) -> None:
    """Fail unless the stream says the same in two chunks, wherever it is split."""
    splits = range((RECORDED / file).stat().st_size)
    whole, *others = await _replays(protocol, file, splits)
    differing = [split for split, other in zip(splits[1:], others, strict=True) if other != whole]
    assert not differing


async def _replays(protocol: WireProtocol, file: str, splits: range | list[int]) -> list[Replayed]:
    path = RECORDED / file
    data, headers = path.read_bytes(), {"content-type": _MEDIA_TYPES[path.suffix]}
    bodies = (Body([data[:split], data[split:]]) for split in splits)

    def handle(request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, headers=headers, stream=next(bodies))

    provider = HttpProvider(endpoint(), protocol, httpx.MockTransport(handle))
    replayed = [await _collected(provider) for _ in splits]
    await provider.aclose()
    return replayed


async def _collected(provider: HttpProvider) -> Replayed:
    pieces: list[Piece] = []
    try:
        async with aclosing(provider.stream(ASKED, Options())) as stream:
            async for piece in stream:
                pieces.append(piece)  # noqa: PERF401  what came before an error counts
    except ProviderError as error:
        return Replayed(pieces, error.what)
    return Replayed(pieces)
