"""A server on this machine that does everything wrong: no hang, no crash, nothing left open.

Each round draws what the server does, how it cuts its bytes, and whether the user stops the
stream on the way. `--long` does two hundred rounds of each and holds stopping to 100 ms.
"""

from __future__ import annotations

import asyncio
import random
import time
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING

import pytest

from jitchat.errors import KeyRefused, NotAnAnswer, ProviderError, StreamCut, Unreachable
from jitchat.providers.http.provider import HttpProvider
from jitchat.providers.http.retry import Clock
from jitchat.providers.protocols.openai import OpenAiProtocol
from jitchat.providers.provider import Options
from tests.providers.hostile import (
    Behaviour,
    Round,
    Writer,
    answer,
    compressed_error,
    cut,
    endless_headers,
    garbage,
    half_an_event,
    hang_up_at_once,
    nothing,
    page,
    page_of_a_proxy,
    redirect,
    reset,
    reset_at_once,
    silence_after_the_end,
    slow_headers,
    stall,
    stalled_error,
    too_long_a_promise,
    too_short_a_promise,
    trickle,
)
from tests.providers.streams import ASKED, answered, endpoint, no_wait, text_of
from tests.support import has_loopback

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

pytestmark = pytest.mark.skipif(not has_loopback(), reason="needs the loopback interface")

LONGEST = 20.0
"""Seconds for a round that should take a few milliseconds: a test that hangs fails."""


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


@asynccontextmanager
async def hostile(behaviour: Behaviour, it: Round) -> AsyncIterator[HttpProvider]:
    """A provider whose server behaves so; at the end neither has anything open."""
    handling: set[asyncio.Task[None]] = set()

    async def handle(reader: asyncio.StreamReader, writer: Writer) -> None:
        handling.add(asyncio.current_task())
        try:
            with suppress(ConnectionError, asyncio.IncompleteReadError):
                await reader.readuntil(b"\r\n\r\n")
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
        clock=Clock(sleep=no_wait, patience=0.05),
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
    stream = answered(wanted, ASKED, Options())

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
    for seed in range(rounds(3, 200)):
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
    for seed in range(rounds(3, 200)):
        it = await play(behaviour, seed, stop_after=random.Random(seed).uniform(0.0, 0.03))
        assert it.sent.startswith(text_of(it.pieces)), seed
        assert behaviour in ENDS or it.stopping is not None, seed
        if it.stopping is not None:
            took.append(it.stopping)
            assert it.stopping < LONGEST / 4, seed
    if request.config.getoption("--long") and took:
        slowest = sorted(took)[int(len(took) * 0.99) - 1 if len(took) > 1 else 0]
        assert slowest < 0.1, f"p99 {slowest:.3f} s of {len(took)}"
