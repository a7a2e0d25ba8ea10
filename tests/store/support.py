"""Helpers: dead processes, and disks that cannot be written."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jitchat.store.store import ColdStore


def claim(store: ColdStore, process: int, seen_at: float | None = None) -> None:
    """Record another process as the writer of the reply."""
    with store.database.write() as connection:
        connection.execute(
            "UPDATE streaming SET process = ?, seen_at = ?",
            (process, seen_at if seen_at is not None else store.now().timestamp()),
        )


def dead_process() -> int:
    """Return the id of a process that has ended."""
    done = subprocess.Popen([sys.executable, "-S", "-c", ""])
    done.wait()
    return done.pid


def make_full(store: ColdStore, *, on: bool) -> None:
    """Keep the database from growing, or allow it again."""
    with store.database.read() as connection:
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count = {pages if on else 1_000_000}")


def make_read_only(store: ColdStore, *, on: bool) -> None:
    """Refuse every write as SQLite does for a read-only file, or allow writes again."""
    with store.database.read() as connection:
        connection.execute(f"PRAGMA query_only = {int(on)}")
