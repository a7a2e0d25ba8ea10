"""A real engine: llama.cpp's server on this machine, with a model that is made on the spot.

Each worker of pytest has servers of its own: one starts in a third of a second, in 30 MB.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.engine.server import KEY, MISSING, Engine, running
from tests.engine.tiny_model import write_tiny_model
from tests.support import has_loopback

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def _engine(folder: Path, context: int, key: str = KEY) -> Iterator[Engine]:
    if MISSING:
        pytest.skip(f"needs {MISSING}: there is no wheel of it for every platform")
    if not has_loopback():
        pytest.skip("needs the loopback interface")
    write_tiny_model(folder / "tiny.gguf", context)
    with running(folder / "tiny.gguf", context, key) as engine:
        yield engine


@pytest.fixture(scope="session")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """A context that is full in no time."""
    yield from _engine(tmp_path_factory.mktemp("engine"), 1_024)


@pytest.fixture(scope="session")
def roomy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """A context that an endless answer takes a quarter of a minute and more to fill."""
    yield from _engine(tmp_path_factory.mktemp("roomy"), 131_072)


@pytest.fixture
def fragile(tmp_path: Path) -> Iterator[Engine]:
    """One that a test may break."""
    yield from _engine(tmp_path, 131_072)


@pytest.fixture(scope="session")
def open_engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """One that answers without a key, as most on a machine of one's own do."""
    yield from _engine(tmp_path_factory.mktemp("open"), 1_024, key="")
