"""How long each view takes to open: `python -m tests.benchmarks.views`.

The real app on a terminal of 120×36, a conversation of 10,000 turns (`--turns`) of which 200 were
answered from a window of their own. From the key to the first of the view on screen, and to what
it shows being there; opened once before, and for the first time in the run.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from jitchat.index.builtin_embedder import BuiltinEmbedder
from jitchat.memory import Memory
from jitchat.session import Session
from jitchat.session_options import SessionOptions
from jitchat.store.database import Database
from jitchat.store.store import ColdStore
from jitchat.values import Mode
from jitchat.window.tokens import EstimateCounter
from tests.benchmarks.live_preview import QUESTION, store_talk
from tests.benchmarks.streaming_screen import show
from tests.benchmarks.terminal import Terminal
from tests.support import ScriptedProvider

SENDS = 200
AGAIN = 4


@dataclass(frozen=True, slots=True)
class Opened:
    """A view: the key, a word of its explanation, and a word of what it shows."""

    name: str
    key: str
    frame: str
    filled: str


VIEWS = (
    Opened("ledger", "\x1bOS", "its price", "rank 1"),
    Opened("what if", "\x1b[18~", "side by side", "in jit"),
    Opened("budget", "\x1b[19~", "enter and leave", "turns retrieved"),
    Opened("sends", "\x1b[20~", "its size", "sha256"),
    Opened("wire", "\x1bOR", "byte for byte", "role"),
    Opened("history", "\x1bh", "by kind", "sends"),
)


def store_sends(folder: Path) -> None:
    """Have some messages answered in the stored conversation."""
    database = Database(folder / "cold.db")
    store = ColdStore(database)
    conversation = store.latest()
    assert conversation is not None
    session = Session(
        Memory(store, conversation, BuiltinEmbedder()),
        ScriptedProvider(script=("Noted.",)),
        EstimateCounter(),
        SessionOptions(),
    )

    async def send() -> None:
        for number in range(SENDS):
            mode = Mode.RECENCY if number % 3 else Mode.JIT
            async for _ in session.send(f"{QUESTION} {number}", mode):
                pass

    asyncio.run(send())
    database.close()


def measure(folder: Path) -> None:
    """Open each view, for the first time and again."""
    environ = {**os.environ, "TERM": "xterm-256color", "COLORTERM": "truecolor"}
    command = [sys.executable, "-m", "tests.benchmarks.live_preview", "--app", str(folder)]
    terminal = Terminal(command, environ, rows=36)
    terminal.wait_for("reserve 2,048")
    terminal.drain(4)
    terminal.type(QUESTION)
    terminal.drain(4)
    for view in VIEWS:
        times = [_open(terminal, view) for _ in range(AGAIN)]
        first, later = times[0], sorted(times[1:])[len(times[1:]) // 2]
        told = f"{later[0] * 1000:.0f} / {later[1] * 1000:.0f} ms"
        show(f"{view.name}: on screen / filled", told, "≤ 150")
        told = f"{first[0] * 1000:.0f} / {first[1] * 1000:.0f} ms"
        show("  for the first time", told, "-")
    terminal.stop()


def _open(terminal: Terminal, view: Opened) -> tuple[float, float]:
    terminal.type(view.key)
    frame = terminal.wait_for(view.frame)
    filled = frame + terminal.wait_for(view.filled)
    terminal.drain(1.5)
    terminal.type("\x1b")
    terminal.drain(1.5)
    return frame, filled


def main() -> None:
    """Store a conversation, and open every view on it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=10_000)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        store_talk(folder, given.turns)
        store_sends(folder)
        measure(folder)


if __name__ == "__main__":
    main()
