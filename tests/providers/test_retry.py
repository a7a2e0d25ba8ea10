"""Sending again: when, after how long, and how often."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from datetime import UTC, datetime

import httpx
import pytest

from jitchat.errors import ContextOverflow, NotAnAnswer, RequestRefused, StreamCut, Unreachable
from jitchat.providers.http.attempts import Pace
from jitchat.providers.http.retry import duration
from jitchat.providers.provider import Delta, Finished, Options, Retrying
from tests.providers.streams import (
    ASKED,
    DONE,
    HELLO,
    KEY,
    Body,
    collect,
    delta,
    event,
    provider,
    streamed,
)

NOW = datetime(2026, 3, 13, 10, tzinfo=UTC)
ANSWER = [Delta("Hel"), Delta("lo"), Finished("stop")]
LOST = httpx.RemoteProtocolError("Server disconnected without sending a response.")


def pace(waits: list[float], luck: float = 0.0) -> Pace:
    """A pace that notes what it is asked to wait."""

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    return Pace(sleep=sleep, now=lambda: NOW, luck=lambda: luck)


class Failing:
    """A server that fails so often, each time in the next way, and then answers."""

    def __init__(self, *failures: httpx.Response | Exception) -> None:
        self.failures = list(failures)
        self.asked: list[bytes] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.asked.append(request.content)
        if not self.failures:
            return streamed(HELLO, DONE)
        failure = self.failures.pop(0)
        if isinstance(failure, Exception):
            raise failure
        return failure


def refused(status: int, body: object = "busy", **headers: str) -> httpx.Response:
    value = {"error": {"message": body}} if isinstance(body, str) else body
    return httpx.Response(status, headers=headers, json=value)


# when


@pytest.mark.parametrize("status", [408, 409, 429, 500, 501, 502, 503, 504, 520, 529])
async def test_what_may_pass_is_tried_again(status):
    server, waits = Failing(refused(status)), []
    pieces, failure = await collect(provider(server, pace=pace(waits)))
    assert failure is None
    assert pieces == [Retrying(0.5, f"HTTP {status}: busy"), *ANSWER]
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
    assert isinstance(pieces[0], Retrying)
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
    assert pieces == [Delta("Hel")]
    assert isinstance(failure, StreamCut)
    assert len(server.asked) == 1


async def test_two_more_tries_are_all():
    waits: list[float] = []
    server = Failing(refused(503, "one"), LOST, refused(429, "three"))
    pieces, failure = await collect(provider(server, pace=pace(waits)))
    assert [type(piece) for piece in pieces] == [Retrying, Retrying]
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


# after how long


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": " 1.5 "}, 1.5),
        ({"retry-after": "120"}, 120.0),
        ({"retry-after-ms": "250"}, 0.25),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after-ms": "soon", "retry-after": "9"}, 9.0),
        ({"retry-after": "Fri, 13 Mar 2026 10:00:30 GMT"}, 30.0),
        ({"retry-after": "Friday, 13-Mar-26 10:00:30 GMT"}, 30.0),
        ({"retry-after": "Fri, 13 Mar 2026 09:59:00 GMT"}, 0.5),
        ({"retry-after": "0"}, 0.5),
        ({"retry-after": "-3"}, 0.5),
        ({"retry-after": "nan"}, 0.5),
        ({"retry-after": "soon"}, 0.5),
        ({"retry-after": "Fri, 99 Mar 2026 10:00:30 GMT"}, 0.5),
        ({}, 0.5),
    ],
)
async def test_the_wait_is_the_servers_where_it_names_one(headers, seconds):
    waits: list[float] = []
    pieces, failure = await collect(provider(Failing(refused(429, **headers)), pace=pace(waits)))
    assert failure is None
    assert waits == [seconds]
    assert pieces[0] == Retrying(seconds, "HTTP 429: busy")


@pytest.mark.parametrize("wrapped", [False, True])
@pytest.mark.parametrize(("delay", "seconds"), [("36s", 36.0), ("3.25s", 3.25), ("soon", 0.5)])
async def test_the_wait_may_stand_in_the_body(wrapped, delay, seconds):
    details = [
        {"@type": "type.googleapis.com/google.rpc.QuotaFailure"},
        {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay},
    ]
    error = {"code": 429, "message": "busy", "status": "RESOURCE_EXHAUSTED", "details": details}
    body = [{"error": error}] if wrapped else {"error": error}
    waits: list[float] = []
    await collect(provider(Failing(refused(429, body)), pace=pace(waits)))
    assert waits == [seconds]


@pytest.mark.parametrize("details", [None, {}, [], ["36s"], [{"retryDelay": 36}], [None]])
async def test_details_of_another_shape_name_no_wait(details):
    body = {"error": {"message": "busy", "details": details}}
    waits: list[float] = []
    await collect(provider(Failing(refused(503, body)), pace=pace(waits)))
    assert waits == [0.5]


@pytest.mark.parametrize(("luck", "waits"), [(0.0, [0.5, 1.0]), (1.0, [0.375, 0.75])])
async def test_an_own_wait_doubles_less_up_to_a_quarter(luck, waits):
    noted: list[float] = []
    await collect(provider(Failing(refused(500), refused(500)), pace=pace(noted, luck)))
    assert noted == waits


@pytest.mark.parametrize(
    ("after", "told"),
    [
        ("121", "3 min"),
        ("300", "5 min"),
        ("86400", "24 h"),
        ("9" * 99, "more than a day"),
        ("Fri, 13 Mar 2026 10:05:00 GMT", "5 min"),
    ],
)
async def test_a_wait_of_more_than_two_minutes_is_told_instead(after, told):
    waits: list[float] = []
    server = Failing(refused(429, **{"retry-after": after}))
    pieces, failure = await collect(provider(server, pace=pace(waits)))
    assert (pieces, waits) == ([], [])
    assert isinstance(failure, RequestRefused)
    assert failure.what.endswith("busy.")
    assert failure.remedy == f"It asks to wait {told}: send again after that."


@pytest.mark.parametrize(
    ("seconds", "told"),
    [
        (1, "1 s"),
        (120, "120 s"),
        (120.1, "3 min"),
        (7200, "120 min"),
        (7260, "3 h"),
        (86_401, "more than a day"),
    ],
)
def test_a_duration_is_told_in_whole_units(seconds, told):
    assert duration(seconds) == told


# how


async def test_a_response_is_closed_before_the_wait():
    body = Body([b'{"error": "busy"}'])
    closed = []

    async def sleep(seconds: float) -> None:
        closed.append(body.closed)

    await collect(provider(Failing(httpx.Response(503, stream=body)), pace=Pace(sleep=sleep)))
    assert closed == [True]


async def test_closing_the_stream_calls_the_wait_off():
    forever = asyncio.Event()

    async def sleep(seconds: float) -> None:
        await forever.wait()

    server = Failing(refused(503))
    wanted = provider(server, pace=Pace(sleep=sleep))
    stream = wanted.stream(ASKED, Options())
    assert isinstance(await anext(stream), Retrying)
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
    async with aclosing(wanted.stream(ASKED, Options())) as stream:
        await anext(stream)
    assert len(server.asked) == 1
    await wanted.aclose()


async def test_the_reason_is_the_providers_safe_to_show_and_without_the_key():
    pieces, _ = await collect(provider(Failing(refused(503, f"over\x1b[2J\nloaded for {KEY}"))))
    assert pieces[0] == Retrying(pieces[0].seconds, "HTTP 503: over␛[2J loaded for •••")


async def test_a_body_that_stalls_is_not_waited_for_long():
    class Stalling(Body):
        async def __aiter__(self):
            yield b'{"error": '
            await asyncio.Event().wait()

    pieces, failure = await collect(
        provider(
            httpx.Response(400, stream=Stalling([])), pace=Pace(patience=0.01), read_seconds=600.0
        )
    )
    assert pieces == []
    assert isinstance(failure, NotAnAnswer)
    assert "HTTP 400" in failure.what
