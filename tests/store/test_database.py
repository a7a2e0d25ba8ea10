"""The cold store's file: which files are opened or refused, and how it is written."""

from __future__ import annotations

import os
import sqlite3
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from jitchat.errors import (
    StoreBusy,
    StoreError,
    StoreFull,
    StoreReadOnly,
    StoreTooNew,
    StoreUnreadable,
)
from jitchat.store import database as database_module
from jitchat.store.database import Database
from jitchat.store.store import ColdStore
from tests.support import talk


def tables(path: Path) -> set[str]:
    connection = sqlite3.connect(path)
    try:
        return {row[0] for row in connection.execute("SELECT name FROM sqlite_master")}
    finally:
        connection.close()


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_new_database_and_one_opened_again_have_the_durable_settings(tmp_path):
    for _ in range(2):
        database = Database(tmp_path / "cold.db")
        with database.read() as connection:
            asked = ("journal_mode", "synchronous", "foreign_keys")
            found = [connection.execute(f"PRAGMA {name}").fetchone()[0] for name in asked]
        database.close()
        assert found == ["wal", 2, 1]


def test_an_empty_file_is_a_new_database(tmp_path):
    (tmp_path / "empty.db").touch()
    Database(tmp_path / "empty.db").close()
    assert "turns" in tables(tmp_path / "empty.db")


def test_opening_again_changes_nothing(tmp_path):
    Database(tmp_path / "cold.db").close()
    before = (tmp_path / "cold.db").read_bytes()
    Database(tmp_path / "cold.db").close()
    assert (tmp_path / "cold.db").read_bytes() == before


def test_missing_folders_are_created(tmp_path):
    Database(tmp_path / "a" / "b" / "cold.db").close()
    assert (tmp_path / "a" / "b" / "cold.db").is_file()


@pytest.mark.skipif(sys.platform == "win32", reason="needs FIFOs and devices")
def test_a_path_that_is_not_a_file_is_refused_and_unchanged(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "pipe", Path("/dev/null"), Path("/dev/zero")):
        with pytest.raises(StoreUnreadable, match="not a file"):
            Database(path)


def test_an_impossible_path_is_refused_with_an_error(tmp_path):
    (tmp_path / "file").write_text("hello")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    for path in (
        tmp_path / "file" / "cold.db",
        tmp_path / "file" / "x" / "y.db",
        tmp_path / "loop",
    ):
        with pytest.raises(StoreReadOnly, match="cannot be opened") as refused:
            Database(path)
        assert "--db" in refused.value.remedy


def test_a_file_that_is_not_a_database_is_refused_and_unchanged(tmp_path):
    (tmp_path / "notes.txt").write_text("my notes " * 1_000)
    with pytest.raises(StoreUnreadable, match="not a database"):
        Database(tmp_path / "notes.txt")
    assert (tmp_path / "notes.txt").read_text() == "my notes " * 1_000
    assert files(tmp_path) == ["notes.txt"]


def test_another_programs_database_is_refused_and_unchanged(tmp_path):
    path = tmp_path / "other.db"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE theirs (x)")
    connection.close()
    before = path.read_bytes()
    with pytest.raises(StoreUnreadable, match="another program"):
        Database(path)
    assert path.read_bytes() == before
    assert files(tmp_path) == ["other.db"]


def test_a_newer_schema_is_refused_and_unchanged(tmp_path):
    path = tmp_path / "newer.db"
    Database(path).close()
    connection = sqlite3.connect(path)
    with connection:
        connection.execute(
            "INSERT INTO _sqlite_migrations (migration_set, name, applied_at)"
            " VALUES ('jitchat', '900_what_is_\x1b[2Jto_come', '2030-01-01')"
        )
    connection.close()
    before = path.read_bytes()
    with pytest.raises(StoreTooNew, match="newer jitchat") as refused:
        Database(path)
    assert "\x1b" not in str(refused.value)
    assert path.read_bytes() == before
    assert files(tmp_path) == ["newer.db"]


def fail_after_writing(database: Database, *, nested: bool) -> None:
    with database.write() as connection:
        connection.execute("INSERT INTO blobs VALUES ('a', 'b')")
        if nested:
            with database.write() as inner:
                inner.execute("INSERT INTO blobs VALUES ('c', 'd')")
            assert connection.in_transaction
        raise ZeroDivisionError


@pytest.mark.parametrize("nested", [False, True])
def test_a_transaction_is_all_or_nothing_and_so_is_one_within_it(database, nested):
    with pytest.raises(ZeroDivisionError):
        fail_after_writing(database, nested=nested)
    with database.write() as connection:
        assert connection.execute("SELECT count(*) FROM blobs").fetchone() == (0,)


