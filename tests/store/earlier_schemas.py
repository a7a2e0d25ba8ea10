"""Databases as each committed state of the migrations left them.

Until migration 028, some were edited or renamed after they were committed. Each line of
`earlier/states.txt` is a state: how many of today's migrations were applied, then further ones by
name. Those that were different then are files in `earlier`; a number after the name tells apart the
versions of one migration.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from sqlite_utils import Database as SqliteUtilsDatabase
from sqlite_utils import Migrations

from jitchat.store import database as schema
from jitchat.store.database import MIGRATION_SET, MIGRATION_TABLE, migration_names, statements

if TYPE_CHECKING:
    from collections.abc import Iterable

FOLDER = Path(__file__).with_name("earlier")
STATES = FOLDER.joinpath("states.txt").read_text("utf-8").splitlines()
NAMES = migration_names()
BEFORE_THE_REPAIR = NAMES[: NAMES.index("029_repair")]


def steps_of(state: str) -> list[tuple[str, str]]:
    """The (name, SQL) of each migration that a state has applied, in order."""
    count, *further = state.split()
    return [(name, script(name)) for name in [*NAMES[: int(count)], *further]]


def script(name: str) -> str:
    """The SQL of a migration of today, or of an earlier version of one."""
    today = schema._MIGRATIONS / f"{name}.sql"
    earlier = FOLDER / f"{name}.sql"
    return (earlier if earlier.exists() else today).read_text("utf-8")


def make_database(path: Path, steps: Iterable[tuple[str, str]]) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        Migrations(MIGRATION_SET).ensure_migrations_table(SqliteUtilsDatabase(connection))
        run(connection, steps)


def run(connection: sqlite3.Connection, steps: Iterable[tuple[str, str]]) -> None:
    for name, sql in steps:
        for statement in statements(sql):
            connection.execute(statement)
        connection.execute(
            f"INSERT INTO {MIGRATION_TABLE} (migration_set, name, applied_at) VALUES (?, ?, '')",
            (MIGRATION_SET, name.partition(".")[0]),
        )


def carried_on(state: str) -> list[tuple[str, str]]:
    """The migrations that followed a state, as they are today, up to the repair."""
    applied = {name.partition(".")[0] for name, _ in steps_of(state)}
    return [(name, script(name)) for name in BEFORE_THE_REPAIR if name not in applied]


def could_go_on(state: str) -> bool:
    """Whether later versions opened a database of this state, and applied what was missing.

    They refused migrations that they did not know; of 002, the first version had columns that 004
    added again.
    """
    names = [name.partition(".")[0] for name, _ in steps_of(state)]
    return set(names) <= set(NAMES) and "002_hot_index.1" not in state
