"""What a message costs on disk: `python -m tests.benchmarks.storage`.

A conversation of so many messages in `jit`, each answered in 200 words, with the built-in embedder,
the index of recall and the search index: the size of the file by messages, and what it consists of.
The goal is 8 KB.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

from jitchat.index.builtin_embedder import BuiltinEmbedder
from jitchat.memory import Memory
from jitchat.session import Session
from jitchat.session_options import SessionOptions
from jitchat.store import search_index
from jitchat.store.database import Database
from jitchat.store.store import ColdStore
from jitchat.values import Mode
from jitchat.window.tokens import EstimateCounter
from tests.benchmarks.speed import WORDS
from tests.support import ScriptedProvider

TABLES = "SELECT name, SUM(pgsize) FROM dbstat GROUP BY name ORDER BY 2 DESC LIMIT ?"


async def talk(path: Path, sends: int) -> None:
    """Send so many messages."""
    draw = random.Random(5)

    def text(words: int) -> str:
        return " ".join(draw.choices(WORDS, k=words))

    provider = ScriptedProvider((text(200),))
    provider.later = [(text(200),) for _ in range(sends)]
    store = ColdStore(Database(path))
    search_index.finish(store.database)  # as the app does at its start
    memory = Memory(store, store.create("Talk"), BuiltinEmbedder())
    session = Session(memory, provider, EstimateCounter(), SessionOptions())
    for number in range(sends):
        async for _ in session.send(f"Message {number}: {text(30)}?", Mode.JIT):
            pass
    await session.aclose()
    store.database.close()


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.storage")
    parser.add_argument("--sends", type=int, default=150)
    parser.add_argument("--tables", type=int, default=10, help="the largest so many tables")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "talk.db"
        asyncio.run(talk(path, options.sends))
        with closing(sqlite3.connect(path)) as connection:
            tables = connection.execute(TABLES, (options.tables,)).fetchall()
        size = path.stat().st_size
    each = size / options.sends / 1024
    print(f"{each:.1f} KB a message: {size:,} bytes for {options.sends} messages")
    for name, part in tables:
        print(f"{part / options.sends:>9,.0f} bytes a message  {name}")


if __name__ == "__main__":
    main()
