"""Files that a message mentions: how they are written, found, left out and named."""

from __future__ import annotations

import os
import sys
import unicodedata
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jitchat.attachments import Attachment
from jitchat.draft import Draft
from jitchat.errors import FileRefused
from jitchat.files import load as loading
from jitchat.files.load import has_changed
from jitchat.files.named import (
    attach,
    find_mention,
    folder_to_ask,
    is_named,
    left_out,
    mention_of,
    mentions_for_paste,
    mentions_of,
    paths_beginning,
    require_named,
    spellings,
    without_mentions,
)
from tests.examples import examples

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


def write(folder: Path, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    current = tmp_path / "current"
    names = ("notes.md", "my notes.md", "src/a.py", "src/b.py", "src/.env", ".hidden", "ä.md")
    write(current, {name: name for name in names})
    (current / "src" / "c.bin").write_bytes(b"\0")
    return current


def attached(message: str, folder: Path) -> list[str]:
    mentions = mentions_of(Draft.by_user(message))
    return [file.name for file in attach([find_mention(name, folder) for name in mentions], folder)]


@examples(300)
@given(
    st.text("ab@/.\\ \u3000\u00a0'，,;)。é", min_size=1)
    | st.from_regex(r'[a-z][ ")a-z.]*', fullmatch=True)
)
def test_the_mention_of_a_path_means_that_path(name: str):
    [mention] = mentions_of(Draft.by_user(f"see {mention_of(name)} now"))
    assert name in spellings(mention)


def test_a_mention_names_a_file_in_any_spelling_of_its_name():
    file = Attachment("docs/\u00e9.md", "", "", 0, path="/home/docs/\u00e9.md")
    for name in (
        "docs/e\u0301.md",
        "./docs/\u00e9.md",
        "/home/docs/e\u0301.md",
        "docs//\u00e9.md,",
    ):
        assert is_named(name, file)
    assert not is_named("\u00e9.md", file)


def noted(message: str, folder: Path) -> str:
    mentions = mentions_of(Draft.by_user(message))
    return left_out([find_mention(name, folder) for name in mentions], folder)


@pytest.mark.parametrize(
    ("message", "names"),
    [
        ("What does @notes.md say?", ["notes.md"]),
        ("(see @notes.md), or @notes.md.", ["notes.md"]),
        ("(@notes.md)", ["notes.md"]),
        ("[@notes.md]: “@notes.md”, '@notes.md'; \"@notes.md\"", ["notes.md"]),
        ("(@notes.md)and then", ["notes.md"]),
        ("看看（@notes.md）。另外 @notes.md，还有", ["notes.md"]),
        ('compare @"my notes.md" with @src/*.py', ["my notes.md", "src/a.py", "src/b.py"]),
        ("@src/a.py,@notes.md;@src/b.py", ["src/a.py", "notes.md", "src/b.py"]),
        ("请看@notes.md，@src/a.py、@src/b.py", ["notes.md", "src/a.py", "src/b.py"]),
        (r"in @my\ notes.md, as in @my\ notes.md", ["my notes.md"]),
        ("read @src/", ["src/a.py", "src/b.py"]),
        ("@full @nowhere.md @ann and me@notes.md", []),
        ("what is in @.hidden?", [".hidden"]),
        (f"@{unicodedata.normalize('NFD', 'ä.md')} and @{'ä.md'}", ["ä.md"]),
        (f"@{unicodedata.normalize('NFD', 'ä')}*", ["ä.md"]),
        ("@*", ["my notes.md", "notes.md", "ä.md"]),
    ],
)
def test_a_message_attaches_existing_files_that_it_mentions(
    folder: Path, message: str, names: list[str]
) -> None:
    assert attached(message, folder) == names


def test_a_name_is_found_in_the_other_form_of_its_accents_too(folder: Path) -> None:
    decomposed = unicodedata.normalize("NFD", "é.md")
    write(folder, {decomposed: "e"})
    assert attached("@é.md", folder) == [decomposed]
    assert attached("@é*", folder) == [decomposed]


LOG = "".join(f"line {number}\n" for number in range(1, 31))


@pytest.mark.parametrize(
    ("mention", "name", "first", "last"),
    [
        ("@server.log:3-5", "server.log:3-5", 3, 5),
        ("(@server.log:3-5), or", "server.log:3-5", 3, 5),
        ("@server.log:28-99.", "server.log:28-99", 28, 30),
        ("@server.log:-2", "server.log:-2", 29, 30),
        ("@server.log:-99?", "server.log:-99", 1, 30),
        ('@"my server.log:7-7"', "my server.log:7-7", 7, 7),
        (r"@my\ server.log:-1", "my server.log:-1", 30, 30),
        ("@./logs/ä.log:2-4", "logs/ä.log:2-4", 2, 4),
        (f"@logs/{unicodedata.normalize('NFD', 'ä')}.log:2-4", "logs/ä.log:2-4", 2, 4),
    ],
)
def test_lines_of_a_file_are_attached_by_themselves(
    folder: Path, mention: str, name: str, first: int, last: int
) -> None:
    write(folder, dict.fromkeys(("server.log", "my server.log", "logs/ä.log"), LOG))
    mentions = mentions_of(Draft.by_user(mention))
    [file] = attach([find_mention(each, folder) for each in mentions], folder)
    assert file.name == name
    assert file.text.splitlines() == [f"line {number}" for number in range(first, last + 1)]
    assert is_named(mentions[0], file)
    assert not has_changed(replace(file, modified_at=0.0))
    write(folder, {name.partition(":")[0]: LOG.replace("line ", "row ")})
    assert has_changed(file)


def test_a_file_that_has_such_a_name_is_attached_itself(folder: Path) -> None:
    write(folder, {"a.log": LOG, "a.log:3-5": "the file itself"})
    [file] = attach([find_mention("a.log:3-5", folder)], folder)
    assert (file.name, file.text) == ("a.log:3-5", "the file itself")


@pytest.mark.parametrize("mention", ["src:1-2", "src/*.py:1-2", "notes.md:0-2", "notes.md:-0"])
def test_only_a_file_has_lines_and_they_are_numbered_from_one(folder: Path, mention: str) -> None:
    assert noted(f"@{mention}", folder) == f"no file at @{mention}"


def test_lines_that_a_file_does_not_have_are_refused(folder: Path) -> None:
    for lines in ("40-50", "5-3"):
        with pytest.raises(FileRefused, match=f"notes.md:{lines} contains no text"):
            attached(f"@notes.md:{lines}", folder)


@pytest.mark.skipif(sys.platform == "win32", reason="links need a permission there")
def test_lines_of_a_hidden_file_or_of_one_elsewhere_need_its_folder(folder: Path) -> None:
    (folder / "link.md").symlink_to(folder.parent / "home/keys")
    write(folder.parent, {"home/keys": LOG})
    for name, asked in ((".hidden:1-2", folder), ("link.md:-2", folder.parent / "home")):
        assert folder_to_ask(find_mention(name, folder), folder) == asked.resolve()


def test_of_a_text_that_is_too_large_the_end_is_attached_and_that_is_noted(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("MOST_LETTERS", "MOST_BYTES"):
        monkeypatch.setattr(loading, name, 60)
    write(folder, {"server.log": LOG})
    [file] = attach([find_mention("server.log", folder)], folder)
    assert file.name == "server.log:-7"
    assert file.text.splitlines() == [f"line {number}" for number in range(24, 31)]
    assert is_named("server.log", file)
    assert noted("@server.log", folder) == "too large, so only its end is attached: server.log:-7"
    with pytest.raises(FileRefused, match="at most 0 MB"):
        attached("@server.log:1-30", folder)


def test_files_skipped_in_a_folder_are_named(folder: Path) -> None:
    told = "not attached: src/c.bin; attach one by name to see why"
    assert noted("read @src/ and @notes.md", folder) == told
    assert noted("@src/*.py @src/*.bin", folder) == ""
    (folder / "src/d.bin").write_bytes(b"\0")
    assert "src/c.bin and 1 more;" in noted("@src", folder)


def test_a_mention_that_names_nothing_is_noted(folder: Path) -> None:
    assert noted("@nowhere.md, @notes.md", folder) == "no file at @nowhere.md"


def test_an_unreadable_file_is_refused_if_it_is_mentioned_itself(folder: Path) -> None:
    with pytest.raises(FileRefused, match=r"c\.bin is not text"):
        attached("@src/c.bin", folder)


@pytest.mark.parametrize("path", ["", "nowhere.md", "src/*.md", "no\0where"])
def test_a_path_that_has_to_name_files_is_refused_if_it_names_none(folder: Path, path: str) -> None:
    with pytest.raises(FileRefused, match="There is no file at"):
        require_named(path, folder)


@pytest.mark.skipif(sys.platform == "win32", reason="no such files there")
def test_a_mentioned_path_that_is_not_a_file_is_refused(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(folder / "pipe")
    with pytest.raises(FileRefused, match="pipe is not a file"):
        attached("@pipe", folder)
    (folder / "gone").symlink_to("nowhere")
    with pytest.raises(FileRefused, match="gone cannot be read: No such file"):
        attached("@gone", folder)

    def locked(path: Path, **_: object) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(type(folder), "stat", locked)
    with pytest.raises(FileRefused, match=r"notes\.md cannot be read: Permission denied"):
        attached("@notes.md", folder)


def test_too_many_files_are_refused(folder: Path) -> None:
    write(folder, {f"many/{number}.log": "x" for number in range(101)})
    for message in ("@many/*.log", "@many/"):
        with pytest.raises(FileRefused, match="more than 100"):
            attached(message, folder)


def test_names_of_files_are_not_looked_for() -> None:
    text = 'which port is in @"my notes.md" (@a.md) ?'
    assert without_mentions(text).split() == ["which", "port", "is", "in", "(", "?"]


# Symbolic links


@pytest.mark.skipif(sys.platform == "win32", reason="links need a permission there")
@pytest.mark.parametrize("mention", ["docs/", "docs", "docs/*.md", "docs/!"])
@pytest.mark.parametrize("target", ["../../home/.ssh/id_rsa", "../.hidden", "a.md", "../src"])
def test_links_in_a_folder_or_pattern_are_named_and_not_attached(
    folder: Path, mention: str, target: str
) -> None:
    write(folder.parent, {"home/.ssh/id_rsa": "SECRET"})
    write(folder, {"docs/a.md": "a"})
    (folder / "docs/notes.md").symlink_to(target)
    for named in (find_mention(mention, folder), require_named(mention, folder)):
        if target != "../src" or "*" not in mention:  # a pattern names files only
            note = "symbolic link, not attached: docs/notes.md"
            assert left_out([named], folder).startswith(note)
        assert [file.name for file in attach([named], folder)] == ["docs/a.md"]


@pytest.mark.skipif(sys.platform == "win32", reason="links need a permission there")
@pytest.mark.parametrize("mention", ["link.md", "sub/id_rsa", "sub/", "sub/*", "inside.md"])
def test_a_link_that_is_named_itself_counts_as_what_it_points_to(
    folder: Path, mention: str
) -> None:
    ssh = folder.parent / "home/ssh"
    write(ssh, {"id_rsa": "SECRET"})
    (folder / "link.md").symlink_to(ssh / "id_rsa")
    (folder / "sub").symlink_to(ssh)
    (folder / "inside.md").symlink_to(".hidden")
    asked = folder if mention == "inside.md" else ssh
    assert folder_to_ask(find_mention(mention, folder), folder) == asked


# Hidden files, and files outside the current folder


@pytest.mark.parametrize(
    ("mention", "asked"),
    [
        ("notes.md", None),
        ("src/", None),
        ("src/*", None),
        (".hidden", "current"),
        ("src/.env", "current/src"),
        ("src/.*", "current/src"),
        (".git/config", "current/.git"),
        (".git/hooks/*", "current/.git/hooks"),
        ("../outside/a.md", "outside"),
        ("../outside/", "outside"),
        ("../outside/*.md", "outside"),
        ("src/../../outside/a.md", "outside"),
        ("nowhere.md", None),
    ],
)
def test_hidden_files_and_files_outside_the_folder_are_asked_for_by_folder(
    folder: Path, mention: str, asked: str | None
) -> None:
    write(folder, {".git/config": "x", ".git/hooks/pre": "x"})
    write(folder.parent, {"outside/a.md": "x"})
    found = folder_to_ask(find_mention(mention, folder), folder)
    assert found == (None if asked is None else folder.parent / asked)


# Ignored files

IGNORED = {
    ".git/HEAD": "",
    ".gitignore": "*.log\nnode_modules\n!keep.log\n[z-a]\n/top.md\n",
    "current/.gitignore": "secrets.txt\n/build/\n",
    "current/.jitchatignore": "big*\n!a.log\n",
    "current/secrets.txt": "x",
    "current/a.log": "x",
    "current/b.log": "x",
    "current/keep.log": "x",
    "current/top.md": "x",
    "current/big.csv": "x",
    "current/build/x.txt": "x",
    "current/src/build/x.txt": "x",
    "current/src/.gitignore": "!secrets.txt\nb.log\n",
    "current/src/secrets.txt": "x",
    "current/node_modules/x/i.js": "x",
    "current/node_modules/x/.gitignore": "!*",
}
KEPT = [
    "a.log", "keep.log", "my notes.md", "notes.md", "src/a.py", "src/b.py", "src/build/x.txt",
    "src/secrets.txt", "top.md", "ä.md",
]  # fmt: skip


@pytest.fixture
def repository(folder: Path) -> Path:
    write(folder.parent, IGNORED)
    (folder / "src/c.bin").unlink()
    return folder


def test_what_a_repository_ignores_is_left_out_of_folders(repository: Path) -> None:
    assert sorted(attached("@./", repository)) == KEPT
    told = "5 ignored files left out: @./! attaches all"
    assert noted("@./", repository) == told
    assert noted("@node_modules/", repository).startswith("1 ignored file left out")
    assert attached("@node_modules/x/", repository) == []


def test_a_folder_with_a_mark_and_a_files_own_name_attach_what_is_ignored(
    repository: Path,
) -> None:
    own = {"secrets.txt", "b.log", "big.csv", "build/x.txt", "node_modules/x/i.js"}
    assert set(attached("@./!", repository)) == {*KEPT, *own}
    assert attached("@secrets.txt @build/!", repository) == ["secrets.txt", "build/x.txt"]
    assert noted("@./! @secrets.txt", repository) == ""


def test_what_a_repository_ignores_is_left_out_of_patterns(repository: Path) -> None:
    assert attached("@*.log", repository) == ["a.log", "keep.log"]
    assert noted("@*.log", repository) == "1 ignored file left out"
    assert attached("@sec*", repository) == []
    assert noted("@sec*", repository) == "1 ignored file left out"


def test_what_a_repository_ignores_is_not_completed(repository: Path) -> None:
    assert paths_beginning("", repository, 50) == [
        "a.log", "keep.log", "my notes.md", "notes.md", "src/", "top.md", "ä.md",
    ]  # fmt: skip
    assert paths_beginning("src/", repository, 50) == [
        "src/a.py", "src/b.py", "src/build/", "src/secrets.txt",
    ]  # fmt: skip
    assert paths_beginning("node_modules/", repository, 50) == []


def test_without_a_repository_the_rules_of_the_current_folder_hold(folder: Path) -> None:
    write(folder, {".jitchatignore": "*.py\n", "src/.gitignore": "!b.py\n"})
    write(folder.parent, {".gitignore": "*"})
    assert attached("@src/", folder) == ["src/b.py"]


@pytest.mark.skipif(sys.platform == "win32", reason="no such files there")
def test_a_pipe_in_place_of_the_rules_is_no_rule(folder: Path) -> None:
    os.mkfifo(folder / ".gitignore")
    assert attached("@src/", folder) == ["src/a.py", "src/b.py"]


def test_rules_are_read_again_when_they_change(folder: Path) -> None:
    (folder / "src/c.bin").unlink()
    write(folder, {".gitignore": "a.py"})
    assert attached("@src/", folder) == ["src/b.py"]
    write(folder, {".gitignore": "a.py\nb.py"})
    assert attached("@src/", folder) == []


# Pastes and completion


@pytest.mark.parametrize("write_path", ["{}", "'{}'", '"{}"', "file://{}"])
def test_a_dropped_file_is_pasted_as_a_mention(folder: Path, write_path: str) -> None:
    path = folder / "my notes.md"
    pasted = write_path.format(str(path).replace(" ", "%20") if "file" in write_path else path)

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
        ("", ["my notes.md", "notes.md", "src/", "ä.md"]),
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
    (folder / "src/c.bin").unlink()
    assert paths_beginning(typed, folder, 50) == paths
    assert paths_beginning(f"{folder}/{typed}", folder, 50) == [f"{folder}/{p}" for p in paths]


def test_a_folder_that_cannot_be_read_has_no_paths(folder: Path) -> None:
    (folder / "src").chmod(0)
    found = paths_beginning("src/", folder, 50)
    (folder / "src").chmod(0o700)
    assert (found == []) == bool(os.getuid())
