"""Another program's SQLite database, perhaps while that is writing to it: read, never changed."""

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from jitchat.errors import ImportFailed
from jitchat.text.sanitize import one_line

_WAIT_SECONDS = 10.0
_ERRORS = (sqlite3.Error, UnicodeDecodeError)
"""What reading can raise: the second where SQLite quotes bytes of the file in what it says."""


def open_read_only(path: Path) -> sqlite3.Connection:
    """Open a database as it is at one moment; nothing can be written through the connection.

    Functions that a damaged or hostile schema names are not trusted.

    Raises:
        ImportFailed: It cannot be opened.

    """
    address = path.absolute().as_uri()
    # where the folder takes no file and there is no log, the file itself is all there is
    kinds = ["mode=ro"]
    if not path.with_name(f"{path.name}-wal").exists():
        kinds.append("mode=ro&immutable=1")
    failure: Exception | None = None
    for kind in kinds:
        connection: sqlite3.Connection | None = None
        try:
            connection = sqlite3.connect(
                f"{address}?{kind}",
                uri=True,
                timeout=_WAIT_SECONDS,
                isolation_level=None,
                check_same_thread=False,  # what is given up is closed in whichever thread
            )
            for pragma in ("query_only = ON", "trusted_schema = OFF", "cell_size_check = ON"):
                connection.execute(f"PRAGMA {pragma}")
            connection.text_factory = lambda data: data.decode("utf-8", "surrogateescape")
            connection.execute("BEGIN")
            connection.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()
        except _ERRORS as error:
            failure = error
            if connection is not None:
                with suppress(sqlite3.Error):
                    connection.close()
        else:
            return connection
    raise failed(path, failure or sqlite3.Error("unknown")) from failure


@contextmanager
def foreign_errors(path: Path) -> Iterator[None]:
    """Tell of an error of that database, which is none of the cold store's."""
    try:
        yield
    except _ERRORS as error:
        raise failed(path, error) from error


def failed(path: Path, error: Exception) -> ImportFailed:
    return ImportFailed(
        f"The database {path} cannot be read: {one_line(str(error))}.",
        "Close the program that it belongs to, or make a copy, and import that.",
    )


def tables_of(connection: sqlite3.Connection) -> Mapping[str, frozenset[str]]:
    """Name the columns of each table; views are none, for what they run is anybody's."""
    names = connection.execute(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'"
    ).fetchall()
    return {
        str(name): frozenset(
            str(column)
            for (column,) in connection.execute("SELECT name FROM pragma_table_info(?)", (name,))
        )
        for (name,) in names
    }
