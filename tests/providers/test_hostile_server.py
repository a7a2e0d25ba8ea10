"""A server on this machine that does everything wrong: no hang, no crash, nothing left open.

Each round draws what the server does, how it cuts its bytes, and whether the user stops the
stream on the way. `--long` does two hundred rounds of each and holds stopping to 100 ms.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import random
import socket
import struct
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

import pytest

from jitchat.errors import KeyRefused, NotAnAnswer, ProviderError, StreamCut, Unreachable
from jitchat.providers.http.attempts import Pace
from jitchat.providers.http.provider import HttpProvider
from jitchat.providers.protocols.openai import OpenAiProtocol
from jitchat.providers.provider import Options, Piece
from tests.providers.streams import ASKED, DONE, STOP, delta, endpoint, event, no_wait, text_of
from tests.support import has_loopback

pytestmark = pytest.mark.skipif(not has_loopback(), reason="needs the loopback interface")

WORDS = ("Hel", "lo ", "漢字", "😀", "\u2028")
STREAM = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
Writer = asyncio.StreamWriter
LONGEST = 20.0
"""Seconds for a round that should take a few milliseconds: a test that hangs fails."""


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


ENDS: dict[Behaviour, type[ProviderError] | None] = {
    answer: None,
    silence_after_the_end: None,
    cut: StreamCut,
    half_an_event: StreamCut,
    reset: StreamCut,
    too_long_a_promise: StreamCut,
    nothing: NotAnAnswer,
    too_short_a_promise: ProviderError,
    page: NotAnAnswer,
    page_of_a_proxy: NotAnAnswer,
    redirect: NotAnAnswer,
    compressed_error: KeyRefused,
    stalled_error: NotAnAnswer,
    garbage: Unreachable,
    endless_headers: Unreachable,
    hang_up_at_once: Unreachable,
    reset_at_once: Unreachable,
}
"""What comes to an end by itself, and how it is told."""
ENDLESS = (stall, trickle, slow_headers)


def hang_up(writer: Writer) -> None:
    """Break the connection so that the other side is told of it by an error."""
    plug = writer.get_extra_info("socket")
    plug.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


@asynccontextmanager
async def hostile(behaviour: Behaviour, it: Round) -> AsyncIterator[HttpProvider]:
    """A provider whose server behaves so; at the end neither has anything open."""
    handling: set[asyncio.Task[None]] = set()

    async def handle(reader: asyncio.StreamReader, writer: Writer) -> None:
        handling.add(asyncio.current_task())
        try:
            await reader.readuntil(b"\r\n\r\n")
            with suppress(ConnectionError):
                await behaviour(it, writer)
        except asyncio.CancelledError:
            pass  # a task of a server that is cancelled is reported as a failure
        finally:
            writer.close()

    listening = await asyncio.start_server(handle, "127.0.0.1", 0)
    port = listening.sockets[0].getsockname()[1]
    wanted = HttpProvider(
        endpoint(base_url=f"http://127.0.0.1:{port}/v1"),
        OpenAiProtocol(),
        pace=Pace(sleep=no_wait, patience=0.05),
    )
    try:
        yield wanted
    finally:
        await wanted.aclose()
        for task in handling:
            task.cancel()
        await asyncio.gather(*handling, return_exceptions=True)
        listening.close()
        await listening.wait_closed()


async def read(wanted: HttpProvider, it: Round, stop_after: float | None) -> None:
    """Read the answer; with `stop_after`, stop as a user does: the task, then the stream."""
    stream = wanted.stream(ASKED, Options())

    async def collect() -> None:
        async for piece in stream:
            it.pieces.append(piece)
        it.is_whole = True

    reading = asyncio.ensure_future(collect())
    await asyncio.wait({reading}, timeout=LONGEST if stop_after is None else stop_after)
    began = time.perf_counter()
    if not reading.done():
        reading.cancel()
    try:
        await reading
    except ProviderError as error:
        it.failure = error
    except asyncio.CancelledError:
        await stream.aclose()
        it.stopping = time.perf_counter() - began


async def play(behaviour: Behaviour, seed: int, stop_after: float | None = None) -> Round:
    """One round, after which no task is left."""
    it = Round(random.Random(seed))
    before = asyncio.all_tasks()
    async with asyncio.timeout(3 * LONGEST), hostile(behaviour, it) as wanted:
        await read(wanted, it, stop_after)
    for _ in range(200):  # what httpx reads with is closed by tasks of its own
        if asyncio.all_tasks() == before:
            break
        await asyncio.sleep(0)
    assert asyncio.all_tasks() == before, f"{behaviour.__name__} {seed}"
    return it


@pytest.mark.parametrize("behaviour", ENDS, ids=lambda each: each.__name__)
async def test_every_end_is_an_answer_or_an_error_of_ours_and_keeps_what_came(behaviour, rounds):
    for seed in range(rounds(10, 200)):
        it = await play(behaviour, seed)
        assert it.stopping is None, "it hangs"
        assert text_of(it.pieces) == it.sent or behaviour is reset, seed
        assert it.sent.startswith(text_of(it.pieces)), seed  # a reset may overtake what was sent
        expected = ENDS[behaviour]
        assert it.is_whole is (expected is None), seed
        if expected is not None:
            assert isinstance(it.failure, expected), (seed, it.failure)
            assert it.failure.what, seed
            assert it.failure.remedy, seed


@pytest.mark.parametrize("behaviour", [*ENDLESS, *ENDS], ids=lambda each: f"{each.__name__}")
async def test_stopping_is_quick_and_keeps_what_came(behaviour, rounds, request):
    took = []
    for seed in range(rounds(10, 200)):
        it = await play(behaviour, seed, stop_after=random.Random(seed).uniform(0.0, 0.03))
        assert it.sent.startswith(text_of(it.pieces)), seed
        assert behaviour in ENDS or it.stopping is not None, seed
        if it.stopping is not None:
            took.append(it.stopping)
            assert it.stopping < LONGEST / 4, seed
    if request.config.getoption("--long") and took:
        slowest = sorted(took)[int(len(took) * 0.99) - 1 if len(took) > 1 else 0]
        assert slowest < 0.1, f"p99 {slowest:.3f} s of {len(took)}"
