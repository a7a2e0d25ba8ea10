"""What the live next window costs who types: `python -m tests.benchmarks.live_preview`.

The real app on a terminal of 120×36, a conversation of 10,000 turns (`--turns`) with the built-in
embedder's vectors. Keys come in bursts, as people type, behind a question whose words are in
many turns. The steps of the event loop are told by the CPU time of its thread, which another
program on the machine does not change, and by the clock.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import statistics
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from jitchat.index.builtin_embedder import BuiltinEmbedder
from jitchat.memory import Memory
from jitchat.store.database import Database
from jitchat.store.store import ColdStore
from jitchat.values import Role, Turn
from tests.benchmarks.speed import WORDS
from tests.benchmarks.terminal import Terminal

if TYPE_CHECKING:
    from collections.abc import Sequence

QUESTION = "what did we say about the green river, the market and the summer engine? "
BURSTS = ("QXZJ", "VKYQ", "XZJV", "KYQX", "ZJVK", "YQXZ", "JVKY", "QXZJ")
BETWEEN = 0.12
"""Seconds between two keys of a burst; between two bursts the window settles."""
LONGEST_STEP = 0.008


@dataclass
class Notes:
    """What the app's own process saw."""

    settled: list[float] = field(default_factory=list)
    """When a window that was waited for was drawn, by the machine's clock."""
    steps: list[tuple[float, float, float]] = field(default_factory=list)
    """Long steps of the event loop: when, CPU seconds of the thread, seconds by the clock."""


def store_talk(folder: Path, count: int) -> None:
    """Store a conversation of so many turns, indexed."""
    database = Database(folder / "cold.db")
    store, draw = ColdStore(database), random.Random(7)
    conversation = store.create("A long talk")
    turns = [
        Turn(
            number,
            Role.USER if number % 2 else Role.ASSISTANT,
            f"Point {number}: {' '.join(draw.choices(WORDS, k=draw.randint(10, 70)))}.",
        )
        for number in range(1, count + 1)
    ]
    store.append(conversation.id, turns)
    memory = Memory(store, store.conversation(conversation.id), BuiltinEmbedder())
    for _ in memory.index.catch_up():
        pass
    database.close()


def run_app(folder: Path) -> None:
    """Run the app; called in the process that is measured."""
    from jitchat.cli.chat import SWITCH_SECONDS
    from jitchat.tui import garbage
    from jitchat.tui.app import JitchatApp
    from jitchat.tui.driver import widen_input
    from tests.tui.support import TestBackend

    notes = Notes()
    _watch_steps(notes)
    _watch_windows(notes)
    garbage.pause()
    database = Database(folder / "cold.db")
    store = ColdStore(database)
    backend = TestBackend(store, folder / "crash.txt", embedder=BuiltinEmbedder())
    latest = store.latest()
    assert latest is not None
    widen_input()
    sys.setswitchinterval(SWITCH_SECONDS)
    JitchatApp(backend, latest).run()
    database.close()
    (folder / "notes.json").write_text(json.dumps([notes.settled, notes.steps]))


def _watch_steps(notes: Notes) -> None:
    run = asyncio.Handle._run

    def timed(handle: asyncio.Handle) -> None:
        began, cpu = time.perf_counter(), time.thread_time()
        run(handle)
        took = time.thread_time() - cpu, time.perf_counter() - began
        if max(took) > LONGEST_STEP:
            notes.steps.append((began, *took))

    asyncio.Handle._run = timed  # type: ignore[method-assign]


def _watch_windows(notes: Notes) -> None:
    from jitchat.tui.chat.screen import ChatScreen

    show = ChatScreen.show_window

    def shown(screen: ChatScreen, *arguments: object, **named: object) -> None:
        show(screen, *arguments, **named)  # type: ignore[arg-type]
        screen.call_after_refresh(lambda: notes.settled.append(time.perf_counter()))

    ChatScreen.show_window = shown  # type: ignore[assignment, method-assign]


def measure(folder: Path, turns: int) -> tuple[list[float], list[float], Notes]:
    """Tell the seconds to each key on screen, those to each settled window, and the notes."""
    environ = {**os.environ, "TERM": "xterm-256color", "COLORTERM": "truecolor"}
    command = [sys.executable, "-m", "tests.benchmarks.live_preview", "--app", str(folder)]
    terminal = Terminal(command, environ, rows=36)
    terminal.wait_for("reserve 2,048")
    terminal.drain(3)
    terminal.type(QUESTION)
    terminal.drain(2 + turns / 5_000)  # the index is loaded for the first question
    began, keys, lasts = time.perf_counter(), list[float](), list[float]()
    for burst in BURSTS:
        for letter in burst:
            pressed = time.perf_counter()
            terminal.type(letter)
            keys.append(terminal.wait_for(letter))
            terminal.drain(max(0.0, BETWEEN - keys[-1]))
        lasts.append(pressed)
        terminal.drain(1)
    ended = time.perf_counter()
    terminal.type("\x11")
    terminal.until_exit()
    settled, steps = json.loads((folder / "notes.json").read_text())
    during = [(at, *took) for at, *took in steps if began <= at <= ended]
    waits = [min(at for at in settled if at > last) - last for last in lasts]
    return keys, waits, Notes(settled, during)


def milliseconds(values: Sequence[float]) -> str:
    """`12 / 31 ms`: the middle, and what 95 of 100 are below."""
    p95 = sorted(values)[int(len(values) * 0.95)]
    return f"{statistics.median(values) * 1000:.0f} / {p95 * 1000:.0f} ms"


def show(what: str, value: str, goal: str) -> None:
    """Print a figure beside its goal."""
    print(f"{what:<58} {value:>16}   goal {goal}", flush=True)


def report(turns: int, folder: Path) -> None:
    """Measure one conversation."""
    if not (folder / "cold.db").exists():
        folder.mkdir(parents=True, exist_ok=True)
        store_talk(folder, turns)
    keys, waits, notes = measure(folder, turns)
    show(f"{turns:,} turns: key on screen, p50 / p95", milliseconds(keys), "p95 ≤ 50 ms")
    show("  window settled after the last key, p50 / p95", milliseconds(waits), "≤ 150 ms")
    cpu = [step[1] for step in notes.steps if step[1] > LONGEST_STEP]
    longest = max((step[1] for step in notes.steps), default=0.0)
    told = f"{len(cpu)}, {longest * 1000:.0f} ms"
    show("  steps of the event loop over 8 ms of CPU, the longest", told, "0")
    clock = max((step[2] for step in notes.steps), default=0.0)
    show("  the longest by the clock, others' work included", f"{clock * 1000:.0f} ms", "-")


def main() -> None:
    """Measure conversations of several sizes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, nargs="*", default=[10_000])
    parser.add_argument("--keep", type=Path, help="Folder for the databases, to use them again.")
    parser.add_argument("--app", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.app:
        run_app(given.app)
        return
    with tempfile.TemporaryDirectory() as name:
        for turns in given.turns:
            report(turns, (given.keep or Path(name)) / str(turns))


if __name__ == "__main__":
    main()
