"""The behaviours of a hostile server, one per function."""

from __future__ import annotations

import asyncio
import gzip
import json
import socket
import struct
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tests.providers.streams import DONE, STOP, delta, event

if TYPE_CHECKING:
    import random

    from jitchat.errors import ProviderError
    from jitchat.providers.provider import Piece

WORDS = ("Hel", "lo ", "漢字", "😀", "\u2028")
STREAM = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
Writer = asyncio.StreamWriter


@dataclass
class Round:
    """One request: what the server did, and what came of it."""

    rng: random.Random
    sent: str = ""
    """The text that the server sent in whole events."""
    pieces: list[Piece] = field(default_factory=list)
    failure: ProviderError | None = None
    is_whole: bool = False
    stopping: float | None = None
    """Seconds that closing the stream took; None where it came to its own end."""

    async def write(self, writer: Writer, data: bytes) -> None:
        """Send in pieces of any size, each of them on its own."""
        start = 0
        while start < len(data):
            width = self.rng.choice([1, 7, 60, 1_000])
            writer.write(data[start : start + width])
            await writer.drain()
            await asyncio.sleep(0)
            start += width

    async def some_words(self, writer: Writer) -> None:
        for word in self.rng.choices(WORDS, k=self.rng.randrange(1, 6)):
            await self.write(writer, event(delta(word)).encode())
            self.sent += word


Behaviour = Callable[[Round, Writer], Awaitable[None]]


async def forever() -> None:
    await asyncio.Event().wait()


async def answer(it: Round, writer: Writer) -> None:
    await it.write(writer, STREAM)
    await it.some_words(writer)
    await it.write(writer, (event(STOP) + DONE).encode())


async def cut(it: Round, writer: Writer) -> None:
    await it.write(writer, STREAM)
    await it.some_words(writer)


async def stall(it: Round, writer: Writer) -> None:
    await cut(it, writer)
    await forever()


async def trickle(it: Round, writer: Writer) -> None:
    await cut(it, writer)
    while True:
        writer.write(b":\n")
        await writer.drain()
        await asyncio.sleep(0.001)


async def reset(it: Round, writer: Writer) -> None:
    await cut(it, writer)
    hang_up(writer)


async def reset_at_once(it: Round, writer: Writer) -> None:
    hang_up(writer)


async def hang_up_at_once(it: Round, writer: Writer) -> None:
    """Close without a word."""


async def half_an_event(it: Round, writer: Writer) -> None:
    await cut(it, writer)
    tail = event(delta("never")).encode()
    await it.write(writer, tail[: it.rng.randrange(1, len(tail) - 6)])


async def redirect(it: Round, writer: Writer) -> None:
    await it.write(writer, b"HTTP/1.1 307 X\r\nLocation: http://evil.test/\r\n\r\n")


async def page(it: Round, writer: Writer) -> None:
    kind = it.rng.choice([b"text/html", b"text/event-stream", b"application/json"])
    await it.write(writer, b"HTTP/1.1 200 OK\r\nContent-Type: " + kind + b"\r\n\r\n<html>Log in")


async def page_of_a_proxy(it: Round, writer: Writer) -> None:
    await it.write(writer, b"HTTP/1.1 502 X\r\nContent-Type: text/html\r\n\r\n<html>502</html>")


async def slow_headers(it: Round, writer: Writer) -> None:
    await it.write(writer, STREAM[: it.rng.randrange(1, len(STREAM) - 2)])
    await forever()


async def compressed_error(it: Round, writer: Writer) -> None:
    body = gzip.compress(json.dumps({"error": {"message": "no such key"}}).encode())
    body = body[: it.rng.choice([len(body), 10, 25])]
    await it.write(writer, b"HTTP/1.1 401 X\r\nContent-Encoding: gzip\r\n\r\n" + body)


async def endless_headers(it: Round, writer: Writer) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\n")
    while True:
        writer.write(b"X-More: " + b"x" * 1_000 + b"\r\n")
        await writer.drain()


async def garbage(it: Round, writer: Writer) -> None:
    await it.write(writer, it.rng.randbytes(40) + b"\r\n\r\n")


async def too_long_a_promise(it: Round, writer: Writer) -> None:
    head = STREAM.replace(b"Connection: close", b"Content-Length: 99999")
    await it.write(writer, head)
    await it.some_words(writer)


async def too_short_a_promise(it: Round, writer: Writer) -> None:
    await it.write(writer, STREAM.replace(b"Connection: close", b"Content-Length: 3"))
    await it.write(writer, event(delta("never")).encode())


async def nothing(it: Round, writer: Writer) -> None:
    await it.write(writer, STREAM)


async def stalled_error(it: Round, writer: Writer) -> None:
    await it.write(writer, b'HTTP/1.1 400 X\r\nContent-Length: 99\r\n\r\n{"error": "x')
    await forever()


async def silence_after_the_end(it: Round, writer: Writer) -> None:
    await it.write(writer, STREAM)
    await it.some_words(writer)
    await it.write(writer, event(STOP).encode())
    await forever()


def hang_up(writer: Writer) -> None:
    """Break the connection so that the other side is told of it by an error."""
    plug = writer.get_extra_info("socket")
    plug.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()
