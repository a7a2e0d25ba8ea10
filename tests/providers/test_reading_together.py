"""What a server sends a little at a time is read together; what is there is read at once."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from jitchat.providers.http import provider

LATE = 0.02


async def chunks(pauses: list[float]) -> AsyncIterator[bytes]:
    for number, pause in enumerate(pauses):
        if pause:
            await asyncio.sleep(pause)
        yield bytes([number])


@pytest.mark.parametrize(
    ("pauses", "rests"), [([0.0] * 5, 0), ([LATE] * 5, 5), ([0.0, LATE, 0.0, LATE, 0.0], 2)]
)
async def test_after_a_chunk_that_came_late_more_is_waited_for(
    monkeypatch: pytest.MonkeyPatch, pauses: list[float], rests: int
):
    slept: list[float] = []
    sleep = asyncio.sleep

    async def noting(seconds: float) -> None:
        slept.append(seconds)
        await sleep(seconds if seconds == LATE else 0)

    monkeypatch.setattr(provider, "_AT_ONCE", LATE / 2)
    monkeypatch.setattr(asyncio, "sleep", noting)
    read = [chunk async for chunk in provider._together(chunks(pauses))]
    assert read == [bytes([number]) for number in range(5)]
    assert slept.count(provider._TOGETHER) == rests
