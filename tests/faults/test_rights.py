"""Nobody else on the machine can read the turns."""

from __future__ import annotations

import os
import stat
import sys

import pytest

from jitchat.crash import write_crash
from jitchat.settings.keys import KeysFile
from jitchat.settings.sections import Secret
from jitchat.store.database import Database
from jitchat.store.store import ColdStore
from tests.support import talk

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs permission bits")


def mode(path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def generous():
    before = os.umask(0)
    yield
    os.umask(before)


@pytest.mark.parametrize("through_a_link", [False, True])
def test_the_database_its_log_and_its_folder_are_the_owners_alone(
    tmp_path, generous, through_a_link
):
    path = real = tmp_path / "data" / "cold.db"
    if through_a_link:
        real.parent.mkdir(mode=0o700)
        path = tmp_path / "link.db"
        path.symlink_to(real)
    database = Database(path)
    ColdStore(database).append(ColdStore(database).create("T").id, talk("secret"))
    found = sorted(each.name for each in real.parent.iterdir())
    assert found == ["cold.db", "cold.db-shm", "cold.db-wal"]
    assert {mode(each) for each in real.parent.iterdir()} == {0o600}
    assert mode(real.parent) == 0o700
    database.close()


@pytest.mark.parametrize(
    "make",
    [
        lambda folder: Database(folder / "cold.db").close(),
        lambda folder: KeysFile(folder / "keys.toml").put("groq", Secret("x" * 20)),
        lambda folder: write_crash(folder / "crash.txt", "report"),
    ],
)
def test_folders_that_were_missing_above_are_the_owners_alone_too(tmp_path, generous, make):
    make(tmp_path / "one" / "two" / "three")
    folders = [tmp_path / "one", tmp_path / "one" / "two", tmp_path / "one" / "two" / "three"]
    assert [mode(each) for each in folders] == [0o700, 0o700, 0o700]


def test_a_folder_that_was_there_keeps_its_rights(tmp_path, generous):
    (tmp_path / "mine").mkdir(mode=0o755)
    Database(tmp_path / "mine" / "cold.db").close()
    assert mode(tmp_path / "mine") == 0o755
    assert mode(tmp_path / "mine" / "cold.db") == 0o600
