"""A backend on the test's own store."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual import constants

from jitchat.memory.cold.store import ColdStore
from tests.support import ScriptedProvider
from tests.tui.choices import every
from tests.tui.support import TestBackend


@pytest.fixture(autouse=True)
def unanimated(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing moves or is marked for a moment; tests of that ask for it."""
    monkeypatch.setattr(constants, "TEXTUAL_ANIMATIONS", "none")


@pytest.fixture
def backend(store: ColdStore, tmp_path: Path) -> TestBackend:
    return TestBackend(store, tmp_path / "crash.txt")


@pytest.fixture
def models(backend: TestBackend) -> TestBackend:
    """With providers in every state, and the reader answering."""
    backend.providers = every()
    backend.provider = ScriptedProvider(name="reader", model="reader")
    return backend