def test_threads_take_turns_at_one_connection(database):
    def nested(number: int) -> None:
        with database.write() as connection:
            connection.execute("INSERT INTO blobs VALUES (?, '')", (f"a{number}",))
            with database.write() as inner:
                inner.execute("INSERT INTO blobs VALUES (?, '')", (f"b{number}",))
            with database.read() as reader:
                found = reader.execute("SELECT count(*) FROM blobs").fetchone()[0]
            assert found % 2 == 0

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(nested, range(200)))
    with database.read() as connection:
        assert connection.execute("SELECT count(*) FROM blobs").fetchone() == (400,)


def test_many_threads_may_open_a_new_database_at_once(tmp_path):
    gate = threading.Barrier(8)

    def opened(_: int) -> None:
        gate.wait()
        Database(tmp_path / "cold.db").close()

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(opened, range(8)))
    assert "turns" in tables(tmp_path / "cold.db")


def test_a_database_held_by_another_is_busy(database, monkeypatch):
    monkeypatch.setattr(database_module, "WAIT_SECONDS", 0.0)
    other = Database(database.path)
    with database.write(), pytest.raises(StoreBusy, match="another program"), other.write():
        pass
    with other.write() as connection:
        connection.execute("INSERT INTO blobs VALUES ('a', 'b')")
    other.close()


def test_a_write_that_waits_for_another_program_says_so(database, monkeypatch):
    monkeypatch.setattr(database_module, "_SAID_AFTER", 0.0)
    heard = list[str]()
    with closing(sqlite3.connect(database.path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")

        def hear(sentence: str) -> None:
            heard.append(sentence)
            other.execute("ROLLBACK")

        database.on_wait = hear
        for _ in range(2):
            with database.write():
                """The first one waits."""
    told = f"The database {database.path} is locked by another program: waiting for at most 30 s."
    assert heard == [told]


def test_a_full_disk_keeps_the_earlier_turns_readable(store):
    made = store.create("Talk")
    store.append(made.id, talk("one", "two"))
    with store.database.read() as connection:
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(StoreFull, match="full"):
        store.append(made.id, talk("x" * 1_000_000))
    assert [turn.content for turn in store.turns(made.id)] == ["one", "two"]
    with store.database.read() as connection:
        connection.execute("PRAGMA max_page_count = 1000000")
    assert store.append(made.id, talk("three"))[0].position == 3


def test_a_read_only_database_can_be_read_and_says_so_when_written(tmp_path, monkeypatch):
    path = tmp_path / "cold.db"
    store = ColdStore(Database(path))
    made = store.create("Talk")
    store.append(made.id, talk("one"))
    monkeypatch.setattr(
        database_module,
        "_connect",
        lambda path: sqlite3.connect(
            f"file:{path}?mode=ro", uri=True, isolation_level=None, check_same_thread=False
        ),
    )
    readers = ColdStore(Database(path))
    assert [turn.content for turn in readers.turns(made.id)] == ["one"]
    for attempt in (
        lambda: readers.create("x"),
        lambda: readers.append(made.id, talk("x")),
        lambda: readers.rename(made.id, "x"),
    ):
        with pytest.raises(StoreReadOnly, match="read-only"):
            attempt()
    readers.database.close()
    store.database.close()


def test_a_read_only_file_that_needs_a_schema_is_refused(tmp_path, monkeypatch):
    (tmp_path / "cold.db").touch()
    monkeypatch.setattr(
        database_module,
        "_connect",
        lambda path: sqlite3.connect(f"file:{path}?mode=ro", uri=True, isolation_level=None),
    )
    with pytest.raises(StoreReadOnly):
        Database(tmp_path / "cold.db")


def test_a_closed_database_fails_with_an_error_message(database):
    database.close()
    with pytest.raises(StoreError, match="closed database"), database.read() as connection:
        connection.execute("SELECT 1")


def test_text_that_is_not_utf8_is_reported_as_damage(store):
    made = store.create("Talk")
    turn = store.append(made.id, talk("one"))[0]
    with store.database.write() as connection:
        connection.execute(
            "UPDATE turns SET content = CAST(x'ff61' AS TEXT) WHERE id = ?", (turn.id,)
        )
    with pytest.raises(StoreUnreadable, match="damaged"):
        store.turns(made.id)


@pytest.mark.parametrize(
    ("column", "value"),
    [("role", "bot"), ("status", "odd"), ("created_at", "no day"), ("created_at", 7)],
)
def test_an_invalid_row_is_reported_as_damage(store, column, value):
    made = store.create("Talk")
    store.append(made.id, talk("one"))
    with store.database.write() as connection:
        connection.execute(f"UPDATE turns SET {column} = ?", (value,))
    with pytest.raises(StoreUnreadable, match="damaged"):
        store.turns(made.id)


def test_closing_interrupts_reads_in_other_threads(tmp_path):
    database, began = Database(tmp_path / "cold.db"), threading.Event()
    endless = "WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"

    def read() -> None:
        with database.read() as connection:
            began.set()
            connection.execute(endless).fetchall()

    with ThreadPoolExecutor(1) as threads:
        reading = threads.submit(read)
        began.wait()
        database.close()
        with pytest.raises(StoreError):
            reading.result(timeout=10)
