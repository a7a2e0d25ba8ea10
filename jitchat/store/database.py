"""The cold store's database file: opening, writing, closing, and translating SQLite's errors.

Invariants: the file is 0600 before SQLite touches it, so its -wal and -shm are too; a commit
is durable when it returns (WAL, synchronous=FULL); every write begins IMMEDIATE, so that two
instances wait for each other and never fail half way. A file of another program is never
changed, nor is a damaged one. Nothing is written to a file that is no longer at its path: the open
database is saved there again, or next to the file that replaced it. If nothing can be written,
stored data can still be read. No event loop waits here that draws a screen.
"""

import logging
import os
import re
import shutil
import sqlite3
import tempfile
import threading
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, nullcontext, suppress
from contextvars import ContextVar
from errno import EEXIST
from itertools import count
from pathlib import Path
from stat import S_ISREG
from typing import Any, NamedTuple

from jitchat import errors
from jitchat.errors import StoreError
from jitchat.paths import make_private, open_to_others
from jitchat.store import copies
from jitchat.store.packed import halved, packed_piece, packed_texts, packed_window
from jitchat.store.repair import repair
from jitchat.text.sanitize import one_line
from jitchat.text.words import fold

MIGRATION_SET = "jitchat"
MIGRATION_TABLE = "_sqlite_migrations"
"""The table in which sqlite-utils records the applied migrations."""
_MIGRATIONS = Path(__file__).with_name("migrations")
"""Numbered files. The schema only grows: append, never edit."""
ELSEWHERE = "Name another file with --db."
_LOG = logging.getLogger("jitchat.database")

_KINDS: dict[int, type[StoreError]] = {
    sqlite3.SQLITE_NOTADB: errors.StoreUnreadable,
    sqlite3.SQLITE_CORRUPT: errors.StoreUnreadable,
    sqlite3.SQLITE_CANTOPEN: errors.StoreReadOnly,
    sqlite3.SQLITE_PERM: errors.StoreReadOnly,
    sqlite3.SQLITE_READONLY: errors.StoreReadOnly,
    sqlite3.SQLITE_FULL: errors.StoreFull,
    sqlite3.SQLITE_IOERR: errors.StoreFull,
    sqlite3.SQLITE_BUSY: errors.StoreBusy,
    sqlite3.SQLITE_LOCKED: errors.StoreBusy,
    sqlite3.SQLITE_PROTOCOL: errors.StoreBusy,
}
_EXPLANATIONS: dict[type[StoreError], tuple[str, str]] = {
    errors.StoreUnreadable: (
        "is damaged, or not a database",
        "Make a copy; `sqlite3 FILE .recover` can save what is readable."
        " Start afresh with another --db.",
    ),
    errors.StoreReadOnly: (
        "cannot be written: the file or its folder is read-only or inaccessible",
        f"Change the permissions. {ELSEWHERE}",
    ),
    errors.StoreFull: (
        "cannot be written: the disk is full or reports an error",
        "Free some space or check the disk, then try again.",
    ),
    errors.StoreBusy: ("is locked by another program", "Close it, or wait, and try again."),
    errors.StoreForeign: (
        "does not fit this version: a development version, a newer one or another program wrote it",
        "Copy it with `jitchat backup FILE`, then update jitchat. Or save the conversations with"
        " `jitchat export --all --format json --out FILE`, and import them into another --db.",
    ),
}
_FOREIGN = re.compile(r"no such (table|column)|has no column named")


def store_error(error: sqlite3.Error, path: Path, *, has_written: bool = False) -> StoreError:
    """Convert a SQLite error to one that states what to do; see `damaged` for `has_written`."""
    code = getattr(error, "sqlite_errorcode", None)
    kind = _KINDS.get((code or 0) & 0xFF)
    if kind is errors.StoreUnreadable or (code is None and "decode" in str(error)):
        return damaged(path, has_written=has_written)
    cause = one_line(str(error))
    if kind is None and not _FOREIGN.search(cause):
        return StoreError(f"The database {path} failed: {cause}.", "Try again.")
    if kind is None:
        what, remedy = _EXPLANATIONS[errors.StoreForeign]
        return errors.StoreForeign(f"The database {path} {what} ({cause}).", remedy)
    what, remedy = _EXPLANATIONS[kind]
    return kind(f"The database {path} {what}.", remedy)


