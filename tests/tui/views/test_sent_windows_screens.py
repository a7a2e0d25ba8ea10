"""Pictures of the view of sends; `pytest --snapshot-update` takes them anew."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.tui.support import TestBackend, demo_app
from tests.tui.views.test_sent_windows import at, opened, send_all

if TYPE_CHECKING:
    from tests.tui.conftest import Picture


async def test_a_window_as_it_was_and_its_difference_from_a_base(
    picture: Picture, backend: TestBackend
) -> None:
    async with demo_app(backend).run_test(size=(80, 24)) as pilot:
        await send_all(pilot)
        view = await opened(pilot, 2)
        await picture(pilot, "window", "small")
        await pilot.press("b", "end", "d")
        await at(pilot, view, 0)
        await picture(pilot, "difference", "wide")
