"""Opening the cold store's file, and the one way to write to it.

Invariants: the file is 0600 before SQLite touches it, so its -wal and -shm are too; a commit
is durable when it returns (WAL, synchronous=FULL); every write begins IMMEDIATE, so that two
instances wait for each other and never fail half way. A file that is not ours is never
changed, nor is one that is damaged.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from stat import S_ISREG

from jitchat.errors import StoreReadOnly, StoreTooNew, StoreUnreadable
from jitchat.memory.cold.migrated import MIGRATION_SET, MIGRATION_TABLE, MIGRATIONS
from jitchat.memory.cold.sqlite_errors import ELSEWHERE, damaged, named
from jitchat.paths import make_private, open_to_others
from jitchat.text.safe import one_line

WAIT_SECONDS = 30.0
_SOON = 0.005
_PATIENCE = 0.1
"""Seconds that closing waits for another thread."""


class Database:
    """A connection that threads may share: one at a time uses it.

    Raises:
        StoreError: The file cannot be opened, or is not a cold store of ours.

    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.RLock()
        self._has_written = False
        with self._named_errors():
            self._connection = _connect(path)
            try:
                self._prepare()
            except BaseException:  # closed whatever it was, and passed on
                self._connection.close()
                raise

    def _prepare(self) -> None:
        applied = self._require_our_schema()
        self._write_ahead()
        self._connection.execute("PRAGMA synchronous = FULL")
        self._connection.execute("PRAGMA foreign_keys = ON")
        if applied != set(MIGRATIONS):
            # 200 ms with the numpy that it brings, and needed once a database.
            from jitchat.memory.cold.schema import migrate  # noqa: PLC0415

            with self.write() as connection:
                migrate(connection)

    def _write_ahead(self) -> None:
        """Switch to WAL; two that do so at once get a BUSY that SQLite does not wait for."""
        give_up = time.monotonic() + WAIT_SECONDS
        while True:
            try:
                self._connection.execute("PRAGMA journal_mode = WAL")
            except sqlite3.OperationalError as error:
                is_busy = error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY
                if not is_busy or time.monotonic() >= give_up:
                    raise
                time.sleep(_SOON)
            else:
                return

    def _require_our_schema(self) -> set[str]:
        """Look at the schema as it is at one moment: another instance may be making it."""
        with self.read() as connection:
            connection.execute("BEGIN")
            try:
                names = {row[0] for row in connection.execute("SELECT name FROM sqlite_master")}
                applied = _applied(connection) if MIGRATION_TABLE in names else set()
                pages = connection.execute("PRAGMA page_count").fetchone()[0]
            finally:
                connection.rollback()
        is_empty = not names
        if unknown := sorted(applied - set(MIGRATIONS)):
            raise StoreTooNew(
                f"{self.path} was written by a newer jitchat (it has {one_line(unknown[-1])!r}).",
                "Update jitchat, or use another file with --db. Nothing was changed.",
            )
        if is_empty and pages > 1:
            raise damaged(self.path)
        if not applied and not is_empty:
            raise StoreUnreadable(
                f"{self.path} is a database of another program.",
                f"{ELSEWHERE} Nothing was changed.",
            )
        return applied

    @contextmanager
    def write(self) -> Iterator[sqlite3.Connection]:
        """Open a transaction: all of it is durable, or none of it happened. May be nested."""
        with self._lock, self._named_errors():
            if self._connection.in_transaction:
                yield self._connection
                return
            self._connection.execute("BEGIN IMMEDIATE")
            before = self._connection.total_changes
            try:
                yield self._connection
                self._connection.execute("COMMIT")
                self._has_written |= self._connection.total_changes > before
            except BaseException:  # taken back whatever it was, and passed on
                self._connection.rollback()
                raise

    @contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        """Lend the connection for queries, and for turning their rows into values.

        Raises:
            StoreUnreadable: A row holds what cannot be: the file was damaged or edited.

        """
        with self._lock, self._named_errors():
            try:
                yield self._connection
            except (ValueError, TypeError, LookupError) as error:
                raise self.damaged() from error

    def damaged(self) -> StoreUnreadable:
        """Make the error of a row that holds what cannot be."""
        return damaged(self.path, has_written=self._has_written)

    def warning(self) -> str:
        """Say that others may read it; empty where they may not."""
        return open_to_others(self.path, "the conversations")

    def close(self) -> None:
        """Give the file back; the write-ahead log is folded into it.

        What another thread reads or writes for longer than that is broken off, and taken back.
        """
        while not self._lock.acquire(timeout=_PATIENCE):
            self._connection.interrupt()
        try:
            self._connection.close()
        finally:
            self._lock.release()

    @contextmanager
    def _named_errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise named(error, self.path, has_written=self._has_written) from error


def _applied(connection: sqlite3.Connection) -> set[str]:
    rows = connection.execute(
        f"SELECT name FROM {MIGRATION_TABLE} WHERE migration_set = ?",  # noqa: S608  a constant
        (MIGRATION_SET,),
    )
    return {str(row[0]) for row in rows}


def _connect(path: Path) -> sqlite3.Connection:
    try:
        _require_file(path)
    except OSError as error:
        raise StoreReadOnly(
            f"The database {path} cannot be opened: {error.strerror or error}.",
            f"Check the folder's permissions. {ELSEWHERE}",
        ) from error
    return sqlite3.connect(
        path, timeout=WAIT_SECONDS, check_same_thread=False, isolation_level=None
    )


def _require_file(path: Path) -> None:
    """Create the file where there is none, readable by its owner alone."""
    if not path.exists():
        make_private(path.parent)
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))
    elif not S_ISREG(path.stat().st_mode):
        raise StoreUnreadable(f"{path} is not a file.", ELSEWHERE)