def damaged(path: Path, *, has_written: bool = False) -> errors.StoreUnreadable:
    """Return the error for invalid data; `has_written`: whether since the file was opened."""
    what, remedy = _EXPLANATIONS[errors.StoreUnreadable]
    left = "It was written to before this was found." if has_written else "It was not changed."
    return errors.StoreUnreadable(f"The database {path} {what}.", f"{left} {remedy}")


Parameters = Sequence[object] | Mapping[str, object]
_INVALID = (ValueError, TypeError, LookupError, zlib.error)
WAIT_SECONDS = 30.0
LOCKED = "Waiting for the database: another program is writing to it."
SAID_AFTER = 1.0
"""Seconds that a write waits for another process until `on_wait` is told."""
_SOON = 0.005
_PATIENCE = 0.1
"""Seconds that SQLite waits for another process, and closing for another thread, before the wait
is looked at."""

may_wait: ContextVar[Callable[[], bool]] = ContextVar("may_wait", default=lambda: True)
"""Whether this thread may wait for a database; the event loop of a screen may not."""


@contextmanager
def waiting() -> Iterator[None]:
    """Let this thread wait for a database, even if it draws the screen."""
    token = may_wait.set(lambda: True)
    try:
        yield
    finally:
        may_wait.reset(token)


class Database:
    """A connection for writing and one for reading; threads share them, one at a time.

    So a read waits for no write, and sees what was committed when it began.

    Raises:
        StoreError: The file cannot be opened, or is not a jitchat database.

    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.refusal: StoreError | None = None
        """Why the file cannot be written; None if it can. Reads show it as it was when opened."""
        self.on_notice: Callable[[str], object] = lambda _: None
        """Called, in any thread, with a notice for the user about the file."""
        self.on_wait: Callable[[str], object] = lambda _: None
        """Called, in any thread, with a sentence when a write has waited for a second, and with an
        empty one when its wait ends."""
        self._lock = threading.RLock()
        """Held by the thread that writes, which may take the next one too, never the reverse."""
        self._reading = threading.RLock()
        self._reader: sqlite3.Connection | None = None
        """Opened by the first read after the file was opened."""
        self._writes_in: int | None = None
        """The thread with the open transaction, which reads what it has written."""
        self._reads_in: int | None = None
        """The thread that reads, which can write only after that."""
        self._waits_until = float("inf")
        """The moment from which nothing waits for another process."""
        self._has_written = False
        self._copy: tempfile.TemporaryDirectory[str] | None = None
        self._place: _Place | None = None
        self._left: list[sqlite3.Connection] = []
        """Connections to files that are no longer at the path; another thread may be reading."""
        try:
            with self._our_errors():
                self._connection = self._opened(_connect(path), self._prepare)
        except (errors.StoreReadOnly, errors.StoreFull) as refused:
            self._open_for_reading(refused)
        self._place = _place(path)

    def _opened(
        self, connection: sqlite3.Connection, prepare: Callable[[], object]
    ) -> sqlite3.Connection:
        """Use a connection; close it if `prepare` fails."""
        self._connection = connection
        try:
            prepare()
        except BaseException:  # close in any case, and re-raise
            self._close_reader()
            connection.close()
            raise
        # From now on, its waits are looked at; those of opening end soon.
        connection.execute(f"PRAGMA busy_timeout = {int(1000 * min(_PATIENCE, WAIT_SECONDS))}")
        return connection

    def _prepare(self) -> None:
        applied = self._require_our_schema()
        self._make_durable()
        if applied != set(migration_names()):
            self._migrate()
        if self._pragma("user_version"):
            self._shrink()

    def _migrate(self) -> None:
        """Copy the database and migrate it; another process that wants to has to wait."""
        # off, because a table that is created again would take the rows that refer to it along
        self._connection.execute("PRAGMA foreign_keys = OFF")
        with self.write() as connection:
            migrate(connection, before=self._keep_copy)
        self._connection.execute("PRAGMA foreign_keys = ON")

    def _shrink(self) -> None:
        """Rewrite the file, as a migration asked for with `user_version`, if much of it is free."""
        with suppress(sqlite3.OperationalError):  # no room: new rows use the free pages
            if self._pragma("freelist_count") > self._pragma("page_count") // 5:
                self._connection.execute("VACUUM")
        self._connection.execute("PRAGMA user_version = 0")

    def _pragma(self, name: str) -> int:
        return int(self._connection.execute(f"PRAGMA {name}").fetchone()[0])

    def _keep_copy(self, step: str) -> None:
        """Keep a copy of the database as it is before a migration, if that is possible."""
        try:
            with closing(_connection(self.path)) as reader:
                copies.write_upgrade_copy(reader, self.path, step)
        except (OSError, sqlite3.Error, StoreError) as error:
            cause = one_line(str(error))
            _LOG.warning("%s was not copied before migration %s: %s", self.path, step, cause)

    def back_up(self, target: Path) -> int:
        """Write a copy of the database to a new file, which only its owner can read.

        Return its size in bytes.

        Raises:
            StoreError: The file exists, or cannot be written.

        """
        try:
            if target.exists():
                raise FileExistsError(EEXIST, os.strerror(EEXIST))
            with self._lock:
                copies.write_copy(self._connection, target)
            return target.stat().st_size
        except (OSError, sqlite3.Error) as error:
            cause = getattr(error, "strerror", None) or one_line(str(error))
            raise StoreError(
                f"No backup was written to {target}: {cause}.",
                "Name a new file, in a folder that can be written and has room for the database.",
            ) from error

    def _open_for_reading(self, refused: StoreError) -> None:
        """Open the database for reading when the file, its folder or the disk cannot be written.

        A write-ahead log cannot be read there, so both files are copied to a temporary folder.
        """
        self.refusal = refused
        log = _beside(self.path, "-wal")
        try:
            if not self.path.stat().st_size:
                raise refused
            if log.exists() and log.stat().st_size:
                self._copy = tempfile.TemporaryDirectory(prefix="jitchat-")
                copied = shutil.copy(self.path, self._copy.name)
                shutil.copy(log, self._copy.name)
                found = _connection(copied)
            else:
                found = _connection(f"{self.path.absolute().as_uri()}?immutable=1", uri=True)
            with self._our_errors():
                self._opened(found, self._require_schema_of_today)
        except (OSError, sqlite3.Error, errors.StoreReadOnly, errors.StoreFull) as error:
            self._forget_copy()
            raise refused from error
        except StoreError:
            self._forget_copy()
            raise

    def _require_schema_of_today(self) -> None:
        if self._require_our_schema() != set(migration_names()):
            raise errors.StoreTooOld(
                f"{self.path} was written by an older jitchat and cannot be upgraded:"
                " nothing can be written there.",
                "Copy it to a writable folder with free space, and name the copy with --db.",
            )

    def _make_durable(self) -> None:
        self._when_free("PRAGMA journal_mode = WAL")
        self._connection.execute("PRAGMA synchronous = FULL")
        self._connection.execute("PRAGMA foreign_keys = ON")

    def _when_free(self, statement: str) -> None:
        """Run a statement as soon as no other process writes."""
        begun_at, was_told = time.monotonic(), False
        try:
            while True:
                try:
                    self._connection.execute(statement)
                    break
                except sqlite3.OperationalError as error:
                    now = time.monotonic()
                    is_busy = error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY
                    if not is_busy or now >= min(begun_at + WAIT_SECONDS, self._waits_until):
                        raise
                    if now >= begun_at + SAID_AFTER and not was_told:
                        was_told = True
                        self.on_wait(LOCKED)
                    time.sleep(_SOON)
        finally:
            if was_told:
                self.on_wait("")

    def wait_at_most(self, seconds: float) -> None:
        """Limit the time that all threads together wait from now on for other processes."""
        self._waits_until = time.monotonic() + seconds

    def _require_our_schema(self) -> set[str]:
        """Read the schema in one transaction: another instance may be creating it."""
        with self.read() as connection:
            names = {row[0] for row in connection.execute("SELECT name FROM sqlite_master")}
            applied = _applied(connection) if MIGRATION_TABLE in names else set()
            pages = connection.execute("PRAGMA page_count").fetchone()[0]
        if unknown := sorted(applied - {*migration_names(), *_renamed()}):
            raise errors.StoreTooNew(
                f"{self.path} was written by a newer jitchat (it has {one_line(unknown[-1])!r}).",
                "Update jitchat, or use another file with --db. Nothing was changed.",
            )
        if not names and pages > 1:
            raise damaged(self.path)
        if names and not applied:
            raise errors.StoreUnreadable(
                f"{self.path} is a database of another program.",
                f"{ELSEWHERE} Nothing was changed.",
            )
        return applied

    @contextmanager
    def write(self) -> Iterator[sqlite3.Connection]:
        """Open a transaction: all of it is durable, or none of it happened. Can be nested.

        Not within `read`, which would not see it.
        """
        with self.writing() as known:
            if known.in_transaction:
                yield known
                return
            if self.refusal is not None:
                raise self.refusal
            self._keep_place()
            connection = self._connection
            self._when_free("BEGIN IMMEDIATE")
            self._writes_in = threading.get_ident()
            before = connection.total_changes
            try:
                yield connection
                connection.execute("COMMIT")
                self._has_written |= connection.total_changes > before
            except BaseException:  # roll back in any case, and re-raise
                connection.rollback()
                raise
            finally:
                self._writes_in = None

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Lend the connection that writes, for what cannot be done in a transaction."""
        _refuse_screen()
        if self._reads_in == threading.get_ident():
            raise RuntimeError("A read would not see what is written within it.")
        with self._lock, self._our_errors():
            yield self._connection

    def vacuum(self) -> None:
        """Rewrite the file without its free pages."""
        with self.writing():
            self._when_free("VACUUM")

    @contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        """Lend a connection for queries, and for converting their rows to values.

        All of them see the same state, or what the transaction of this thread has written.

        Raises:
            StoreUnreadable: A row holds invalid data, which an error of `_INVALID` in the block
                indicates: the file was damaged or edited.

        """
        _refuse_screen()
        is_writing = self._writes_in == threading.get_ident()
        state = nullcontext(self._connection) if is_writing else self._snapshot()
        with self._our_errors(), state as connection:
            try:
                yield connection
            except _INVALID as error:
                raise self.damaged() from error

    @contextmanager
    def _snapshot(self) -> Iterator[sqlite3.Connection]:
        with self._reading:
            if self._reader is None:
                self._reader = self._connection if self.refusal else _connection(self.path)
            reader = self._reader
            if reader.in_transaction:
                yield reader
                return
            reader.execute("BEGIN")
            self._reads_in = threading.get_ident()
            try:
                yield reader
            finally:
                self._reads_in = None
                reader.commit()

    def _close_reader(self) -> None:
        with self._reading:
            if self._reader is not None:
                self._reader.close()
            self._reader = None

    def fetch_all(self, query: str, parameters: Parameters = ()) -> list[Any]:
        with self.read() as connection:
            return connection.execute(query, parameters).fetchall()

    def fetch_one(self, query: str, parameters: Parameters = ()) -> Any:  # noqa: ANN401  as SQLite gives it
        """Fetch the first row; None if there is none."""
        with self.read() as connection:
            return connection.execute(query, parameters).fetchone()

    def execute(self, statement: str, parameters: Sequence[object] = ()) -> None:
        """Run a statement in a new transaction or the open one."""
        with self.write() as connection:
            connection.execute(statement, parameters)

    def version(self) -> int:
        """Return a number that changes when another connection has written to the file."""
        with self.writing():  # what the reader sees, this process may have written
            return self._pragma("data_version")

    def damaged(self) -> errors.StoreUnreadable:
        """Return the error for a row that holds invalid data."""
        return damaged(self.path, has_written=self._has_written)

    def warning(self) -> str:
        """Return a warning if other users can read the file; otherwise an empty string."""
        return open_to_others(self.path, "the conversations")

    def close(self) -> None:
        """Close the file; the write-ahead log is merged into it.

        If another thread reads or writes for longer, its statement is interrupted and rolled back.
        """
        with self._alone():
            self._close_reader()
            for connection in (self._connection, *self._left):
                connection.close()
            self._reader = self._connection  # which refuses a late read
            self._forget_copy()

    def save_if_deleted(self) -> None:
        """Save the open database again if its file is gone: closing would lose it.

        Other threads are interrupted as in `close`. Raises StoreError if it cannot be saved.
        """
        with self._alone(), self._our_errors():
            if self.refusal is None and _place(self.path).database is None:
                self._keep_place()

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Wait until no other thread uses the database; what takes longer is interrupted."""
        waits_until = self._waits_until
        self.wait_at_most(0.0)
        with ExitStack() as held:
            for lock in (self._lock, self._reading):
                while not lock.acquire(timeout=_PATIENCE):
                    for connection in filter(None, (self._connection, self._reader)):
                        connection.interrupt()
                held.callback(lock.release)
            self._waits_until = waits_until
            yield

    def _forget_copy(self) -> None:
        if self._copy is not None:
            self._copy.cleanup()

    def _keep_place(self) -> None:
        """Ensure that the open database is the one at the path."""
        here, known = _place(self.path), self._place
        if known is None or here == known:
            return
        self._close_reader()
        if here.database is None:
            self._save_again(self.path, "deleted or moved", "saved there again")
        elif here.database != known.database or here.log not in (None, known.log):
            stem = self.path.stem
            names = (self.path.with_stem(f"{stem}-{number}") for number in count(2))
            beside = next(name for name in names if not name.exists())
            how = f"saved in {beside}, which is used from now on; the other file is unchanged"
            self._save_again(beside, "replaced by another file", how)
        else:  # the write-ahead log was deleted: merge it into the database, and open a new one
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            self._connection.close()
            self._opened(_connection(self.path), self._make_durable)
        self._place = _place(self.path)

    def _save_again(self, path: Path, what_happened: str, outcome: str) -> None:
        """Copy the open database to a new file, and use that from now on."""
        what = f"The database {self.path} was {what_happened} while it was open"
        try:
            if self._place is not None and _place(self.path).log == self._place.log:
                # left by the file that is gone; it would be taken for the new file's log
                for end in ("-wal", "-shm"):
                    _beside(self.path, end).unlink(missing_ok=True)
            _create(path, os.O_EXCL)
        except OSError as error:
            raise errors.StoreReadOnly(
                f"{what}, and cannot be saved again: {error.strerror or error}.",
                "Keep jitchat open, make the folder writable, and send again.",
            ) from error
        before, made = self._connection, _connection(path)
        try:
            before.backup(made)
            self._opened(made, self._make_durable)
        except BaseException:  # restore the old connection in any case, and re-raise
            self._connection = before
            made.close()
            path.unlink(missing_ok=True)
            raise
        self._left.append(before)
        self.path = path
        self.on_notice(f"{what}. Its contents are {outcome}.")

    @contextmanager
    def _our_errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise store_error(error, self.path, has_written=self._has_written) from error


class Records:
    """The base of classes that read and write tables."""

    def __init__(self, database: Database) -> None:
        self._database = database


def _refuse_screen() -> None:
    if not may_wait.get()():
        raise RuntimeError("The event loop that draws the screen cannot wait for the database.")


def _connect(path: Path) -> sqlite3.Connection:
    try:
        if not path.exists():
            _create(path)
        elif not S_ISREG(path.stat().st_mode):
            raise errors.StoreUnreadable(f"{path} is not a file.", ELSEWHERE)
    except OSError as error:
        raise errors.StoreReadOnly(
            f"The database {path} cannot be opened: {error.strerror or error}.",
            f"Check the folder's permissions. {ELSEWHERE}",
        ) from error
    return _connection(path)


def _connection(path: Path | str, *, uri: bool = False) -> sqlite3.Connection:
    connection = sqlite3.connect(
        path, timeout=WAIT_SECONDS, check_same_thread=False, isolation_level=None, uri=uri
    )
    connection.create_function("fold", 1, fold, deterministic=True)
    return connection


def _create(path: Path, flags: int = 0) -> None:
    """Create a file that only its owner can read."""
    make_private(path.parent)
    os.close(os.open(path, os.O_CREAT | os.O_WRONLY | flags, 0o600))


def _beside(path: Path, end: str) -> Path:
    return path.with_name(path.name + end)


class _Place(NamedTuple):
    """The files at a path, by device and inode; None for a file that does not exist."""

    database: tuple[int, int] | None
    log: tuple[int, int] | None
    shared: tuple[int, int] | None
    """The shared-memory index of the log."""


def _place(path: Path) -> _Place:
    return _Place(_inode(path), _inode(_beside(path, "-wal")), _inode(_beside(path, "-shm")))


def _inode(path: Path) -> tuple[int, int] | None:
    with suppress(OSError):
        found = path.stat()
        return found.st_dev, found.st_ino
    return None


def bounded(count: int) -> int:
    """Clamp a count to SQLite's integers: servers can report anything."""
    return max(0, min(count, 2**63 - 1))


