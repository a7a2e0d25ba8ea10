"""How long quitting takes in a long conversation: `python -m tests.benchmarks.quitting`.

Each time anew on a conversation of which nothing is indexed: so many seconds after the app drew
its first frame, with and without a draft that is being planned for. The goal is a second.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import sys
import tempfile
import time
from pathlib import Path

from jitchat.store.database import Database
from jitchat.store.store import ColdStore
from jitchat.values import Role, Turn
from tests.benchmarks.terminal import Terminal

WORDS = ("harbour", "ferry", "gull", "kettle", "deploy", "window", "port", "logo", "Tuesday")
AT_ONCE = 20_000
DELAYS = (0.3, 2.0, 6.0)


def store_turns(path: Path, count: int) -> None:
    """Store a conversation of so many turns."""
    draw, roles = random.Random(1), (Role.USER, Role.ASSISTANT)
    store = ColdStore(Database(path))
    identity = store.create("Long").id
    for start in range(0, count, AT_ONCE):
        numbers = range(start, min(count, start + AT_ONCE))
        texts = (f"{' '.join(draw.choices(WORDS, k=20))} {number}" for number in numbers)
        turns = [Turn(0, roles[n % 2], text) for n, text in zip(numbers, texts, strict=True)]
        store.append(identity, turns)
    store.database.close()


def quit_after(database: Path, seconds: float, draft: str) -> float:
    """Seconds from Ctrl+Q to the end of the process."""
    with tempfile.TemporaryDirectory() as home:
        copy = shutil.copy(database, home)
        environ = dict(os.environ) | {"JITCHAT_HOME": home, "TERM": "xterm-256color"}
        terminal = Terminal([sys.executable, "-m", "jitchat", "--db", str(copy)], environ)
        terminal.wait_for("\x1b[?2004h")
        terminal.drain(seconds)
        if draft:
            terminal.type(draft)
            terminal.drain(0.4)
        begun = time.perf_counter()
        terminal.type("\x11")
        terminal.until_exit(timeout=120.0)
        took = time.perf_counter() - begun
        terminal.close()
        return took


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.quitting")
    parser.add_argument("--turns", type=int, nargs="+", default=[20_000, 100_000, 300_000])
    for count in parser.parse_args().turns:
        with tempfile.TemporaryDirectory() as folder:
            database = Path(folder) / "long.db"
            store_turns(database, count)
            for seconds in DELAYS:
                idle, planning = (
                    quit_after(database, seconds, draft) for draft in ("", "which port is it")
                )
                print(
                    f"{count:>9,} turns, after {seconds:3.1f} s: {idle:5.2f} s,"
                    f" with a draft {planning:5.2f} s",
                    flush=True,
                )


if __name__ == "__main__":
    main()
