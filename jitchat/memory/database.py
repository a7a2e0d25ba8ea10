"""Opening the cold store's file, and the one way to write to it.

Invariants: the file is 0600 before SQLite touches it, so its -wal and -shm are too; a commit
is durable when it returns (WAL, synchronous=FULL); every write begins IMMEDIATE, so that two
instances wait for each other and never fail half way. A file that is not ours is never
changed.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import sqlite_utils

from jitchat.errors import (
    StoreBusy,
    StoreError,
    StoreFull,
    StoreReadOnly,
    StoreTooNew,
    StoreUnreadable,
)
from jitchat.memory.schema import migrations

WAIT_SECONDS = 30.0


class Database:
    """A connection that threads may share: one at a time uses it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.RLock()
        self._connection = _connect(path)
        with self._named_errors():
            self._prepare()

    def _prepare(self) -> None:
        try:
            self._db = sqlite_utils.Database(self._connection, recursive_triggers=False)
            self._require_our_schema()
            self._connection.execute("PRAGMA journal_mode = WAL")
            self._connection.execute("PRAGMA synchronous = FULL")
            self._connection.execute("PRAGMA foreign_keys = ON")
            if migrations.pending(self._db):
                with self.write():
                    migrations.apply(self._db)
        except BaseException:
            self._connection.close()
            raise

    def _require_our_schema(self) -> None:
        applied = {migration.name for migration in migrations.applied(self._db)}
        unknown = sorted(applied - _known_migrations())
        if unknown:
            raise StoreTooNew(
                f"{self.path} was written by a newer jitchat (it has {unknown[-1]!r}).",
                "Update jitchat, or use another file with --db. Nothing was changed.",
            )
        if not applied and self._db.table_names():
            raise StoreUnreadable(
                f"{self.path} is a database of another program.",
                "Use another file with --db. Nothing was changed.",
            )

    @contextmanager
    def write(self) -> Iterator[sqlite3.Connection]:
        """A transaction: all of it is durable, or none of it happened. May be nested."""
        with self._lock, self._named_errors():
            if self._connection.in_transaction:
                yield self._connection
                return
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            except BaseException:
                self._connection.rollback()
                raise

    @contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        """The connection, for queries."""
        with self._lock, self._named_errors():
            yield self._connection

    def close(self) -> None:
        """Give the file back; the write-ahead log is folded into it."""
        with self._lock:
            self._connection.close()

    @contextmanager
    def _named_errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise _named(error, self.path) from error


def _known_migrations() -> set[str]:
    empty = sqlite_utils.Database(memory=True)
    names = {migration.name for migration in migrations.pending(empty)}
    empty.close()
    return names


def _connect(path: Path) -> sqlite3.Connection:
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not path.exists():
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        return sqlite3.connect(path, timeout=WAIT_SECONDS, check_same_thread=False)
    except FileExistsError:
        return sqlite3.connect(path, timeout=WAIT_SECONDS, check_same_thread=False)
    except OSError as error:
        raise StoreReadOnly(
            f"The database {path} cannot be opened: {error.strerror or error}.",
            "Check the folder's permissions, or name another file with --db.",
        ) from error


def _named(error: sqlite3.Error, path: Path) -> StoreError:
    """The error as one that says what to do."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    what, remedy = _EXPLANATIONS.get(code, (f"failed: {error}", "Try again, or another --db."))
    kind = _KINDS.get(code, StoreError)
    return kind(f"The database {path} {what}.", remedy)


_KINDS: dict[int, type[StoreError]] = {
    sqlite3.SQLITE_NOTADB: StoreUnreadable,
    sqlite3.SQLITE_CORRUPT: StoreUnreadable,
    sqlite3.SQLITE_CANTOPEN: StoreReadOnly,
    sqlite3.SQLITE_READONLY: StoreReadOnly,
    sqlite3.SQLITE_FULL: StoreFull,
    sqlite3.SQLITE_IOERR: StoreFull,
    sqlite3.SQLITE_BUSY: StoreBusy,
}
_EXPLANATIONS = {
    sqlite3.SQLITE_NOTADB: (
        "is not a database",
        "It was left as it is. Move it away, or name another file with --db.",
    ),
    sqlite3.SQLITE_CORRUPT: (
        "is damaged",
        "It was left as it is. Make a copy; `sqlite3 FILE .recover` can save what is readable."
        " Start afresh with another --db.",
    ),
    sqlite3.SQLITE_CANTOPEN: (
        "cannot be opened",
        "Check that the folder exists and may be written, or name another file with --db.",
    ),
    sqlite3.SQLITE_READONLY: (
        "cannot be written: the file or its folder is read-only",
        "Change the permissions, or name another file with --db.",
    ),
    sqlite3.SQLITE_FULL: ("cannot grow: the disk is full", "Free some space and send again."),
    sqlite3.SQLITE_IOERR: (
        "cannot be written: the disk refused",
        "Check the disk's space and health, and send again.",
    ),
    sqlite3.SQLITE_BUSY: (
        "is held by another program",
        "Close it, or wait, and try again.",
    ),
}
