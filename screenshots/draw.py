"""Draw the README's pictures from the real app: `python -m screenshots.draw`.

A home of its own, a fixed clock, the bundled demo conversation and the embedded reader: the
pictures differ only where the app does.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from textual.pilot import Pilot

from jitchat.cli.chat import LocalBackend
from jitchat.memory.cold.database import Database
from jitchat.memory.cold.store import ColdStore
from jitchat.paths import locate
from jitchat.settings import load_settings
from jitchat.transfer.intake import store_demo
from jitchat.tui.app import JitchatApp
from jitchat.tui.screens.chat import ChatScreen
from jitchat.tui.widgets.inspector import Inspector
from jitchat.tui.widgets.prompt import Prompt

HERE = Path(__file__).parent
QUESTION = "what did we settle on for the deploy window?"
WIDE, NARROW = (132, 38), (80, 24)
FRAMES = (
    ("first-run", WIDE, ()),
    ("full", WIDE, ("mode:full", "ask")),
    ("recency", WIDE, ("mode:recency", "ask")),
    ("jit", WIDE, ("mode:jit", "ask")),
    ("inspector", WIDE, ("draft", "point:retrieved", "enter")),
    ("narrow", NARROW, ("mode:jit", "ask")),
    ("models", WIDE, ("ctrl+l",)),
)


class Clock:
    """13 March 2026, a second later at each look."""

    def __init__(self) -> None:
        self.time = datetime(2026, 3, 13, 10, tzinfo=UTC)

    def __call__(self) -> datetime:
        self.time += timedelta(seconds=1)
        return self.time


async def draw(name: str, size: tuple[int, int], steps: Sequence[str], home: Path) -> None:
    environ = {"JITCHAT_HOME": str(home / name), "JITCHAT_EMBEDDER_DOWNLOAD": "false"} | {
        key: os.environ[key] for key in ("TIKTOKEN_CACHE_DIR",) if key in os.environ
    }
    paths = locate(environ)
    store = ColdStore(Database(paths.database), Clock())
    backend = LocalBackend(load_settings(paths.config, environ), paths, store)
    app = JitchatApp(backend, store_demo(store))
    async with app.run_test(size=size) as pilot:
        screen = await _ready(pilot)
        for step in steps:
            await _do(pilot, screen, step)
        screen.query_one(Prompt).cursor_blink = False
        await pilot.pause()
        (HERE / f"{name}.svg").write_text(app.export_screenshot(title="jitchat"), encoding="utf-8")
    store.database.close()
    print(f"{name}.svg")


async def _do(pilot: Pilot[None], screen: ChatScreen, step: str) -> None:
    what, _, value = step.partition(":")
    planned = screen.planned
    if what == "mode":
        if screen.mode.value != value:
            screen.action_use_mode(value)
            await _until(pilot, lambda: screen.planned > planned)
    elif what == "point":
        screen.query_one(Inspector).point_at(value)
    elif what in ("draft", "ask"):
        screen.query_one(Prompt).insert(QUESTION)
        await _until(pilot, lambda: screen.planned > planned)
        if what == "ask":
            await pilot.press("enter")
            await _until(pilot, lambda: screen.sent is not None and not screen.busy)
    else:
        await pilot.press(what)
    await pilot.pause()


async def _ready(pilot: Pilot[None]) -> ChatScreen:
    await _until(pilot, lambda: isinstance(pilot.app.screen, ChatScreen))
    screen = pilot.app.screen
    assert isinstance(screen, ChatScreen)
    await _until(pilot, lambda: screen.indexed and screen.window is not None)
    return screen


async def _until(pilot: Pilot[None], true) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001
    while not true():
        await asyncio.sleep(0.01)
    await pilot.pause()


def main() -> None:
    with tempfile.TemporaryDirectory() as home:
        for name, size, steps in FRAMES:
            asyncio.run(draw(name, size, steps, Path(home)))


if __name__ == "__main__":
    main()
