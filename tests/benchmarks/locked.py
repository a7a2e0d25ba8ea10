"""Frame times while another process writes: `python -m tests.benchmarks.locked`.

Another process holds the write lock for some seconds after each of some actions. Each time, the
longest pause between two steps of the event loop, which draws the frames. The goal is 100 ms.
"""

from __future__ import annotations

import argparse
import asyncio
import sqlite3
import tempfile
import time
from contextlib import closing
from pathlib import Path

from jitchat.store.database import Database
from jitchat.store.store import ColdStore
from jitchat.tui.actions import BY_ID
from tests.tui.support import TestBackend, demo_app, ready, type_text
from tests.tui.test_one_batch import at_chat

ACTIONS = ("new", "resume", "sends", "costs", "find", "project", "ledger", "mode", "temporary")
STEP = 0.005


async def longest_pause(seconds: float) -> float:
    """Milliseconds more than asked for between two steps, for so many seconds."""
    longest, end = 0.0, time.monotonic() + seconds
    while (before := time.monotonic()) < end:
        await asyncio.sleep(STEP)
        longest = max(longest, time.monotonic() - before - STEP)
    return 1000 * longest


async def measure(folder: Path, seconds: float) -> None:
    database = Database(folder / "cold.db")
    app = demo_app(TestBackend(ColdStore(database), folder / "crash.txt"))
    async with app.run_test(size=(120, 36)) as pilot:
        await ready(pilot)
        await type_text(pilot, "which port?")
        print(f"{'at rest':14} {await longest_pause(seconds):5.0f} ms", flush=True)
        for name in ACTIONS:
            with closing(sqlite3.connect(database.path, isolation_level=None)) as other:
                other.execute("BEGIN IMMEDIATE")
                app.call_later(app.screen.run_action, BY_ID[name].run)
                print(f"{name:14} {await longest_pause(seconds):5.0f} ms", flush=True)
            await at_chat(pilot)
    database.close()


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.locked")
    parser.add_argument("--seconds", type=float, default=3.0, help="for which the lock is held")
    seconds = parser.parse_args().seconds
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(measure(Path(folder), seconds))


if __name__ == "__main__":
    main()
