"""A backend on the test's own store."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from zlib import crc32

import pytest
from textual import constants
from textual.app import App
from textual.pilot import Pilot
from textual.widgets import Input

from jitchat.memory.cold.database import Database
from jitchat.memory.cold.store import ColdStore
from tests.conftest import FixedClock
from tests.support import ScriptedProvider, demo_session
from tests.tui import contrast, economy
from tests.tui.choices import every
from tests.tui.support import TestBackend

Steps = Callable[[Pilot[None]], Awaitable[None]]


@pytest.fixture(autouse=True)
def unanimated(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing moves or is marked for a moment; tests of that ask for it."""
    monkeypatch.setattr(constants, "TEXTUAL_ANIMATIONS", "none")


@pytest.fixture(autouse=True)
def sparing(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only what somebody sees is done."""
    economy.parse_once(monkeypatch)
    economy.wait_for_those_at_work(monkeypatch)
    economy.load_no_views(monkeypatch)
    if not {"every_frame", "snap_compare"} & set(request.fixturenames):
        economy.draw_when_looked_at(monkeypatch)
        economy.mount_fewer_turns(monkeypatch)


@pytest.fixture
def snap_compare(
    snap_compare: Callable[..., bool],
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> Callable[..., bool]:
    """Of what a picture is taken, the contrast is measured, too.

    In the theme in use and another one, by turns; with the whole of --long in every kind.
    """
    turn = crc32(request.node.name.encode()) % len(contrast.THEMES)
    is_all = request.config.getoption("--long") == "all"
    themes = contrast.THEMES if is_all else contrast.THEMES[turn : turn + 1]
    monkeypatch.setattr(Input, "cursor_blink", False)

    def compare(app: App[None], *, run_before: Steps, **others: object) -> bool:
        async def run(pilot: Pilot[None]) -> None:
            await run_before(pilot)
            await contrast.check(pilot, themes)

        return snap_compare(app, run_before=run, **others)

    return compare


@pytest.fixture
def every_frame() -> None:
    """Draw every frame, as on a terminal; it is so wherever a picture is taken."""


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cold store with the demo conversation, indexed."""
    path = tmp_path_factory.mktemp("demo") / "cold.db"
    database = Database(path)
    demo_session(ColdStore(database, FixedClock()))
    database.close()
    return path


@pytest.fixture
def backend(store: ColdStore, tmp_path: Path, demo: Path) -> TestBackend:
    return TestBackend(store, tmp_path / "crash.txt", demo)


@pytest.fixture
def models(backend: TestBackend) -> TestBackend:
    """With providers in every state, and the reader answering."""
    backend.providers = every()
    backend.provider = ScriptedProvider(name="reader", model="reader")
    return backend
