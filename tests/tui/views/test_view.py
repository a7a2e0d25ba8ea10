"""What all views share: reads in threads, of which only the last counts."""

from __future__ import annotations

import asyncio
import re
import threading

import pytest
from textual.binding import Binding

from jitchat.errors import JitchatError, Unreachable
from jitchat.tui.actions import VIEWS
from jitchat.tui.views.view import LatestRead, _class_of

ON_ROW = re.compile(r"on_row\('(\w+)'\)")


@pytest.mark.parametrize("name", VIEWS)
def test_what_a_key_does_with_a_row_is_a_method_of_its_view(name: str) -> None:
    view = _class_of(name)
    bound = [ON_ROW.fullmatch(each.action) for each in view.BINDINGS if isinstance(each, Binding)]
    assert all(hasattr(view, match[1]) for match in bound if match is not None)


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
