"""Read another program's SQLite database, even while the program writes, without changing it."""

import sqlite3
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from jitchat.errors import ImportFailed
from jitchat.text.sanitize import one_line

_WAIT_SECONDS = 10.0
_ERRORS = (sqlite3.Error, UnicodeDecodeError)
"""What reading can raise; UnicodeDecodeError if SQLite's message quotes bytes of the file."""


def open_read_only(path: Path) -> sqlite3.Connection:
    """Open a database in one consistent state; nothing can be written through the connection.

    Functions in the schema are not trusted, since it may be damaged or hostile.

    Raises:
        ImportFailed: The database cannot be opened.

    """
    address = f"{path.absolute().as_uri()}?mode=ro"
    try:
        return _opened(address)
    except _ERRORS as error:
        if path.with_name(f"{path.name}-wal").exists():
            raise failed(path, error) from error
    # if the folder is read-only and there is no log, the file itself is the whole database
    with foreign_errors(path):
        return _opened(f"{address}&immutable=1")


def _opened(address: str) -> sqlite3.Connection:
    connection = sqlite3.connect(
        address,
        uri=True,
        timeout=_WAIT_SECONDS,
        isolation_level=None,
        check_same_thread=False,  # an abandoned reader can be closed in any thread
    )
    try:
        for pragma in ("query_only = ON", "trusted_schema = OFF", "cell_size_check = ON"):
            connection.execute(f"PRAGMA {pragma}")
        connection.text_factory = lambda data: data.decode("utf-8", "surrogateescape")
        connection.execute("BEGIN")
        connection.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()
    except _ERRORS:
        with suppress(sqlite3.Error):
            connection.close()
        raise
    return connection


@contextmanager
def foreign_errors(path: Path) -> Iterator[None]:
    """Raise ImportFailed for errors of the other database, not those of the cold store."""
    try:
        yield
    except _ERRORS as error:
        raise failed(path, error) from error


def failed(path: Path, error: Exception) -> ImportFailed:
    return ImportFailed(
        f"The database {path} cannot be read: {one_line(str(error))}.",
        "Close the program that uses it, or copy it and import the copy.",
    )


def tables_of(connection: sqlite3.Connection) -> Mapping[str, frozenset[str]]:
    """Return the columns of each table; views are left out, since they can run any query."""
    columns = connection.execute(
        "SELECT t.name, c.name FROM sqlite_master t, pragma_table_info(t.name) c"
        " WHERE t.type = 'table' AND t.sql NOT LIKE 'CREATE VIRTUAL%'"
    )
    tables = defaultdict[str, set[str]](set)
    for table, column in columns:
        tables[str(table)].add(str(column))
    return {table: frozenset(names) for table, names in tables.items()}
