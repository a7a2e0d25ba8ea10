"""Helpers: dead processes, and disks that cannot be written."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jitchat.store.store import ColdStore


def claim(store: ColdStore, process: int, seen_at: float | None = None) -> None:
    """Say that another process writes the reply."""
    with store.database.write() as connection:
        connection.execute(
            "UPDATE streaming SET process = ?, seen_at = ?",
            (process, seen_at if seen_at is not None else store.now().timestamp()),
        )


def dead_process() -> int:
    """The id of a process that is gone."""
    done = subprocess.Popen([sys.executable, "-S", "-c", ""])
    done.wait()
    return done.pid


def make_full(store: ColdStore, *, on: bool) -> None:
    """Let the database grow no further, or again."""
    with store.database.read() as connection:
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count = {pages if on else 1_000_000}")


def make_read_only(store: ColdStore, *, on: bool) -> None:
    """Refuse every write as SQLite does for a read-only file, or no longer."""
    with store.database.read() as connection:
        connection.execute(f"PRAGMA query_only = {int(on)}")
