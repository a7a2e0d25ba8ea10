"""Malicious and damaged sources: zips, folders, databases, exports of every program."""

from __future__ import annotations

import json
import os
import random
import sqlite3
import zipfile
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from jitchat.errors import ImportFailed
from jitchat.store.path import Path as TreePath
from jitchat.store.store import LONGEST_TITLE
from jitchat.transfer import source as source_module
from jitchat.transfer.formats import conversations_of
from jitchat.transfer.source import open_source
from tests.transfer import exports
from tests.transfer.claude_code import SESSION
from tests.transfer.exports import chatgpt, chatgpt_node, chatgpt_talk
from tests.transfer.files import take, written
from tests.transfer.test_hostile_files import mutated, read_or_refused
from tests.transfer.test_programs import ALL

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from jitchat.store.store import ColdStore
    from jitchat.transfer.import_run import Taken


def zipped(path: Path, **members: str | bytes) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(f"{name}.json", content)
    return path


def refusal(path: Path) -> str:
    found, told = read_or_refused(path)
    assert not found
    return told


def test_a_zip_bomb_is_not_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(source_module, "_SMALL", 1_000)
    bomb = "[" + " " * 5_000_000 + "]"
    path = zipped(tmp_path / "bomb.zip", bomb=bomb, talk=json.dumps([chatgpt_talk()]))

    source = open_source(path)

    assert len(list(conversations_of(source))) == 1
    assert dict(source.tally.skipped) == {
        "file in the zip that is compressed more than 250-fold": 1
    }


def test_a_zip_in_a_zip_is_not_opened(tmp_path: Path):
    inner = zipped(tmp_path / "inner.zip", talk=json.dumps([chatgpt_talk()])).read_bytes()
    path = tmp_path / "outer.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("inner.zip", inner)

    assert list(conversations_of(open_source(path))) == []


def test_names_in_a_zip_are_never_used_as_paths(tmp_path: Path, store: ColdStore):
    path = tmp_path / "export.zip"
    names = ("../../evil.json", "/etc/evil.json", "a\x1b[2J/evil.json", "x" * 5_000 + ".json")
    with zipfile.ZipFile(path, "w") as archive:
        for number, name in enumerate(names):
            archive.writestr(name, json.dumps([chatgpt_talk(conversation_id=f"{number}")]))

    assert len(take(store, path)) == 4
    assert {each.name.partition("-")[0] for each in tmp_path.iterdir()} == {"cold.db", "export.zip"}


@pytest.mark.parametrize("seed", range(12))
def test_a_damaged_zip_is_reported(tmp_path: Path, seed: int):
    talks = [chatgpt_talk(conversation_id=f"{n}") for n in range(40)]
    path = zipped(tmp_path / "export.zip", talks=json.dumps(talks))
    luck, data = random.Random(seed), bytearray(path.read_bytes())
    for _ in range(4):
        data[luck.randrange(4, len(data))] ^= 1 << luck.randrange(8)
    path.write_bytes(data if luck.randrange(2) else data[: luck.randrange(4, len(data))])

    found, told = read_or_refused(path)

    assert told.count(str(path)) or len(found) <= 40


def test_encrypted_files_in_a_zip_are_counted(tmp_path: Path):
    path = zipped(tmp_path / "export.zip", talks=json.dumps([chatgpt_talk()]))
    data = bytearray(path.read_bytes())
    at = data.index(b"PK\x01\x02")
    data[at + 8] |= 1
    path.write_bytes(data)

    assert dict(open_source(path).tally.skipped) == {"file in the zip that is encrypted": 1}


def test_a_symbolic_link_in_a_folder_is_not_followed(tmp_path: Path, store: ColdStore):
    outside, folder = tmp_path / "outside", tmp_path / "folder"
    outside.mkdir()
    folder.mkdir()
    secret = written(outside, "secret.json", [chatgpt_talk()])
    (folder / "link.json").symlink_to(secret)
    (folder / "linked").symlink_to(outside)
    (folder / "round").symlink_to(folder)
    written(folder, "own.json", [chatgpt_talk()])
    os.mkfifo(folder / "pipe.json")
    source = open_source(folder)

    assert [file.name for file in source.files] == ["own.json"]
    assert dict(source.tally.skipped) == {"symbolic link": 1}


def test_a_file_that_cannot_be_read_in_a_folder_is_counted(tmp_path: Path):
    if os.geteuid() == 0:
        pytest.skip("root reads everything")
    written(tmp_path, "a.json", [chatgpt_talk()])
    written(tmp_path, "b.json", [chatgpt_talk()]).chmod(0)
    source = open_source(tmp_path)

    assert len(list(conversations_of(source))) == 1
    assert dict(source.tally.skipped) == {"file that cannot be read": 1}


