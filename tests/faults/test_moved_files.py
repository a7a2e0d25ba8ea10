"""A database that is deleted, replaced or read-only: nothing is lost, what is stored is read."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner, Result

from jitchat.cli import commands
from jitchat.errors import StoreError, StoreFull, StoreReadOnly
from jitchat.memory import Memory
from jitchat.store.database import Database, migration_names
from jitchat.store.store import ColdStore
from tests.store.test_schema import database_at
from tests.support import conversation_of, talk

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="an open file stays there")


@pytest.fixture
def notices(store: ColdStore) -> list[str]:
    heard: list[str] = []
    store.database.on_notice = heard.append
    return heard


@pytest.fixture
def memory(store: ColdStore) -> Memory:
    return Memory(store, conversation_of(store, talk("one", "two")))


def contents(path: Path) -> list[str]:
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        query = "SELECT content FROM turns ORDER BY position"
        return [row[0] for row in connection.execute(query)]


def delete(path: Path, *ends: str) -> None:
    for end in ends:
        Path(f"{path}{end}").unlink(missing_ok=True)


ALL = ("", "-wal", "-shm")


@pytest.mark.parametrize("gone", [ALL, ("",)], ids=["with its log", "alone"])
def test_a_deleted_database_is_saved_again_with_what_follows(memory, notices, gone):
    path = memory.store.database.path
    delete(path, *gone)
    memory.add_user_turn("three")
    assert len(notices) == 1
    assert "was deleted or moved while it was open" in notices[0]
    memory.add_user_turn("four")
    assert len(notices) == 1
    assert path.stat().st_mode & 0o777 == 0o600
    assert contents(path) == ["one", "two", "three", "four"]
    memory.store.database.close()
    assert contents(path) == ["one", "two", "three", "four"]


def test_a_database_that_was_moved_away_stays_as_it_is(memory, notices, tmp_path):
    path = memory.store.database.path
    path.rename(tmp_path / "kept.db")
    for end in ("-wal", "-shm"):
        Path(f"{path}{end}").rename(f"{tmp_path}/kept.db{end}")
    memory.add_user_turn("three")
    assert contents(path) == ["one", "two", "three"]
    assert contents(tmp_path / "kept.db") == ["one", "two"]


def test_another_database_in_its_place_is_left_alone(memory, notices, tmp_path):
    path = memory.store.database.path
    other = Database(tmp_path / "other.db")
    conversation_of(ColdStore(other), talk("theirs"))
    other.close()
    (tmp_path / "other.db").replace(path)
    memory.add_user_turn("three")
    kept = path.with_stem(f"{path.stem}-2")
    assert str(kept) in notices[0]
    memory.add_user_turn("four")
    memory.store.database.close()
    assert len(notices) == 1
    assert contents(path) == ["theirs"]
    assert contents(kept) == ["one", "two", "three", "four"]


@pytest.mark.parametrize("gone", [("-wal",), ("-shm",), ("-wal", "-shm")])
def test_a_deleted_log_costs_nothing(memory, notices, gone):
    path = memory.store.database.path
    delete(path, *gone)
    memory.add_user_turn("three")
    with closing(sqlite3.connect(path)) as another:
        assert another.execute("SELECT count(*) FROM turns").fetchone() == (3,)
    memory.store.database.close()
    assert contents(path) == ["one", "two", "three"]


def test_one_that_cannot_be_saved_again_refuses_and_is_saved_once_it_can(memory, notices):
    path = memory.store.database.path
    folder = path.parent
    moved = folder.rename(folder.with_name("moved"))
    folder.write_text("a file")
    with pytest.raises(StoreReadOnly, match="was deleted or moved while it was open, and cannot"):
        memory.add_user_turn("three")
    assert [turn.content for turn in memory.turns] == ["one", "two"]
    folder.unlink()
    memory.add_user_turn("three")
    assert contents(path) == ["one", "two", "three"]
    shutil.rmtree(moved)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "disk"
    folder.mkdir()
    made = ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(folder)]
    if os.name != "posix" or subprocess.run(made, check=False, capture_output=True).returncode:
        pytest.skip("may not mount a file system")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def make_full(folder: Path) -> None:
    with (folder / "filler").open("wb", buffering=0) as file:
        for size in (1 << 16, 1):
            try:
                while file.write(b"x" * size):
                    pass
            except OSError:
                continue


def make_read_only(folder: Path) -> None:
    subprocess.run(["mount", "-o", "remount,ro", str(folder)], check=True)


REFUSALS = pytest.mark.parametrize(
    ("refuse", "error"), [(make_full, StoreFull), (make_read_only, StoreReadOnly)]
)


@REFUSALS
@pytest.mark.parametrize("left", ["nothing", "a log"])
def test_what_is_stored_is_read_and_nothing_else_is_written(small_disk, refuse, error, left):
    path = small_disk / "cold.db"
    database = Database(path)
    identity = conversation_of(ColdStore(database), talk("one", "two")).id
    if left == "a log":  # as a crash leaves it
        for end in ALL:
            shutil.copy(f"{path}{end}", f"{path.parent}/crashed.db{end}")
        delete(path.parent / "crashed.db", "-shm")
    database.close()
    if left == "a log":
        path = path.with_name("crashed.db")
    refuse(small_disk)
    database = Database(path)
    store = ColdStore(database)
    assert [turn.content for turn in store.turns(identity)] == ["one", "two"]
    with pytest.raises(error):
        store.append(identity, talk("three"))
    database.close()


@REFUSALS
def test_an_older_schema_there_says_what_it_needs(small_disk, refuse, error):
    path = small_disk / "old.db"
    database_at(path, migration_names()[-2])
    refuse(small_disk)
    with pytest.raises(StoreError, match="written by an older jitchat") as refused:
        Database(path)
    assert "Copy it" in refused.value.remedy


@REFUSALS
def test_commands_that_read_still_do_and_one_that_writes_refuses(
    small_disk, monkeypatch, refuse, error
):
    monkeypatch.setenv("JITCHAT_EMBEDDER_NAME", "none")

    def jitchat(*words: str) -> Result:
        return CliRunner().invoke(commands, [*words, "--db", str(small_disk / "cold.db")])

    assert jitchat("send", "which port", "--conversation", "demo").exit_code == 0
    refuse(small_disk)
    for words in (["conversations"], ["window", "hello"], ["replay", "61"], ["why", "61"]):
        done = jitchat(*words)
        assert done.exit_code == 0, done.stderr
        assert done.stdout
    done = jitchat("send", "hello")
    assert done.exit_code == 1
    assert isinstance(done.exception, SystemExit)
    assert "cannot be written" in done.stderr
