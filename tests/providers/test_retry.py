"""Retries: when, after how long, and how often."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from datetime import UTC, datetime

import httpx
import pytest

from jitchat.errors import ContextOverflow, NotAnAnswer, RequestRefused, StreamCut, Unreachable
from jitchat.providers.http.retry import Clock
from jitchat.providers.provider import Finished, Options, ReplyDelta, RetryScheduled, SentRequest
from tests.providers.failing import Failing, refused
from tests.providers.streams import (
    ASKED,
    KEY,
    Body,
    answered,
    collect,
    delta,
    event,
    provider,
    streamed,
)

NOW = datetime(2026, 3, 13, 10, tzinfo=UTC)
ANSWER = [ReplyDelta("Hel"), ReplyDelta("lo"), Finished("stop")]
LOST = httpx.RemoteProtocolError("Server disconnected without sending a response.")


def pace(waits: list[float], luck: float = 0.0) -> Clock:
    """A pace that notes what it is asked to wait."""

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    return Clock(sleep=sleep, now=lambda: NOW, luck=lambda: luck)


# when


@pytest.mark.parametrize("status", [408, 409, 429, 500, 501, 502, 503, 504, 520, 529])
async def test_what_may_pass_is_tried_again(status):
    server, waits = Failing(refused(status)), []
    pieces, failure = await collect(provider(server, clock=pace(waits)))
    assert failure is None
    assert pieces == [RetryScheduled(0.5, f"HTTP {status}: busy", status == 429), *ANSWER]
    assert waits == [0.5]
    assert len(set(server.asked)) == 1
    assert len(server.asked) == 2


@pytest.mark.parametrize("status", [300, 307, 400, 401, 403, 404, 405, 413, 422])
async def test_what_will_not_pass_is_not(status):
    server = Failing(refused(status))
    pieces, failure = await collect(provider(server))
    assert pieces == []
    assert failure is not None
    assert len(server.asked) == 1


@pytest.mark.parametrize("lost", [LOST, httpx.ReadError("reset"), httpx.WriteError("broken pipe")])
async def test_a_connection_that_is_lost_before_the_response_is_made_again(lost):
    pieces, failure = await collect(provider(Failing(lost)))
    assert isinstance(pieces[0], RetryScheduled)
    assert pieces[0].why == "the connection was lost"
    assert (pieces[1:], failure) == (ANSWER, None)


@pytest.mark.parametrize(
    "error",
    [
        httpx.ConnectError("All connection attempts failed"),
        httpx.ConnectTimeout(""),
        httpx.ReadTimeout(""),
        httpx.ProxyError("403"),
        httpx.RemoteProtocolError("illegal status line"),
    ],
)
async def test_who_is_not_there_is_not_asked_again(error):
    server = Failing(error)
    pieces, failure = await collect(provider(server))
    assert pieces == []
    assert isinstance(failure, Unreachable)
    assert len(server.asked) == 1


async def test_nothing_is_tried_again_once_a_piece_was_shown():
    server = Failing(streamed(event(delta("Hel")), httpx.ReadError("reset")))
    pieces, failure = await collect(provider(server))
    assert pieces == [ReplyDelta("Hel")]
    assert isinstance(failure, StreamCut)
    assert len(server.asked) == 1


async def test_two_more_tries_are_all():
    waits: list[float] = []
    server = Failing(refused(503, "one"), LOST, refused(429, "three"))
    pieces, failure = await collect(provider(server, clock=pace(waits)))
    assert [type(piece) for piece in pieces] == [RetryScheduled, RetryScheduled]
    assert isinstance(failure, RequestRefused)
    assert "three" in failure.what
    assert waits == [0.5, 1.0]
    assert len(server.asked) == 3


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (402, "Payment required"),
        (429, {"error": {"message": "You exceeded it", "code": "insufficient_quota"}}),
        (429, {"error": {"message": "no", "type": "insufficient_quota"}}),
    ],
)
@pytest.mark.parametrize("headers", [{}, {"x-should-retry": "true"}, {"retry-after": "1"}])
async def test_a_quota_that_is_spent_does_not_come_back(status, body, headers):
    server = Failing(refused(status, body, **headers))
    _, failure = await collect(provider(server))
    assert isinstance(failure, RequestRefused)
    assert len(server.asked) == 1


async def test_a_window_that_is_too_large_stays_so():
    said = "request (9621 tokens) exceeds the available context size (512 tokens)"
    server = Failing(refused(500, said))
    _, failure = await collect(provider(server))
    assert isinstance(failure, ContextOverflow)
    assert (failure.needed, failure.limit) == (9621, 512)
    assert len(server.asked) == 1


@pytest.mark.parametrize(("status", "advice", "asked"), [(503, "false", 1), (400, "TRUE", 2)])
async def test_the_servers_own_advice_is_taken(status, advice, asked):
    server = Failing(refused(status, **{"x-should-retry": advice}))
    await collect(provider(server))
    assert len(server.asked) == asked


# how


async def test_a_response_is_closed_before_the_wait():
    body = Body([b'{"error": "busy"}'])
    closed = []

    async def sleep(seconds: float) -> None:
        closed.append(body.closed)

    await collect(provider(Failing(httpx.Response(503, stream=body)), clock=Clock(sleep=sleep)))
    assert closed == [True]


async def test_a_request_that_is_sent_again_is_reported_again():
    wanted = provider(Failing(refused(503)), clock=pace([]))
    kinds = [type(piece) async for piece in wanted.stream(ASKED, Options())]
    assert kinds[:3] == [SentRequest, RetryScheduled, SentRequest]
    await wanted.aclose()


async def test_closing_the_stream_calls_the_wait_off():
    forever = asyncio.Event()

    async def sleep(seconds: float) -> None:
        await forever.wait()

    server = Failing(refused(503))
    wanted = provider(server, clock=Clock(sleep=sleep))
    stream = answered(wanted, ASKED, Options())
    assert isinstance(await anext(stream), RetryScheduled)
    waiting = asyncio.ensure_future(anext(stream))
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    await stream.aclose()
    assert len(server.asked) == 1
    await wanted.aclose()


async def test_closing_the_stream_where_a_wait_is_told_sends_nothing_more():
    server = Failing(refused(503))
    wanted = provider(server)
    async with aclosing(answered(wanted, ASKED, Options())) as stream:
        await anext(stream)
    assert len(server.asked) == 1
    await wanted.aclose()


async def test_the_reason_is_the_providers_safe_to_show_and_without_the_key():
    pieces, _ = await collect(provider(Failing(refused(503, f"over\x1b[2J\nloaded for {KEY}"))))
    assert pieces[0] == RetryScheduled(pieces[0].seconds, "HTTP 503: over\x1b[2J loaded for •••")


async def test_a_body_that_stalls_is_not_waited_for_long():
    class Stalling(Body):
        async def __aiter__(self):
            yield b'{"error": '
            await asyncio.Event().wait()

    pieces, failure = await collect(
        provider(
            httpx.Response(400, stream=Stalling([])), clock=Clock(patience=0.01), read_seconds=600.0
        )
    )
    assert pieces == []
    assert isinstance(failure, NotAnAnswer)
    assert "HTTP 400" in failure.what
