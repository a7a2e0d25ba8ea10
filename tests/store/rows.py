"""A row in every table of a database, of whatever version."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Collection, Iterator, Mapping

MOMENT = "2026-03-13T10:00:00+00:00"
VALUES = {"role": "user", "status": "complete", "process": os.getpid(), "segments": "[]"}
"""What columns have that cannot have any value."""
_TABLES = """
    SELECT name, sql FROM sqlite_master m WHERE type = 'table' AND name NOT GLOB '*sqlite_*'
    AND NOT EXISTS (SELECT 1 FROM sqlite_master v
        WHERE v.sql LIKE 'CREATE VIRTUAL TABLE%' AND m.name GLOB v.name || '*') ORDER BY rowid
"""


class Reference(NamedTuple):
    """A foreign key of one column."""

    column: str
    table: str
    key: str
    on_delete: str


def tables(connection: sqlite3.Connection) -> dict[str, str]:
    """The SQL of each table, by name, without those of FTS5 and SQLite."""
    return dict(connection.execute(_TABLES))


def columns(connection: sqlite3.Connection, table: str) -> list[str]:
    return [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]


def references(connection: sqlite3.Connection, table: str) -> list[Reference]:
    rows = connection.execute(f"PRAGMA foreign_key_list({table})")
    return [Reference(row[3], row[2], row[4], row[6]) for row in rows]


def fill(
    connection: sqlite3.Connection,
    text: str,
    *,
    without: Collection[str] = (),
    values: Mapping[str, object] = {},
) -> dict[str, dict[str, Any]]:
    """Insert a row into each table, all of one conversation; return the rows by table.

    A column of text or bytes has `text` in it; `values` are by column, or by `table.column`.
    """
    rows: dict[str, dict[str, Any]] = {}
    connection.execute("PRAGMA defer_foreign_keys = ON")
    for table, sql in _parents_first(connection, without):
        row = _row(connection, table, sql, text, rows)
        row |= {
            name: value
            for key, value in (VALUES | dict(values)).items()
            if (name := key.removeprefix(f"{table}.")) in row
        }
        names, marks = ", ".join(row), ", ".join("?" * len(row))
        made = connection.execute(  # triggers have made some rows
            f"INSERT OR REPLACE INTO {table} ({names}) VALUES ({marks})", list(row.values())
        )
        rows[table] = row | ({"id": made.lastrowid} if row.get("id", 0) is None else {})
    return rows


def _parents_first(
    connection: sqlite3.Connection, without: Collection[str]
) -> Iterator[tuple[str, str]]:
    left = {name: sql for name, sql in tables(connection).items() if name not in without}
    while left:
        for table in list(left):
            parents = {reference.table for reference in references(connection, table)} - {table}
            if not parents & set(left):
                yield table, left.pop(table)


def _row(
    connection: sqlite3.Connection,
    table: str,
    sql: str,
    text: str,
    rows: Mapping[str, Mapping[str, Any]],
) -> dict[str, Any]:
    referring = {reference.column: reference for reference in references(connection, table)}
    allowed = dict(re.findall(r"CHECK \((\w+) IN \('(\w+)'", sql))
    row: dict[str, Any] = {}
    for _, name, kind, _, _, in_key in connection.execute(f"PRAGMA table_info({table})"):
        content = f"{text} in {table}.{name}"
        if name in referring:
            parent = rows.get(referring[name].table)
            row[name] = parent[referring[name].key] if parent else None
        elif name in allowed:
            row[name] = allowed[name]
        elif kind == "INTEGER" and in_key and "PRIMARY KEY (" not in sql:
            row[name] = None  # SQLite numbers the rows
        elif kind in ("INTEGER", "REAL"):
            row[name] = 0
        elif name.endswith(("_at", "_on")):
            row[name] = MOMENT
        else:
            row[name] = content.encode() if kind == "BLOB" else content
    return row
