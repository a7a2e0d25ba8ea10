"""Driving the tour in tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jitchat.transfer.demo import store_demo
from jitchat.tui.chat.screen import ChatScreen
from jitchat.tui.tour.app import TourApp, TourBar
from jitchat.tui.views.what_if import Sides, WhatIfView
from tests.tui.support import TestBackend, until

if TYPE_CHECKING:
    from textual.pilot import Pilot

LARGE, SMALL = (120, 36), (80, 24)


def tour_app(backend: TestBackend, pace: float | None = None) -> TourApp:
    return TourApp(backend, store_demo(backend.store), pace)


def led(pilot: Pilot[None]) -> TourApp:
    assert isinstance(pilot.app, TourApp)
    return pilot.app


async def arrived(pilot: Pilot[None], place: int) -> ChatScreen:
    assert isinstance(pilot.app, TourApp)
    tour, screen = pilot.app, pilot.app.chat
    await until(
        pilot,
        lambda: tour.progress.place == place and not tour.progress.is_on_way,
        f"step {place}",
    )
    await pilot.app.workers.wait_for_complete([w for w in pilot.app.workers if w.node is screen])
    await pilot.pause()
    return screen


async def go_on(pilot: Pilot[None], place: int, key: str = "space") -> ChatScreen:
    await pilot.press(key)
    return await arrived(pilot, place)


async def planned(pilot: Pilot[None]) -> WhatIfView:
    """The what-if view, with its windows and the bar."""
    view = pilot.app.screen
    assert isinstance(view, WhatIfView)
    await until(pilot, lambda: view.query_one(Sides).comparison is not None, "the windows")
    await until(pilot, lambda: view.query(TourBar), "the bar")
    await pilot.pause()
    return view
