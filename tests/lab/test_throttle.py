"""The lab sends fewer requests when an endpoint asks for that, and more again later."""

from __future__ import annotations

from jitchat.bench.workers import Workers
from jitchat.events import RetryScheduled
from jitchat.lab.lab import Throttle


async def waits(throttle: Throttle, slept: list[float]) -> float:
    slept.clear()
    await throttle.wait()
    return sum(slept)


def slow(slept: list[float], parallel: int = 4) -> tuple[Throttle, Workers]:
    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    workers = Workers(parallel, 10, "")
    return Throttle(workers, sleep), workers


async def test_a_burst_of_refusals_is_one_and_the_pause_is_what_is_asked_for() -> None:
    slept: list[float] = []
    throttle, _ = slow(slept)
    told = [throttle.slow_down(RetryScheduled(seconds, "busy")) for seconds in (2.0, 8.0, 1.0)]

    assert [each.parallel for each in told] == [3, 3, 3]
    assert await waits(throttle, slept) == 8.0


async def test_after_answers_it_waits_less_and_after_many_asks_more_at_once() -> None:
    slept: list[float] = []
    throttle, workers = slow(slept)
    throttle.slow_down(RetryScheduled(8.0, "busy"))
    throttle.answered()
    assert await waits(throttle, slept) == 4.0
    for _ in range(19):
        throttle.answered()

    assert await waits(throttle, slept) == 0.0
    assert workers.parallel == 4


async def test_it_never_asks_less_than_one_at_once_nor_waits_for_ever() -> None:
    slept: list[float] = []
    throttle, workers = slow(slept, parallel=1)
    for _ in range(9):
        throttle.slow_down(RetryScheduled(50.0, "busy"))
        throttle.answered()

    assert workers.parallel == 1
    throttle.slow_down(RetryScheduled(50.0, "busy"))
    assert await waits(throttle, slept) <= 60.0
