"""Pictures of the view of sends; `pytest --snapshot-update` takes them anew."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.tui.support import TestBackend, demo_app
from tests.tui.views.test_sent_windows import at, opened, send_all

if TYPE_CHECKING:
    from tests.tui.conftest import Picture


async def test_window_as_it_was(picture: Picture, backend: TestBackend) -> None:
    async with demo_app(backend).run_test(size=(80, 24)) as pilot:
        await send_all(pilot)
        await opened(pilot, 2)
        await picture(pilot, "small")


async def test_diff_with_a_base(picture: Picture, backend: TestBackend) -> None:
    async with demo_app(backend).run_test(size=(160, 48)) as pilot:
        await send_all(pilot)
        view = await opened(pilot, 2)
        await pilot.press("b", "home", "d")
        await at(pilot, view, 0)
        await picture(pilot, "wide")
