"""A real engine that is stopped, busy, slow, frozen or killed, as our provider takes it."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from typing import TYPE_CHECKING

import httpx
import pytest

from jitchat.errors import StreamCut, Unreachable
from jitchat.providers.http.provider import HttpProvider
from jitchat.providers.protocols.protocol import protocol_named
from jitchat.providers.provider import Piece, ReplyDelta
from tests.engine.asking import ROUTES, Asked, ask, endpoint, provider, said, server_says
from tests.engine.tiny_model import BRIEF

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.engine.server import Engine

by_every_route = pytest.mark.parametrize("route", ROUTES)
can_freeze = pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="needs SIGSTOP")
AT_ONCE = 5.0
"""Seconds; far less than an endless answer takes."""


async def is_busy(engine: Engine) -> bool:
    (slot,) = await server_says(engine, "/slots")
    return slot["is_processing"]


class After:
    """Watches for the text; does something once that has come, and goes on or not."""

    def __init__(self, pieces: int, do=lambda: None, *, go_on: bool) -> None:
        self._left, self._do, self._go_on = pieces, do, go_on

    def __call__(self, piece: Piece) -> bool:
        self._left -= isinstance(piece, ReplyDelta)
        if self._left == 0:
            self._do()
        return self._left > 0 or self._go_on


@by_every_route
async def test_a_cancelled_answer_frees_the_engine_for_the_next(roomy, route):
    cancelled = await ask(
        provider(roomy, route), said("Go on for ever."), watch=After(20, go_on=False)
    )
    started = time.monotonic()
    next_one = await ask(provider(roomy, route), said("Answer briefly."))

    assert len(cancelled.texts) == 20
    assert (next_one.text, next_one.error) == (BRIEF, None)
    assert time.monotonic() - started < AT_ONCE
    assert not await is_busy(roomy)


async def test_a_cancelled_task_frees_the_engine_too(roomy):
    begun = asyncio.Event()
    asking = asyncio.create_task(
        ask(provider(roomy), said("Go on for ever."), watch=After(1, begun.set, go_on=True))
    )
    await begun.wait()
    assert await is_busy(roomy)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking

    assert (await ask(provider(roomy), said("Answer briefly."))).text == BRIEF


@by_every_route
async def test_an_engine_that_is_busy_for_longer_than_we_wait_is_a_sentence(roomy, route):
    """Its one slot is taken: it sends not even a status."""
    begun = asyncio.Event()
    other = asyncio.create_task(
        ask(provider(roomy), said("Go on for ever."), watch=After(1, begun.set, go_on=True))
    )
    await begun.wait()
    asked = await ask(provider(roomy, route, read_seconds=0.2), said("Answer briefly."))
    other.cancel()

    assert isinstance(asked.error, Unreachable)
    assert "no answer in time" in asked.error.what
    assert not asked.pieces
    assert (await ask(provider(roomy, route), said("Answer briefly."))).text == BRIEF


@by_every_route
async def test_several_requests_at_once_wait_for_each_other(engine, route):
    asking = provider(engine, route)
    each = [ask(asking, said(f"Number {number}, briefly."), close=False) for number in range(4)]
    answers = await asyncio.gather(*each)
    await asking.aclose()

    assert [(asked.text, asked.error) for asked in answers] == [(BRIEF, None)] * 4


class Overheard(httpx.AsyncBaseTransport):
    """Passes everything on, and keeps what came."""

    def __init__(self) -> None:
        self._inner = httpx.AsyncHTTPTransport()
        self.heard = bytearray()

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        response = await self._inner.handle_async_request(request)
        response.stream = _Overhearing(response.stream, self.heard)
        return response

    async def aclose(self) -> None:
        await self._inner.aclose()


class _Overhearing(httpx.AsyncByteStream):
    def __init__(self, stream, heard: bytearray) -> None:
        self._stream, self._heard = stream, heard

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._stream:
            self._heard += chunk
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()


async def test_pings_while_a_long_window_is_read_are_no_part_of_the_answer(roomy):
    """The server pings after each second without a token; each restarts our patience."""
    transport = Overheard()
    asking = HttpProvider(endpoint(roomy), protocol_named("openai"), transport)
    asked = await ask(asking, said(f"{'ab' * 6_000} Answer briefly."))

    assert (asked.text, asked.error) == (BRIEF, None)
    if not transport.heard.startswith(b":"):
        pytest.skip("this machine read 12,000 tokens in less than a second")


@can_freeze
async def test_an_engine_that_freezes_or_is_killed_in_its_answer_ends_it_with_what_came(fragile):
    freeze = After(20, lambda: os.kill(fragile.process, signal.SIGSTOP), go_on=True)
    asked = await ask(provider(fragile, read_seconds=0.3), said("Go on for ever."), watch=freeze)
    os.kill(fragile.process, signal.SIGCONT)

    _require_cut(asked, "no answer in time")
    assert (await ask(provider(fragile), said("Answer briefly."))).text == BRIEF

    kill = After(20, lambda: os.kill(fragile.process, signal.SIGKILL), go_on=True)
    _require_cut(await ask(provider(fragile), said("Go on for ever."), watch=kill))

    gone = await ask(provider(fragile), said("Answer briefly."))
    assert isinstance(gone.error, Unreachable)
    assert fragile.address in gone.error.what


def _require_cut(asked: Asked, why: str = "") -> None:
    assert isinstance(asked.error, StreamCut)
    assert why in asked.error.what
    assert len(asked.texts) >= 20
