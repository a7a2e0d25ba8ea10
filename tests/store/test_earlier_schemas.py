"""A database of any committed state of the migrations gets today's schema and keeps its rows."""

from __future__ import annotations

import hashlib
import sqlite3
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from jitchat.errors import StoreForeign
from jitchat.statements import DocumentLine, Section, Source
from jitchat.store import database as schema
from jitchat.store.database import Database
from jitchat.store.documents import DocumentStore
from jitchat.store.repair import uniform
from tests.store.earlier_schemas import (
    STATES,
    carried_on,
    could_go_on,
    make_database,
    run,
    steps_of,
)
from tests.store.rows import columns, fill, tables
from tests.support import ROOT, talk

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from jitchat.store.store import ColdStore

HASHES = ROOT / "tests" / "store" / "migrations.sha256"
"""As `sha256sum *.sql` prints them in the folder of the migrations."""
CACHES = ("index_entries", "index_segments", "turn_costs")
"""Tables that are filled again from the others, which migrations emptied."""
MOVED = {"imported_turns": ("model",)}
"""Columns that a migration moved to another table."""
COMPLETED = {"windows": ("sizes",)}
"""Columns in which a migration replaces NULL."""
ASKED_AGAIN = "tool_grants"
"""The table that a migration empties because the user has to decide again."""
LEARNT_ANEW = "token_samples"
"""The table that a migration empties because its rows do not say what was in the request."""
UNWRITTEN = {"18 019_distilled.1": ("documents", "facts"), "18 019_distilled.3": ("documents",)}
"""Tables that nothing could write in a state."""
LISTED_LINES = "18 019_distilled.2"
"""The state in which a memory document was a list of the ids of its lines."""


@pytest.fixture(scope="module")
def todays(tmp_path_factory: pytest.TempPathFactory) -> set[tuple[str, str, str]]:
    path = tmp_path_factory.mktemp("new") / "new.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("BEGIN")
        schema.migrate(connection)
        return definitions(connection)


def definitions(connection: sqlite3.Connection) -> set[tuple[str, str, str]]:
    query = "SELECT type, name, sql FROM sqlite_master WHERE sql NOT NULL"
    return {(kind, name, uniform(sql)) for kind, name, sql in connection.execute(query)}


def contents(connection: sqlite3.Connection) -> dict[str, list[Mapping[str, Any]]]:
    return {
        table: [
            dict(zip(columns(connection, table), row, strict=True))
            for row in connection.execute(f"SELECT * FROM {table}")
        ]
        for table in tables(connection)
    }


def require_kept(
    before: Mapping[str, list[Mapping[str, Any]]], after: Mapping[str, list[Mapping[str, Any]]]
) -> None:
    """Every row is there, with what both versions of its table have."""
    for table in before.keys() & after.keys():
        for row in before[table]:
            both = [name for name in row if not after[table] or name in after[table][0]]
            both = [name for name in both if name not in MOVED.get(table, ())]
            completed = [name for name in COMPLETED.get(table, ()) if row.get(name) is None]
            both = [name for name in both if name not in completed]
            left = [[each[name] for name in both] for each in after[table]]
            assert [row[name] for name in both] in left, table


CASES = [
    pytest.param(state, goes_on, id=f"{state.replace(' ', '+')}{' carried on' * goes_on}")
    for state in STATES
    for goes_on in (False, True)
    if not goes_on or ("." in state and could_go_on(state))
]


@pytest.mark.parametrize(("state", "goes_on"), CASES)
def test_a_database_of_every_committed_state_has_todays_schema_and_its_rows(
    tmp_path: Path, todays: set[tuple[str, str, str]], state: str, goes_on: bool
):
    path = tmp_path / "old.db"
    make_database(path, steps_of(state))
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("BEGIN")
        values = {"documents.lines": "[1]"} if state == LISTED_LINES else {}
        fill(connection, "kept", without=UNWRITTEN.get(state, ()), values=values)
        connection.execute("COMMIT")
        if goes_on:
            run(connection, carried_on(state))
        before = contents(connection)

    database = Database(path)
    with database.writing() as connection:
        assert definitions(connection) == todays
        after = contents(connection)
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
        assert connection.execute("PRAGMA foreign_keys").fetchone() == (1,)
        connection.execute("INSERT INTO turns_fts (turns_fts, rank) VALUES ('integrity-check', 1)")
    for table in (
        *CACHES,
        ASKED_AGAIN,
        LEARNT_ANEW,
        *(["documents"] if state == LISTED_LINES else []),
    ):
        before.pop(table, None)
    require_kept(before, after)
    database.close()