def test_a_database_being_written_is_read_in_its_committed_state(tmp_path: Path, store: ColdStore):
    path = exports.opencode(tmp_path / "opencode.db")
    with closing(sqlite3.connect(path, isolation_level=None)) as owner:
        owner.execute("PRAGMA journal_mode = WAL")
        owner.execute("UPDATE session SET title = 'In the log' WHERE id = 'ses_1'")
        owner.execute("BEGIN IMMEDIATE")
        owner.execute("UPDATE session SET title = 'Not committed' WHERE id = 'ses_1'")
        before = {
            name: (tmp_path / name).read_bytes() for name in ("opencode.db", "opencode.db-wal")
        }

        (taken,) = take(store, path)

        assert taken.title == "In the log"
        assert before == {name: (tmp_path / name).read_bytes() for name in before}
        owner.execute("COMMIT")


def test_nothing_can_be_written_through_the_connection(tmp_path: Path):
    path = exports.opencode(tmp_path / "opencode.db")
    with closing(source_connection(path)) as connection, pytest.raises(sqlite3.OperationalError):
        connection.execute("DELETE FROM part")


def source_connection(path: Path) -> sqlite3.Connection:
    from jitchat.transfer.source import open_read_only

    return open_read_only(path)


def test_a_database_in_a_read_only_folder_is_read(tmp_path: Path, store: ColdStore):
    folder = tmp_path / "folder"
    folder.mkdir()
    path = exports.llm_old(folder / "logs.db")
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
    path.chmod(0o400)
    folder.chmod(0o500)
    try:
        assert len(take(store, path)) == 2
    finally:
        folder.chmod(0o700)


def test_views_that_look_like_tables_are_not_run(tmp_path: Path):
    endless = "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT n FROM r"
    views = ", ".join(f"n AS {name}" for name in ("id", "session_id", "data"))
    path = exports.make_database(
        tmp_path / "views.db",
        f"CREATE TABLE session (id, title); CREATE TABLE part (id, message_id, data);"
        f"CREATE VIEW message AS SELECT {views} FROM ({endless});",
    )

    assert refusal(path).startswith(f"{path} is a database of another program.")


def test_a_database_in_a_zip_is_reported(tmp_path: Path):
    path = tmp_path / "export.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.write(exports.llm_old(tmp_path / "logs.db"), "logs.db")
        archive.writestr("yesterday.zip", b"PK")
    source = open_source(path)

    assert list(conversations_of(source)) == []
    assert dict(source.tally.skipped) == {
        "file that is a database in a zip (unpack it first)": 1,
        "zip in the zip (unpack it first)": 1,
    }


def test_control_characters_and_huge_names_come_in_as_text(tmp_path: Path, store: ColdStore):
    name, said = "n\x1b]0;x\x07" + "y" * 100_000, "\x1b[2J\x00\ud800 \u202e"
    talk = chatgpt(
        chatgpt_node("u1", None, "user", text=said),
        chatgpt_node("a1", "u1", "assistant", text="Yes.", metadata={"model_slug": name}),
        title=name,
        conversation_id=name,
    )

    (taken,) = take(store, written(tmp_path, "c.json", [talk]))

    assert taken.title.startswith("n\x1b]0;x")
    assert "\x1b" not in taken.id
    assert max(len(taken.title), len(taken.id)) <= LONGEST_TITLE
    assert store.turns(taken.id)[0].content == "\x1b[2J␀\ufffd \u202e"
    models = store.database.fetch_all("SELECT model FROM reply_notes")
    assert [("\x1b" in model, len(model) <= 80) for (model,) in models] == [(True, True)]


def taken_or_refused(store: ColdStore, path: Path) -> tuple[list[Taken], str]:
    try:
        return take(store, path, is_whole=False), ""
    except ImportFailed as error:
        return [], str(error)


def test_damaged_exports_of_every_program_are_read_or_refused(
    tmp_path: Path, store: ColdStore, rounds: Callable[[int, int], int]
):
    whole = [
        content.encode() if isinstance(content, str) else json.dumps(content).encode()
        for content in ALL.values()
    ]
    whole += [
        make(tmp_path / name).read_bytes()
        for name, make in (
            ("a.db", exports.opencode), ("b.db", exports.llm_old), ("c.db", exports.llm_new),
        )
    ]  # fmt: skip
    read = refused = 0
    for seed in range(rounds(160, 12_000)):
        luck = random.Random(seed)
        path = written(tmp_path, f"{SESSION}.jsonl", mutated(luck.choice(whole), luck))
        taken, told = taken_or_refused(store, path)
        assert not told or str(path) in told, f"seed {seed}"
        refused += bool(told)
        read += not told
        for each in taken:
            if each.id:
                last = store.tree(each.id).last
                turns = store.turns_of(each.id, TreePath(((1, last),)))
                assert [turn.position for turn in turns] == list(range(1, last + 1))
                assert store.turns(each.id), f"seed {seed}"
    assert min(read, refused) > rounds(160, 12_000) // 10
