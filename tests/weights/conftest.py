from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from jitchat.weights import Weights, known
from tests.weights.support import made_weights

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def wheels(tmp_path: Path) -> Path:
    return tmp_path / "wheels"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "models"


@pytest.fixture
def tiny(wheels: Path, monkeypatch: pytest.MonkeyPatch) -> Weights:
    made = made_weights(wheels)
    monkeypatch.setitem(known(), made.name, made)
    return made
