"""What every test of the tour has."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from jitchat.providers.catalogue.table import Prices
from jitchat.providers.reader import ReaderProvider
from jitchat.session_options import SessionOptions
from jitchat.tools import toolbox
from jitchat.tui.lab import run
from jitchat.tui.tour import app as touring
from jitchat.tui.widgets.prompt import Prompt
from tests.tui.lab.support import lab_service_in
from tests.tui.support import SMALL

if TYPE_CHECKING:
    from pathlib import Path

    from tests.tui.support import TestBackend


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """No press counts as one of a key that is held; the lab is looked at often; calls take 0 ms."""
    monkeypatch.setattr(toolbox, "perf_counter", lambda: 0.0)
    monkeypatch.setattr(touring, "HELD_SECONDS", 0.0)
    monkeypatch.setattr(touring, "LOOK_EVERY", 0.01)
    monkeypatch.setattr(Prompt, "cursor_blink", False)


@pytest.fixture
def reads(backend: TestBackend, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> TestBackend:
    """The built-in reader answers; the lab's clock stands still."""
    monkeypatch.setattr(run, "monotonic", lambda: 0.0)
    backend.service = lab_service_in(tmp_path)
    backend.provider = ReaderProvider(
        lambda messages, _, text: (100 * len(messages), len(text) // 4)
    )
    backend.options = SessionOptions(budget=SMALL, prices=Prices(0.0, 0.0))
    return backend
