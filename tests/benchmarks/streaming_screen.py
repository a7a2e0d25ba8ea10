"""What a reply that streams costs the screen: `python -m tests.benchmarks.streaming_screen`.

The real app on a terminal of 120×36, while a provider in its process yields 500 deltas a second
of ordinary Markdown. The share of one core is the process's CPU time between the first delta and
the last one, without what the provider takes on its own.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sqlite3
import statistics
import sys
import tempfile
import time
from itertools import cycle, islice
from pathlib import Path
from typing import TYPE_CHECKING

from jitchat.providers.provider import Finished, Options, Piece, ReasoningDelta, ReplyDelta
from jitchat.store.database import Database
from jitchat.store.store import ColdStore
from jitchat.values import Message, Usage
from jitchat.writing.pieces import PLAIN, WritingRules
from tests.benchmarks.terminal import Terminal

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Sequence

RATE = 500
"""Deltas a second."""
PARAGRAPH = (
    "The deploy window is *Tuesday* 14:00 to 16:00, and **nobody** merges while it is open; what"
    " waits is taken in order, oldest first, as `release.toml` says. If the second check fails the"
    " release is taken back at once, and the one before it serves until the cause is known.\n\n"
)
MARKDOWN = (
    "## What was agreed\n\n" + PARAGRAPH * 2 + "- the port stays 8443\n- the logo becomes green\n"
    "- Ana writes the note, [as before](https://example.org/note)\n\n" + PARAGRAPH
    + "```python\ndef window(day: str) -> bool:\n    return day == 'Tuesday'\n```\n\n"
)  # fmt: skip


def deltas(text: str) -> list[str]:
    """Cut a text as models do: a word, with the blank ahead of it."""
    words = text.split(" ")
    return [words[0], *(f" {word}" for word in words[1:])]


class Steady:
    """A provider that gives so many pieces, evenly; notes what the process took meanwhile."""

    name, model = "steady", "steady-1"

    def __init__(self, kind: str, seconds: float, notes: Path | None = None) -> None:
        self._kind, self._count, self._notes = kind, int(seconds * RATE), notes

    def rules(self, options: object) -> WritingRules:
        return PLAIN

    async def stream(self, messages: Sequence[Message], options: Options) -> AsyncIterator[Piece]:
        made, loop = (
            ReasoningDelta if self._kind == "reasoning" else ReplyDelta,
            asyncio.get_running_loop(),
        )
        began, cpu = loop.time(), time.process_time()
        for number, text in enumerate(islice(cycle(deltas(MARKDOWN)), self._count)):
            if (wait := began + number / RATE - loop.time()) > 0:
                await asyncio.sleep(wait)
            yield made(text)
        took = loop.time() - began, time.process_time() - cpu
        if self._notes is not None:
            self._notes.write_text(json.dumps(took))
        yield ReplyDelta(".")
        yield Usage(100, self._count)
        yield Finished("stop")

    async def aclose(self) -> None:
        """Nothing to give back."""


def run_app(folder: Path, kind: str, seconds: float) -> None:
    """Run the app; called in the process that is measured."""
    from jitchat.transfer.demo import store_demo
    from jitchat.tui.app import JitchatApp
    from jitchat.tui.driver import widen_input
    from tests.tui.support import TestBackend

    database = Database(folder / "cold.db")
    store = ColdStore(database)
    provider = Steady(kind, seconds, folder / "notes.json")
    backend = TestBackend(store, folder / "crash.txt", provider=provider)
    widen_input()
    JitchatApp(backend, store.latest() or store_demo(store)).run()
    database.close()


def started(folder: Path, kind: str, seconds: float) -> Terminal:
    """Start it, and have it answer."""
    command = [sys.executable, "-m", "tests.benchmarks.streaming_screen", "--app", str(folder)]
    environ = {**os.environ, "TERM": "xterm-256color", "COLORTERM": "truecolor"}
    arguments = ["--kind", kind, "--seconds", str(seconds)]
    terminal = Terminal([*command, *arguments], environ, rows=36)
    terminal.wait_for("next window")
    terminal.drain(1.5)
    terminal.type("go on\r")
    return terminal


def measure_share(kind: str, seconds: float) -> tuple[float, float, float]:
    """Tell the screen's share of a core, the provider's own, and how late the last delta came."""
    with tempfile.TemporaryDirectory() as name:
        terminal = started(Path(name), kind, seconds)
        notes = Path(name) / "notes.json"
        while not notes.exists():
            terminal.drain(0.25)
        terminal.drain(1)
        wall, cpu = json.loads(notes.read_text())
        terminal.stop()
    alone = asyncio.run(_alone(Steady(kind, 4.0)))
    return cpu / wall - alone, alone, wall - seconds


async def _alone(provider: Steady) -> float:
    began, cpu = time.monotonic(), time.process_time()
    async for _piece in provider.stream((), Options()):
        pass
    return (time.process_time() - cpu) / (time.monotonic() - began)


def measure_keys(kind: str) -> Iterator[float]:
    """Yield the seconds from a key to its letter on screen, early and late in a reply."""
    with tempfile.TemporaryDirectory() as name:
        terminal = started(Path(name), kind, 60)
        terminal.drain(2)
        for letter in "QXZJVKYQXZJVKYQXZJVKYQXZJVKYQXZJVKYQXZJVKYQXZJVKY":
            terminal.drain(0.15)
            terminal.type(letter)
            yield terminal.wait_for(letter)
        terminal.stop()


def measure_cancel(kind: str, streaming: float) -> float:
    """Tell the seconds from Esc, so long into a reply, to a reply that is stored as cancelled."""
    with tempfile.TemporaryDirectory() as name:
        terminal = started(Path(name), kind, 60)
        terminal.drain(streaming)
        store = sqlite3.connect(Path(name) / "cold.db", isolation_level=None)
        terminal.type("\x1b")
        began = time.perf_counter()
        while _last_status(store) == "streaming":
            terminal.drain(0.001)
        took = time.perf_counter() - began
        if _last_status(store) != "cancelled":
            raise SystemExit(f"the reply is {_last_status(store)}")
        store.close()
        terminal.stop()
    return took


def _last_status(store: sqlite3.Connection) -> str:
    return str(store.execute("SELECT status FROM turns ORDER BY id DESC LIMIT 1").fetchone()[0])


def show(what: str, value: str, goal: str) -> None:
    """Print a figure beside its goal."""
    print(f"{what:<58} {value:>16}   goal {goal}", flush=True)


def main() -> None:
    """Measure a text and a reasoning that stream."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--kind", choices=("text", "reasoning"))
    parser.add_argument("--app", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.app:
        run_app(given.app, given.kind, given.seconds)
        return
    for kind in (given.kind,) if given.kind else ("text", "reasoning"):
        share, alone, late = measure_share(kind, given.seconds)
        show(f"{kind}, {RATE} deltas/s: the screen's share of a core", f"{share:.0%}", "≤ 30 %")
        show(
            "  the provider's own; how late the last delta came", f"{alone:.0%}, {late:.2f} s", "-"
        )
        keys = list(measure_keys(kind))
        p95 = sorted(keys)[int(len(keys) * 0.95)]
        told = f"{statistics.median(keys) * 1000:.0f} / {p95 * 1000:.0f} ms"
        show("  key on screen, p50 / p95", told, "p95 ≤ 50 ms")
        waits = [measure_cancel(kind, streaming) for streaming in (1.0, 3.0, 5.3, 8.1)]
        show("  Esc to a reply stored as cancelled, worst", f"{max(waits) * 1000:.0f} ms", "≤ 100")


if __name__ == "__main__":
    main()
