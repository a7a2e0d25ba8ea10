"""Pictures of the modes side by side, planned and answered."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pytest

from jitchat.compare_modes import ModeComparison
from jitchat.providers.reader import ReaderProvider
from jitchat.tui.views import ask_all
from tests.tui.support import TestBackend, demo_app, ready, type_text
from tests.tui.test_screens import QUESTION
from tests.tui.views.test_ask_all import FREE, asked, over
from tests.tui.views.test_what_if import opened

if TYPE_CHECKING:
    from tests.tui.conftest import Picture


async def test_what_if_planned_and_asked(
    picture: Picture,
    backend: TestBackend,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ask_all, "ModeComparison", partial(ModeComparison, clock=lambda: 0.0))
    backend.provider = ReaderProvider(
        lambda messages, _, text: (100 * len(messages), len(text) // 4)
    )
    backend.options = FREE
    async with demo_app(backend).run_test(size=(80, 24)) as pilot:
        await ready(pilot)
        await type_text(pilot, QUESTION)
        await pilot.press("f7")
        await opened(pilot)
        await picture(pilot, "planned", "small", "wide")
        await pilot.press("a")
        await over(pilot, await asked(pilot))
        await picture(pilot, "answered", "wide", "small")
