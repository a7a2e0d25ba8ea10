"""A backend on the test's own store."""

from __future__ import annotations

from pathlib import Path

import pytest

from jitchat.memory.store import ColdStore
from tests.tui.support import TestBackend


@pytest.fixture
def backend(store: ColdStore, tmp_path: Path) -> TestBackend:
    return TestBackend(store, tmp_path / "crash.txt")
