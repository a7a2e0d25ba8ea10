"""How long others wait while an older database is indexed.

Run `python -m tests.benchmarks.search_waits`.

A database of the version before the search index is made. One process indexes it in the background,
as the app does; this one writes to it meanwhile, and measures how long each write waits.
"""

from __future__ import annotations

import argparse
import random
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

from jitchat.store.database import Database, migrate
from tests.benchmarks.searching import english

_DAY = "2026-03-13T10:00:00+00:00"
_BUILD = """
import pathlib, sys, threading
from jitchat.store import search_index
from jitchat.store.database import Database
search_index.finish_in_background(Database(pathlib.Path(sys.argv[1])))
for thread in threading.enumerate():
    if thread.daemon:
        thread.join()
"""
_EVERY = 0.017
"""Seconds between two writes: no multiple of the builder's."""


def make_older(path: Path, turns: int) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("BEGIN")
        migrate(connection, stop_before="030_search_index")
        connection.execute("DROP TRIGGER turns_fts_insert")  # all at once is faster
        connection.executemany(
            "INSERT INTO conversations (id, title, touched, created_at, updated_at)"
            " VALUES (?, ?, 1, ?, ?)",
            ((f"old-{number}", f"Talk {number}", _DAY, _DAY) for number in range(turns // 50 + 1)),
        )
        texts = enumerate(islice(english(random.Random(1)), turns))
        connection.executemany(
            "INSERT INTO turns (conversation, position, role, content, created_at)"
            " VALUES (?, ?, 'user', ?, ?)",
            ((f"old-{place // 50}", place % 50 + 1, text, _DAY) for place, text in texts),
        )
        connection.execute("INSERT INTO turns_fts (turns_fts) VALUES ('rebuild')")
        connection.execute("COMMIT")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=50_000)
    wanted = parser.parse_args()
    with TemporaryDirectory() as folder:
        path = Path(folder) / "old.db"
        make_older(path, wanted.turns)
        began = time.perf_counter()
        database = Database(path)
        print(f"migration: {1_000 * (time.perf_counter() - began):.0f} ms")
        waits = []
        with subprocess.Popen([sys.executable, "-c", _BUILD, str(path)]) as child:
            while child.poll() is None:
                asked = time.perf_counter()
                with database.write() as connection:
                    waits.append(1_000 * (time.perf_counter() - asked))
                    connection.execute("UPDATE conversations SET touched = 2 WHERE id = 'old-0'")
                time.sleep(_EVERY)
        seconds = time.perf_counter() - began
        waits.sort()
        median, late = waits[len(waits) // 2], waits[int(0.99 * len(waits))]
        print(f"{wanted.turns:,} turns indexed in {seconds:.0f} s, {len(waits):,} writes meanwhile")
        print(f"waits: median {median:.1f} ms, p99 {late:.1f} ms, most {waits[-1]:.1f} ms")
        database.close()


if __name__ == "__main__":
    main()
