"""Draw the documentation's pictures from the real app: `python -m screenshots.draw [NAME ...]`.

A temporary home, a fixed clock, the bundled demo conversation and the built-in reader: pictures
change only if the app does. Two of them use the local model, and are skipped if its weights are not
installed.
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from jitchat import weights
from jitchat.lab.live import LENGTHS, MODES
from jitchat.paths import locate
from jitchat.transfer.demo import store_demo
from jitchat.tui.app import JitchatApp
from jitchat.tui.chat.screen import ChatScreen
from jitchat.tui.lab.live import LiveScreen
from jitchat.tui.lab.run import RunScreen
from jitchat.tui.views.view import View
from jitchat.tui.widgets.inspector import Inspector
from jitchat.tui.widgets.prompt import Prompt
from screenshots.stage import HERE, backend_in, settled, until

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.pilot import Pilot

QUESTION = "what did we settle on for the deploy window?"
OTHERS = (
    "Who is on call this week?",
    "Which port is the metrics endpoint on?",
    "What was decided about the licence cache?",
    "And who captains the release?",
    "What is the free space rule of thumb?",
)
WIDE, VIEW, NARROW, LAB = (132, 38), (104, 32), (80, 24), (140, 44)
MODELS = locate(os.environ).models
LOCAL = ("rot-local", "demo-live")
"""Pictures in which the local model answers."""
ASKING = "asks"
"""The picture in which the model may request more context, also in recency."""
FRAMES = (
    ("first-run", WIDE, ()),
    ("full", WIDE, ("mode:full", "ask")),
    ("recency", WIDE, ("mode:recency", "ask")),
    ("jit", WIDE, ("mode:jit", "ask")),
    (ASKING, WIDE, ("mode:recency", "ask", "alt+i", "point:requested")),
    ("inspector", WIDE, ("draft", "point:retrieved", "enter")),
    ("narrow", NARROW, ("mode:jit", "ask")),
    ("models", WIDE, ("ctrl+l",)),
    ("live", WIDE, ("draft",)),
    ("ledger", VIEW, ("draft", "view:f4")),
    ("steering", WIDE, ("say:/pin 59", "say:/exclude 58", "type:#12 and ", "draft")),
    ("what-if", VIEW, ("draft", "view:f7")),
    ("budget", VIEW, ("draft", "view:f8", *["down"] * 4)),
    ("sends", VIEW, ("ask", "mode:recency", "ask", "view:f9", "d")),
    ("wire", VIEW, ("draft", "view:f3")),
    ("history", VIEW, ("mode:jit", *(f"say:{text}" for text in OTHERS * 3), "view:alt+h")),
    ("mattered", VIEW, ("ask", "view:alt+m")),
    ("rot", LAB, ("rot:quick", "m", "m", *["right"] * 3, "down")),
    ("rot-local", LAB, ("rot:quick", "m", "m")),
    ("demo-live", LAB, ()),
    ("miss", VIEW, ("mode:recency", "ask", "view:alt+w", "type:deploy window")),
)


async def draw(name: str, size: tuple[int, int], steps: Sequence[str], home: Path) -> None:
    asking = {"JITCHAT_TOOLS_REQUEST_CONTEXT": "on"} if name == ASKING else {}
    backend = backend_in(home / name, "local" if name in LOCAL else "reader", asking)
    app = JitchatApp(backend, store_demo(backend.store))
    async with app.run_test(size=size) as pilot:
        screen = await _ready(pilot)
        if name == "demo-live":
            await _play(pilot, LiveScreen(backend))
        for step in steps:
            await _do(pilot, screen, step)
        screen.query_one(Prompt).cursor_blink = False
        await pilot.pause()
        (HERE / f"{name}.svg").write_text(app.export_screenshot(title="jitchat"), encoding="utf-8")
    backend.store.database.close()
    print(f"{name}.svg")


async def _do(pilot: Pilot[None], screen: ChatScreen, step: str) -> None:
    what, _, value = step.partition(":")
    if what == "mode":
        await _use(pilot, screen, value)
    elif what == "point":
        screen.query_one(Inspector).point_at(value)
    elif what in ("draft", "ask", "say"):
        await _write(pilot, screen, value or QUESTION)
        if what != "draft":
            await _send(pilot, screen)
    elif what == "rot":
        await screen.run_action(f"do('rot', {value!r})")
        await until(pilot, lambda: _is_measured(pilot))
    elif what == "type":
        await pilot.press(*("space" if letter == " " else letter for letter in value))
    else:
        await pilot.press(value or what)
    if what == "view":
        await until(pilot, lambda: isinstance(pilot.app.screen, View))
    await settled(pilot)


async def _play(pilot: Pilot[None], live: LiveScreen) -> None:
    """Let the live demo ask two rounds by itself."""
    live.plays = True
    await pilot.app.push_screen(live)
    await until(pilot, lambda: len(live.state.results) == 2 * len(LENGTHS) * len(MODES))
    live.plays = False


def _is_measured(pilot: Pilot[None]) -> bool:
    lab = pilot.app.screen
    return isinstance(lab, RunScreen) and not lab.progress.is_running


async def _use(pilot: Pilot[None], screen: ChatScreen, mode: str) -> None:
    if screen.steering.mode.value != mode:
        screen.choices.use_mode(mode)
        await until(pilot, lambda: not screen.previews.working)


async def _write(pilot: Pilot[None], screen: ChatScreen, text: str) -> None:
    planned = screen.previews.planned
    screen.query_one(Prompt).insert(text)
    await until(pilot, lambda: screen.previews.planned > planned)


async def _send(pilot: Pilot[None], screen: ChatScreen) -> None:
    await pilot.press("enter")
    await until(pilot, lambda: not screen.busy and not screen.query_one(Prompt).text)


async def _ready(pilot: Pilot[None]) -> ChatScreen:
    await until(pilot, lambda: isinstance(pilot.app.screen, ChatScreen))
    screen = pilot.app.screen
    assert isinstance(screen, ChatScreen)
    await until(pilot, lambda: screen.indexing.indexed and screen.previews.window is not None)
    return screen


def main() -> None:
    with tempfile.TemporaryDirectory() as home:
        for name, size, steps in FRAMES:
            if sys.argv[1:] and name not in sys.argv[1:]:
                continue
            if name in LOCAL and weights.find("smollm2", MODELS) is None:
                print(f"{name}.svg skipped: run `jitchat models fetch smollm2` for its model")
                continue
            asyncio.run(draw(name, size, steps, Path(home)))


if __name__ == "__main__":
    main()