@pytest.mark.parametrize("goes_on", [False, True])
def test_a_memory_document_of_a_development_version_can_be_read_and_written(
    tmp_path: Path, clock: Any, goes_on: bool
):
    path = tmp_path / "old.db"
    make_database(path, steps_of(LISTED_LINES))
    lines = ["Kept.", "Replaced.", "Added."]
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.executemany(
            """INSERT INTO document_lines (line) VALUES ('{"in":"Facts","text":"' || ? || '"}')""",
            [(line,) for line in lines],
        )
        connection.executemany(
            "INSERT INTO documents (project, version, made_by, made_at, lines, through)"
            " VALUES (?, ?, 'built-in', '2026-03-13T10:00:00+00:00', ?, '{\"old\":2}')",
            [("default", 1, "[1,2]"), ("default", 2, "[3,1]"), ("other", 1, "[]")],
        )
        if goes_on:
            run(connection, carried_on(LISTED_LINES))

    database = Database(path)
    documents = DocumentStore(database, "default", clock)
    assert [line.text for line in documents.at(1).lines] == ["Kept.", "Replaced."]
    latest = documents.latest()
    assert [line.text for line in latest.lines] == ["Added.", "Kept."]
    assert latest.through == {"old": 2}
    assert [version.lines for version in documents.versions()] == [2, 2]
    assert DocumentStore(database, "other", clock).latest().lines == ()
    new = DocumentLine(Section.FACTS, "New.", Source(1, 2, "old"))
    documents.put(replace(latest, lines=(*latest.lines, new)), "you")
    again = DocumentStore(database, "default", clock).latest()
    assert [line.text for line in again.lines] == ["Added.", "Kept.", "New."]
    database.close()


def test_tables_that_jitchat_does_not_have_are_kept(tmp_path: Path):
    path = tmp_path / "old.db"
    make_database(path, steps_of("18 019_distilled.1"))
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE my_notes (note TEXT)")
        connection.execute("INSERT INTO my_notes VALUES ('mine')")
    database = Database(path)
    assert database.fetch_all("SELECT note FROM my_notes") == [("mine",)]
    database.close()


def test_no_committed_migration_was_edited_and_each_has_its_hash():
    listed = dict(reversed(line.split()) for line in HASHES.read_text("utf-8").splitlines())
    files = {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(schema._MIGRATIONS.glob("*.sql"))
    }
    assert [name for name in listed if files.get(name) != listed[name]] == [], (
        "a migration is never edited, renamed or deleted: append another one"
    )
    assert files.keys() - listed.keys() == set(), f"add the lines of `sha256sum` to {HASHES}"


@pytest.mark.parametrize(
    ("change", "cause"),
    [
        ("DROP TABLE turn_costs", "no such table: main.turn_costs"),
        ("ALTER TABLE turns RENAME COLUMN tools TO uses", "no column named tools"),
        ("ALTER TABLE conversations RENAME COLUMN head TO top", "no such column: "),
    ],
)
def test_the_error_for_a_foreign_schema_says_where_it_comes_from_and_what_to_do(
    store: ColdStore, change: str, cause: str
):
    store.database.execute("DROP TRIGGER costs_by_tools")
    made = store.create("Talk")
    store.database.execute(change)
    with pytest.raises(StoreForeign) as refused:
        use(store, made.id)
    told = refused.value
    assert "a development version, a newer one or another program wrote it" in told.what
    assert cause in told.what
    for way in ("jitchat backup FILE", "update jitchat", "jitchat export --all", "--db"):
        assert way in told.remedy
    assert "Try again" not in str(told)


def use(store: ColdStore, conversation: str) -> None:
    store.append(conversation, talk("Which port?"))
    store.database.execute("UPDATE turns SET status = 'cancelled'")
