"""Copies of the database: the one kept before a migration, and backups."""

from __future__ import annotations

import logging
import os
import shutil
import sqlite3
import stat
import sys
from contextlib import closing
from typing import TYPE_CHECKING, NamedTuple

import pytest

from jitchat.errors import StoreError
from jitchat.store import copies
from jitchat.store.copies import upgrade_copies
from jitchat.store.database import Database, migration_names
from jitchat.store.deletion import delete_conversation, erase
from jitchat.store.store import ColdStore
from tests.store.test_schema import database_at
from tests.support import talk

if TYPE_CHECKING:
    from pathlib import Path

NAMES = migration_names()
SECRET = "heliotrope"


class Disk(NamedTuple):
    total: int
    used: int
    free: int


_STORED_TABLES = """
    SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL TABLE%'
"""


def applied(path: Path) -> list[str]:
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        return [row[0] for row in connection.execute("SELECT name FROM _sqlite_migrations")]


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def contents(path: Path) -> list[str]:
    with closing(sqlite3.connect(path)) as connection:
        return rows_of(connection)


def rows_of(connection: sqlite3.Connection) -> list[str]:
    """The definitions and rows of all tables; FTS5 reads its own from theirs."""
    names = [name for (name,) in connection.execute(_STORED_TABLES)]
    rows = {name: connection.execute(f"SELECT * FROM {name}").fetchall() for name in names}
    schema = connection.execute("SELECT sql FROM sqlite_master").fetchall()
    return sorted([repr(item) for item in (*rows.items(), *schema)])


def test_before_a_migration_a_private_copy_is_kept_of_the_latest_version_alone(tmp_path: Path):
    path = tmp_path / "cold.db"
    database_at(path, NAMES[20])
    before = contents(path)
    (tmp_path / "cold.db.before-007").write_bytes(b"an earlier copy")
    (tmp_path / "cold.db.before-021.jitchat-part").write_bytes(b"left by a process that was killed")
    (tmp_path / "other.db.before-007").write_bytes(b"of another database")

    Database(path).close()

    (copy,) = upgrade_copies(path)
    assert (copy.name, applied(copy), applied(path)) == ("cold.db.before-021", NAMES[:20], NAMES)
    assert contents(copy) == before
    assert (tmp_path / "other.db.before-007").exists()
    if sys.platform != "win32":
        assert mode(copy) == 0o600
    Database(path).close()
    assert upgrade_copies(path) == [copy]


def test_a_new_database_is_not_copied(tmp_path: Path):
    Database(tmp_path / "new.db").close()
    assert [path.name for path in tmp_path.iterdir()] == ["new.db"]


def no_room(patch: pytest.MonkeyPatch, path: Path) -> None:
    size = path.stat().st_size
    patch.setattr(shutil, "disk_usage", lambda _: Disk(9 * size, 8 * size, 2 * size - 1))


def open_temporary(patch: pytest.MonkeyPatch, path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE conversations SET temporary = 1")


def refuse_writes(patch: pytest.MonkeyPatch, path: Path) -> None:
    def fail(*_: object) -> None:
        raise OSError(28, os.strerror(28))

    patch.setattr(copies.os, "fsync", fail)


@pytest.mark.parametrize(
    ("refuse", "why"),
    [
        (no_room, "MB are free"),
        (open_temporary, "temporary conversation"),
        (refuse_writes, "No space left"),
    ],
)
def test_a_database_that_cannot_be_copied_is_migrated_and_the_log_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, refuse, why
):
    path = tmp_path / "cold.db"
    database_at(path, NAMES[-1])
    refuse(monkeypatch, path)
    with caplog.at_level(logging.INFO, "jitchat"):
        Database(path).close()
    assert applied(path) == NAMES
    assert [file.name for file in tmp_path.iterdir()] == ["cold.db"]
    (line,) = caplog.messages
    assert why in line
    assert str(path) in line


def test_a_backup_has_everything_and_can_be_used_as_a_database(store: ColdStore, tmp_path: Path):
    made = store.create("Talk")
    store.append(made.id, talk("Which port?", SECRET))
    target = tmp_path / "backup.db"

    size = store.database.back_up(target)

    assert size == target.stat().st_size
    if sys.platform != "win32":
        assert mode(target) == 0o600
    assert [path.name for path in tmp_path.glob("backup*")] == ["backup.db"]
    with store.database.read() as connection:
        assert contents(target) == rows_of(connection)
    copy = Database(target)
    assert [turn.content for turn in ColdStore(copy).turns(made.id)] == ["Which port?", SECRET]
    copy.close()


def test_a_backup_never_overwrites_and_creates_no_folder(store: ColdStore, tmp_path: Path):
    (tmp_path / "mine.db").write_bytes(b"mine")
    for target in (tmp_path / "mine.db", store.database.path, tmp_path, tmp_path / "no" / "a.db"):
        with pytest.raises(StoreError, match="No backup was written to") as refused:
            store.database.back_up(target)
        assert "Name a new file" in refused.value.remedy
    assert (tmp_path / "mine.db").read_bytes() == b"mine"
    assert not (tmp_path / "no").exists()


def test_a_backup_has_its_name_only_when_it_is_complete_and_on_the_disk(
    store: ColdStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    target, seen = tmp_path / "backup.db", []

    def watched(handle: int) -> None:
        seen.append([path.name for path in tmp_path.glob("backup*")])
        assert applied(target.with_name("backup.db.jitchat-part")) == NAMES

    monkeypatch.setattr(copies.os, "fsync", watched)
    store.database.back_up(target)
    assert seen == [["backup.db.jitchat-part"]]
    assert [path.name for path in tmp_path.glob("backup*")] == ["backup.db"]


def test_a_backup_that_fails_leaves_no_file(
    store: ColdStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    refuse_writes(monkeypatch, tmp_path)
    with pytest.raises(StoreError, match="No space left"):
        store.database.back_up(tmp_path / "backup.db")
    assert list(tmp_path.glob("backup*")) == []


def test_an_erasure_deletes_the_copies_from_before_a_migration_but_no_backup(tmp_path: Path):
    path = tmp_path / "cold.db"
    database_at(path, NAMES[-1])
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE turns SET content = ?", (SECRET,))
    store = ColdStore(Database(path))
    (copy,) = upgrade_copies(path)
    copy.with_name(f"{copy.name}.jitchat-part").write_bytes(SECRET.encode())
    other = store.create("Another")
    delete_conversation(store, other.id)
    assert copy.exists()
    backup = tmp_path / "backup.db"
    store.database.back_up(backup)

    assert erase(store, "old")

    assert upgrade_copies(path) == []
    left = [file.name for file in tmp_path.iterdir() if SECRET.encode() in file.read_bytes()]
    assert left == ["backup.db"]
    store.database.close()
