"""How long to wait before a request is sent again."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from jitchat.errors import RequestRefused
from jitchat.providers.http.retry import Clock, duration
from jitchat.providers.provider import RetryScheduled
from tests.providers.failing import Failing, refused
from tests.providers.streams import (
    collect,
    provider,
)

NOW = datetime(2026, 3, 13, 10, tzinfo=UTC)


def pace(waits: list[float], luck: float = 0.0) -> Clock:
    """A pace that notes what it is asked to wait."""

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    return Clock(sleep=sleep, now=lambda: NOW, luck=lambda: luck)


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
    pieces, failure = await collect(provider(Failing(refused(429, **headers)), clock=pace(waits)))
    assert failure is None
    assert waits == [seconds]
    assert pieces[0] == RetryScheduled(seconds, "HTTP 429: busy", asks_for_less=True)


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
    await collect(provider(Failing(refused(429, body)), clock=pace(waits)))
    assert waits == [seconds]


@pytest.mark.parametrize("details", [None, {}, [], ["36s"], [{"retryDelay": 36}], [None]])
async def test_details_of_another_shape_name_no_wait(details):
    body = {"error": {"message": "busy", "details": details}}
    waits: list[float] = []
    await collect(provider(Failing(refused(503, body)), clock=pace(waits)))
    assert waits == [0.5]


@pytest.mark.parametrize(("luck", "waits"), [(0.0, [0.5, 1.0]), (1.0, [0.375, 0.75])])
async def test_an_own_wait_doubles_less_up_to_a_quarter(luck, waits):
    noted: list[float] = []
    await collect(provider(Failing(refused(500), refused(500)), clock=pace(noted, luck)))
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
    pieces, failure = await collect(provider(server, clock=pace(waits)))
    assert (pieces, waits) == ([], [])
    assert isinstance(failure, RequestRefused)
    assert failure.what.endswith("busy.")
    assert failure.remedy == f"The server asks to wait {told}. Send again after that."


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
