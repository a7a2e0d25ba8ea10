"""A backend on the test's own store."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import TYPE_CHECKING
from zlib import crc32

import pytest
from pytest_textual_snapshot import SVGImageExtension
from textual import constants
from textual.pilot import Pilot
from textual.widgets import Input

from jitchat.store.database import Database
from jitchat.store.store import ColdStore
from jitchat.tui.widgets.prompt import Prompt
from tests.conftest import FixedClock
from tests.support import ScriptedProvider, demo_session
from tests.tui import contrast, economy
from tests.tui.choices import every
from tests.tui.support import TestBackend

if TYPE_CHECKING:
    from pathlib import Path

    from syrupy import SnapshotAssertion

Picture = Callable[..., Awaitable[None]]
SIZES = {"tiny": (50, 14), "small": (80, 24), "middle": (104, 32), "wide": (160, 48)}


class SlowClock(FixedClock):
    """Every look moves it on by a millisecond: how often an app looks, pictures do not show."""

    step = timedelta(milliseconds=1)


@pytest.fixture
def clock() -> FixedClock:
    return SlowClock()


@pytest.fixture(autouse=True)
def unanimated(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing moves or is marked for a moment; tests of that ask for it."""
    monkeypatch.setattr(constants, "TEXTUAL_ANIMATIONS", "none")


@pytest.fixture(autouse=True)
def sparing(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only what somebody sees is done."""
    economy.parse_once(monkeypatch)
    economy.refresh_once(monkeypatch)
    economy.style_once(monkeypatch)
    economy.lay_out_once(monkeypatch)
    economy.wait_for_those_at_work(monkeypatch)
    economy.load_no_views(monkeypatch)
    if "every_frame" not in request.fixturenames:
        economy.draw_when_looked_at(monkeypatch)


@pytest.fixture
def picture(
    snapshot: SnapshotAssertion,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
    tmp_path: Path,
) -> Picture:
    """picture(pilot, name): what is on screen is as in the picture of that name, and can be read.

    picture(pilot, name, "wide", "small") resizes the terminal and takes one of each size.
    Its contrast is measured in the theme in use and, of every third picture, in another one, by
    turns; with the whole of --long in every kind.
    """
    stored = snapshot.use_extension(SVGImageExtension)
    is_all = request.config.getoption("--long") == "all"
    monkeypatch.setattr(Input, "cursor_blink", False)
    monkeypatch.setattr(Prompt, "cursor_blink", False)

    async def take(pilot: Pilot[None], name: str, *sizes: str) -> None:
        for size in sizes:
            await pilot.resize_terminal(*SIZES[size])
            await take(pilot, f"{name}-{size}")
        if sizes:
            return
        await pilot.pause()
        taken = await economy.drawn(pilot)
        is_same = stored(name=name) == taken
        (now := tmp_path / f"{name}.svg").write_text(taken, encoding="utf-8")
        assert is_same, f"{name} looks different now: {now}"
        turn = crc32(f"{request.node.name}[{name}]".encode()) % (3 * len(contrast.THEMES))
        themes = contrast.THEMES if is_all else contrast.THEMES[turn : turn + 1]
        await contrast.check(pilot, themes)

    return take


@pytest.fixture
def every_frame() -> None:
    """Draw every frame, as on a terminal."""


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cold store with the demo conversation, indexed."""
    path = tmp_path_factory.mktemp("demo") / "cold.db"
    database = Database(path)
    demo_session(ColdStore(database, SlowClock()))
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
