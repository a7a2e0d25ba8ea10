"""Repairs the schema of a database that a development version of jitchat made.

Some migrations were edited or renamed after databases had been migrated with them. Before the
missing migrations are applied, each table, index and trigger gets the definition that the applied
ones have today, and rows are kept.
"""

import re
import sqlite3

_DEFINITIONS = """
    SELECT type, name, sql FROM sqlite_master m WHERE sql NOT NULL AND name NOT GLOB '_sqlite_*'
    AND NOT EXISTS (SELECT 1 FROM sqlite_master v WHERE v.sql LIKE 'CREATE VIRTUAL TABLE%'
        AND m.type = 'table' AND m.name GLOB v.name || '_*')
"""
"""Without the tables of sqlite-utils and those in which FTS5 stores an index."""
_AROUND_MARKS = re.compile(r"\s*([(),])\s*")


def repair(connection: sqlite3.Connection, intended: sqlite3.Connection) -> None:
    """Give every table, index and trigger of `intended` the definition that it has there.

    Rows keep the columns that both definitions have. What `intended` does not have is left as it
    is. Foreign keys must be off: a table that changes is dropped and created again.
    """
    wanted = _definitions(intended)
    present = _definitions(connection)
    for (kind, name), sql in wanted.items():
        if uniform(present.get((kind, name), sql)) == uniform(sql):
            continue
        if kind == "table":
            _rebuild(connection, intended, name, sql)
        else:
            connection.execute(f"DROP {kind} IF EXISTS {name}")
    present = _definitions(connection)
    for key, sql in wanted.items():
        if key not in present:
            connection.execute(sql)


def _definitions(connection: sqlite3.Connection) -> dict[tuple[str, str], str]:
    """Map the type and name of each table, index and trigger to its SQL."""
    return {(kind, name): sql for kind, name, sql in connection.execute(_DEFINITIONS)}


def uniform(sql: str) -> str:
    """Return SQL with the same whitespace, however it was written."""
    return _AROUND_MARKS.sub(r"\1", " ".join(sql.split()))


def _rebuild(
    connection: sqlite3.Connection, intended: sqlite3.Connection, table: str, sql: str
) -> None:
    """Create a table again; a required column that it did not have gets 0."""
    query = f"PRAGMA table_info({table})"
    before = {row[1] for row in connection.execute(query)}
    sources = {
        name: name if name in before else "0"
        for _, name, _, is_required, default, _ in intended.execute(query)
        if name in before or (is_required and default is None)
    }
    rows = connection.execute(f"SELECT {', '.join(sources.values())} FROM {table}").fetchall()  # noqa: S608  names in the schema
    connection.execute(f"DROP TABLE {table}")
    connection.execute(sql)
    columns = ", ".join(sources)
    marks = ", ".join("?" * len(sources))
    connection.executemany(f"INSERT INTO {table} ({columns}) VALUES ({marks})", rows)  # noqa: S608  names in the schema
