"""Recorded streams, replayed through the provider: whole, and split at every byte.

The files in `recorded/` are named PROTOCOL_WHAT; their suffix tells how a server would call them.
"""

from __future__ import annotations

import json
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import httpx

from jitchat.errors import ProviderError
from jitchat.providers.http.decode import ResponseDecoder
from jitchat.providers.http.provider import HttpProvider
from jitchat.providers.protocols.calls import CallNames, origin_of
from jitchat.providers.provider import Options, Piece
from tests.providers.streams import ASKED, Body, answered, endpoint

if TYPE_CHECKING:
    from jitchat.providers.provider import WireProtocol

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


def recorded_part(file: str, field: str) -> str:
    """Read a field of an answer that was recorded as one document, as JSON."""
    return json.dumps(json.loads((RECORDED / file).read_text(encoding="utf-8"))[field])


async def replay(protocol: WireProtocol, file: str) -> Replayed:
    """Answer a request with a recorded stream, in one go."""
    return await _replayed(protocol, file, [(RECORDED / file).read_bytes()])


async def require_same_at_every_byte(protocol: WireProtocol, file: str) -> None:
    """Fail unless the stream says the same byte by byte, and in two chunks.

    These are parted at every end of a line, inside every character of several bytes, and at every
    eleventh place.
    """
    data = (RECORDED / file).read_bytes()
    whole = await replay(protocol, file)
    assert await _replayed(protocol, file, [bytes([byte]) for byte in data]) == whole
    places = [
        at
        for at in range(1, len(data))
        if at % 11 == 0 or any(byte in b"\r\n" or byte >= 0x80 for byte in data[at - 1 : at + 1])
    ]
    assert [at for at in places if _read(protocol, file, data[:at], data[at:]) != whole] == []


async def _replayed(protocol: WireProtocol, file: str, chunks: list[bytes]) -> Replayed:
    """Send a request, and have it answered in these chunks."""
    headers = {"content-type": _MEDIA_TYPES[Path(file).suffix]}

    def handle(request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, headers=headers, stream=Body(chunks))

    provider = HttpProvider(endpoint(), protocol, httpx.MockTransport(handle))
    pieces: list[Piece] = []
    error = ""
    try:
        async with aclosing(answered(provider, ASKED, Options())) as stream:
            async for piece in stream:
                pieces.append(piece)  # noqa: PERF401  what came before an error counts
    except ProviderError as failed:
        error = failed.what
    await provider.aclose()
    return Replayed(pieces, error)


def _read(protocol: WireProtocol, file: str, *chunks: bytes) -> Replayed:
    """Decode the chunks as the loop does, without a request: a millisecond each would add up."""
    answer, pieces = ResponseDecoder(protocol.parser(), _MEDIA_TYPES[Path(file).suffix]), []
    calls = CallNames(ASKED, origin_of(endpoint(), protocol.name))
    error = ""
    try:
        for chunk in chunks:
            pieces.extend(answer.feed(chunk))
            if answer.over:
                break
        pieces.extend(answer.end())
    except ProviderError as failed:
        error = failed.what
    return Replayed([calls.named(piece) for piece in (*pieces, *answer.held())], error)
