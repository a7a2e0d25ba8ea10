"""Pictures of the modes side by side, planned and answered."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest
from textual.pilot import Pilot

from jitchat.asking import Asking
from jitchat.providers.reader.reader import ReaderProvider
from jitchat.tui.views import ask_all
from jitchat.tui.widgets.prompt import Prompt
from tests.tui.support import TestBackend, demo_app, ready, type_text
from tests.tui.test_screens import QUESTION
from tests.tui.views.test_ask_all import FREE, asked, over
from tests.tui.views.test_what_if import opened

SMALL, WIDE = (80, 24), (160, 48)
Snap = Callable[..., bool]


@pytest.fixture(autouse=True)
def still(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Prompt, "cursor_blink", False)
    monkeypatch.setattr(ask_all, "Asking", partial(Asking, clock=lambda: 0.0))


async def compared(pilot: Pilot[None]) -> None:
    await ready(pilot)
    await type_text(pilot, QUESTION)
    await pilot.press("f7")
    await opened(pilot)


async def answered(pilot: Pilot[None]) -> None:
    await ready(pilot)
    await type_text(pilot, QUESTION)
    await pilot.press("alt+a")
    await over(pilot, await asked(pilot))


@pytest.mark.parametrize("size", [SMALL, WIDE], ids=["small", "wide"])
def test_what_if(snap_compare: Snap, backend: TestBackend, size: tuple[int, int]) -> None:
    assert snap_compare(demo_app(backend), terminal_size=size, run_before=compared)


@pytest.mark.parametrize("size", [SMALL, WIDE], ids=["small", "wide"])
def test_all_three_asked(snap_compare: Snap, backend: TestBackend, size: tuple[int, int]) -> None:
    backend.provider = ReaderProvider(lambda messages, text: (100 * len(messages), len(text) // 4))
    backend.options = FREE
    assert snap_compare(demo_app(backend), terminal_size=size, run_before=answered)
