"""Pictures of the view of sends; `pytest --snapshot-update` takes them anew."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from textual.pilot import Pilot

from jitchat.tui.widgets.prompt import Prompt
from tests.tui.support import TestBackend, demo_app
from tests.tui.views.test_sends import at, opened, send_all

Snap = Callable[..., bool]


@pytest.fixture(autouse=True)
def still(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Prompt, "cursor_blink", False)


async def window(pilot: Pilot[None]) -> None:
    await send_all(pilot)
    await opened(pilot, 2)


async def diff(pilot: Pilot[None]) -> None:
    await send_all(pilot)
    view = await opened(pilot, 2)
    await pilot.press("b", "home", "d")
    await at(pilot, view, 0)


def test_window_as_it_was(snap_compare: Snap, backend: TestBackend) -> None:
    assert snap_compare(demo_app(backend), terminal_size=(80, 24), run_before=window)


def test_diff_with_a_base(snap_compare: Snap, backend: TestBackend) -> None:
    assert snap_compare(demo_app(backend), terminal_size=(160, 48), run_before=diff)
