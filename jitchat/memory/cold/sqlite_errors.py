"""SQLite's errors as ours: what happened to which file, and what to do about it."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from jitchat.errors import StoreBusy, StoreError, StoreFull, StoreReadOnly, StoreUnreadable
from jitchat.text.safe import one_line

ELSEWHERE = "Name another file with --db."

_KINDS: dict[int, type[StoreError]] = {
    sqlite3.SQLITE_NOTADB: StoreUnreadable,
    sqlite3.SQLITE_CORRUPT: StoreUnreadable,
    sqlite3.SQLITE_CANTOPEN: StoreReadOnly,
    sqlite3.SQLITE_PERM: StoreReadOnly,
    sqlite3.SQLITE_READONLY: StoreReadOnly,
    sqlite3.SQLITE_FULL: StoreFull,
    sqlite3.SQLITE_IOERR: StoreFull,
    sqlite3.SQLITE_BUSY: StoreBusy,
    sqlite3.SQLITE_LOCKED: StoreBusy,
    sqlite3.SQLITE_PROTOCOL: StoreBusy,
}
_EXPLANATIONS: dict[type[StoreError], tuple[str, str]] = {
    StoreUnreadable: (
        "is damaged, or not a database",
        "Make a copy; `sqlite3 FILE .recover` can save what is readable."
        " Start afresh with another --db.",
    ),
    StoreReadOnly: (
        "cannot be written: the file or its folder is read-only or out of reach",
        f"Change the permissions. {ELSEWHERE}",
    ),
    StoreFull: (
        "cannot be written: the disk is full or refuses",
        "Free some space, check the disk, and send again.",
    ),
    StoreBusy: ("is held by another program", "Close it, or wait, and try again."),
}


def named(error: sqlite3.Error, path: Path, *, has_written: bool = False) -> StoreError:
    """Turn SQLite's error into one that says what to do; see `damaged`."""
    code = getattr(error, "sqlite_errorcode", None)
    if code is None and "decode" in str(error):
        return damaged(path, has_written=has_written)
    kind = _KINDS.get((code or 0) & 0xFF)
    if kind is None:
        return StoreError(f"The database {path} failed: {one_line(str(error))}.", "Try again.")
    if kind is StoreUnreadable:
        return damaged(path, has_written=has_written)
    what, remedy = _EXPLANATIONS[kind]
    return kind(f"The database {path} {what}.", remedy)


def damaged(path: Path, *, has_written: bool = False) -> StoreUnreadable:
    """The error of a file that holds what cannot be; `has_written`: since it was opened."""
    what, remedy = _EXPLANATIONS[StoreUnreadable]
    left = "It was written to before that was found." if has_written else "It was left as it is."
    return StoreUnreadable(f"The database {path} {what}.", f"{left} {remedy}")
