"""What all views share: reads in threads, of which only the last counts."""

from __future__ import annotations

import asyncio
import threading

from jitchat.errors import JitchatError, Unreachable
from jitchat.tui.views.view import LatestRead


async def test_of_what_is_asked_for_while_a_read_is_under_way_only_the_last_is_read_and_shown():
    latest, is_free = LatestRead(), threading.Event()
    begun: list[str] = []
    shown: list[str | JitchatError] = []

    def reading(text: str, error: JitchatError | None = None):
        def read() -> str:
            begun.append(text)
            is_free.wait(20)
            if error is not None:
                raise error
            return text

        return asyncio.create_task(latest.run(read, shown.append, shown.append))

    first = [reading(text) for text in ("p", "po", "por")]
    await asyncio.sleep(0)
    assert latest.is_pending
    is_free.set()
    await asyncio.gather(*first)
    assert (begun, shown, latest.is_pending) == (["por"], ["por"], False)

    refused = Unreachable("Gone.")
    await reading("port", refused)
    assert shown == ["por", refused]
    is_free.clear()
    slow = reading("ports")
    while begun[-1] != "ports":
        await asyncio.sleep(0)
    last = reading("", refused)
    is_free.set()
    await asyncio.gather(slow, last)
    assert begun[-2:] == ["ports", ""]
    assert shown == ["por", refused, refused]
