"""Files that a message mentions."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import pytest

from jitchat.errors import FileRefused
from jitchat.files.mentions import (
    attached_by,
    mentions_for_paste,
    passed_over,
    passed_over_at,
    paths_beginning,
    without_mentions,
)

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("notes.md", "my notes.md", "src/a.py", "src/b.py", "src/.env", ".hidden"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(name)
    (tmp_path / "src" / "c.bin").write_bytes(b"\0")
    return tmp_path


@pytest.mark.parametrize(
    ("message", "names"),
    [
        ("What does @notes.md say?", ["notes.md"]),
        ("(see @notes.md), or @notes.md.", ["notes.md"]),
        ('compare @"my notes.md" with @src/*.py', ["my notes.md", "src/a.py", "src/b.py"]),
        ("read @src/", ["src/a.py", "src/b.py"]),
        ("@full @nowhere.md @ann and me@notes.md", []),
        ("what is in @.hidden?", [".hidden"]),
    ],
)
def test_a_message_attaches_existing_files_that_it_mentions(
    folder: Path, message: str, names: list[str]
) -> None:
    assert [file.name for file in attached_by(message, folder)] == names


def test_files_skipped_in_a_folder_are_named(folder: Path) -> None:
    told = "not attached: src/c.bin; attach one by name to see why"
    assert passed_over("read @src/ and @notes.md", folder) == told
    assert passed_over_at(["src"], folder) == told
    assert passed_over_at(["src/*.py", "src/c.bin"], folder) == ""
    (folder / "src/d.bin").write_bytes(b"\0")
    assert "src/c.bin and 1 more;" in passed_over_at(["src"], folder)


def test_an_unreadable_file_is_refused_if_it_is_mentioned_itself(folder: Path) -> None:
    with pytest.raises(FileRefused, match=r"c\.bin is not text"):
        attached_by("@src/c.bin", folder)


@pytest.mark.skipif(sys.platform == "win32", reason="no such files there")
def test_a_mentioned_path_that_is_not_a_file_is_refused(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(folder / "pipe")
    with pytest.raises(FileRefused, match="pipe is not a file"):
        attached_by("@pipe", folder)
    (folder / "gone").symlink_to("nowhere")
    with pytest.raises(FileRefused, match="gone cannot be read: No such file"):
        attached_by("@gone", folder)

    def locked(path: Path, **_: object) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(type(folder), "stat", locked)
    with pytest.raises(FileRefused, match=r"notes\.md cannot be read: Permission denied"):
        attached_by("@notes.md", folder)


def test_too_many_files_are_refused(folder: Path) -> None:
    for number in range(101):
        (folder / f"{number}.log").write_text("x")
    with pytest.raises(FileRefused, match="more than 100"):
        attached_by("@*.log", folder)


def test_names_of_files_are_not_looked_for() -> None:
    assert without_mentions('which port is in @"my notes.md" ?').split() == [
        "which",
        "port",
        "is",
        "in",
        "?",
    ]


@pytest.mark.parametrize("write", ["{}", "'{}'", '"{}"', "file://{}"])
def test_a_dropped_file_is_pasted_as_a_mention(folder: Path, write: str) -> None:
    path = folder / "my notes.md"
    pasted = write.format(str(path).replace(" ", "%20") if "file" in write else path)

    assert mentions_for_paste(f"{pasted}\n") == f'@"{path}"'
    both = f"{folder}/notes.md {folder}/my\\ notes.md"
    assert mentions_for_paste(both) == f'@{folder}/notes.md @"{path}"'
    assert mentions_for_paste(f"{folder}/notes.md\r\n{pasted}\n") == f'@{folder}/notes.md @"{path}"'


@pytest.mark.parametrize("pasted", ["", "notes.md", "/nowhere/notes.md", "it's a text", "a\nb"])
def test_any_other_paste_is_unchanged(pasted: str) -> None:
    assert mentions_for_paste(pasted) == ""


@pytest.mark.parametrize(
    ("typed", "paths"),
    [
        ("", ["my notes.md", "notes.md", "src/"]),
        ("N", ["notes.md"]),
        ("src/a", ["src/a.py"]),
        (".", [".hidden"]),
        ("src/x", []),
        ("nowhere/", []),
        ("\0", []),
    ],
)
def test_paths_are_completed_from_their_beginning(
    folder: Path, typed: str, paths: list[str]
) -> None:
    assert paths_beginning(typed, folder, 50) == paths
    assert paths_beginning(f"{folder}/{typed}", folder, 50) == [f"{folder}/{p}" for p in paths]


def test_a_folder_that_cannot_be_read_has_no_paths(folder: Path) -> None:
    (folder / "src").chmod(0)
    found = paths_beginning("src/", folder, 50)
    (folder / "src").chmod(0o700)
    assert (found == []) == bool(os.getuid())