def migration_names() -> list[str]:
    """List the migrations in the order in which they are applied."""
    return sorted(file.stem for file in _MIGRATIONS.glob("*.sql"))


def _renamed() -> dict[str, str]:
    """Map the names that migrations had in development versions to their names today."""
    lines = (_MIGRATIONS / "renamed.txt").read_text(encoding="utf-8").splitlines()
    return dict(line.split() for line in lines)


def _applied(connection: sqlite3.Connection) -> set[str]:
    query = f"SELECT name FROM {MIGRATION_TABLE} WHERE migration_set = ?"  # noqa: S608  a constant
    return {str(row[0]) for row in connection.execute(query, (MIGRATION_SET,))}


def migrate(
    connection: sqlite3.Connection,
    stop_before: str | None = None,
    before: Callable[[str], object] = lambda _: None,
) -> None:
    """Repair the schema and apply the missing migrations, within the open transaction.

    If the database is not a new one, `before` is called first, with the first migration's name.
    """
    # The import takes 200 ms, with numpy, and is needed once per database.
    from sqlite_utils import Database, Migrations  # noqa: PLC0415

    migrations = Migrations(MIGRATION_SET)
    for name in migration_names():
        migrations(name=name)(lambda database, name=name: _run_migrations(database.conn, [name]))
    database = Database(connection, recursive_triggers=False)
    migrations.ensure_migrations_table(database)
    connection.executemany(
        f"UPDATE OR REPLACE {MIGRATION_TABLE} SET name = :today WHERE name = :before",  # noqa: S608  a constant
        [{"before": before, "today": today} for before, today in _renamed().items()],
    )
    applied = _applied(connection)
    pending = [name for name in migration_names() if name not in applied]
    if applied and pending:
        before(pending[0])
    with closing(_connection(":memory:")) as intended:
        _run_migrations(intended, sorted(applied))
        repair(connection, intended)
    migrations.apply(database, stop_before=stop_before)


def _run_migrations(connection: sqlite3.Connection, names: Iterable[str]) -> None:
    """Run the statements of migrations, without recording that they were applied."""
    connection.create_function("compressed", 1, lambda text: zlib.compress(text.encode()))
    connection.create_function("expanded", 1, _expanded)
    connection.create_function("halved", 1, halved)
    connection.create_function("packed_window", 3, packed_window)
    connection.create_function("packed_piece", 2, packed_piece)
    connection.create_function("packed_texts", 5, packed_texts)
    for name in names:
        for statement in statements((_MIGRATIONS / f"{name}.sql").read_text(encoding="utf-8")):
            connection.execute(statement)


def _expanded(packed: bytes) -> str | None:
    """Undo `compressed`; return None for damaged data, which a migration leaves as it is."""
    with suppress(zlib.error):
        return zlib.decompress(packed).decode()
    return None


def statements(script: str) -> Iterator[str]:
    """Split a script at lines that end a statement: `executescript` would commit."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement.strip()
            statement = ""
