"""What every test of the tour has."""

from __future__ import annotations

import pytest

from jitchat.providers.reader.reader import ReaderProvider
from jitchat.tui.tour import app as touring
from jitchat.tui.tour import screen as steps_done
from jitchat.tui.tour.screen import TourScreen
from jitchat.tui.widgets.prompt import Prompt
from tests.tui.support import TestBackend
from tests.tui.tour.support import FakeLab


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """No press counts as one of a key that is held; the lab is looked at often."""
    monkeypatch.setattr(touring, "HELD_SECONDS", 0.0)
    monkeypatch.setattr(steps_done, "LOOK_EVERY", 0.01)
    monkeypatch.setattr(Prompt, "cursor_blink", False)


@pytest.fixture
def lab(monkeypatch: pytest.MonkeyPatch) -> None:
    def action_rot(screen: TourScreen) -> None:
        screen.app.push_screen(FakeLab())

    monkeypatch.setattr(TourScreen, "action_rot", action_rot, raising=False)


@pytest.fixture
def reads(backend: TestBackend) -> TestBackend:
    """The embedded reader answers."""
    backend.provider = ReaderProvider(lambda messages, text: (100 * len(messages), len(text) // 4))
    return backend
