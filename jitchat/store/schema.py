"""The schema of the cold store, as numbered migrations. It only grows: append, never edit."""

import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

MIGRATION_SET = "jitchat"
MIGRATION_TABLE = "_sqlite_migrations"
"""Where sqlite-utils notes which migrations were applied."""
_FOLDER = Path(__file__).with_name("migrations")


def migration_names() -> list[str]:
    """List the names of all migrations, in the order in which they are applied."""
    return sorted(file.stem for file in _FOLDER.glob("*.sql"))


def migrate(connection: sqlite3.Connection, stop_before: str | None = None) -> None:
    """Apply what is missing, inside the transaction that is open."""
    # 200 ms with the numpy that it brings, and needed once a database.
    from sqlite_utils import Database, Migrations  # noqa: PLC0415

    def running(name: str) -> Callable[[Database], None]:
        def run(database: Database) -> None:
            for statement in statements((_FOLDER / f"{name}.sql").read_text(encoding="utf-8")):
                database.execute(statement)

        return run

    migrations = Migrations(MIGRATION_SET)
    for name in migration_names():
        migrations(name=name)(running(name))
    migrations.apply(Database(connection, recursive_triggers=False), stop_before=stop_before)


def statements(script: str) -> Iterator[str]:
    """Cut a script where a line ends a statement: `executescript` would end the transaction."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement.strip()
            statement = ""
