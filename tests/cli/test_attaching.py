"""Files that `jitchat send` attaches: only what was typed, and nothing hidden unasked."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from jitchat.cli import options
from jitchat.store.database import Database
from jitchat.store.pins import AllowedFolders
from tests.mention_spellings import texts

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Shell
    from tests.support import ScriptedProvider

KEY = "PRIVATE KEY OF ANN"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with a key in the home beside it."""
    current, home = tmp_path / "work/current", tmp_path / "work/home"
    for path in (home / ".ssh/id_rsa", current / ".env", current / "secrets.txt"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(KEY)
    for name in ("notes.md", "my notes.md", "src/a.py"):
        (current / name).parent.mkdir(exist_ok=True)
        (current / name).write_text(f"text of {name}")
    (current / ".gitignore").write_text("secrets.txt\n")
    (current / "src/link.md").symlink_to("../../home/.ssh/id_rsa")
    monkeypatch.chdir(current)
    monkeypatch.setenv("HOME", str(home))
    return current


@pytest.mark.parametrize("words", [("review this",), ("-",), ()])
def test_piped_text_attaches_nothing(
    jitchat: Shell,
    scripted: ScriptedProvider,
    folder: Path,
    words: tuple[str, ...],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(options, "is_piped", lambda: True)
    piped = "\n".join(texts(str(folder.parent / "home")))
    done = jitchat("send", "--new", *words, stdin=piped.encode())
    assert done.code == 0, done.err
    content = scripted.requests[0][-1].content
    assert "@~/.ssh/id_rsa" in content
    assert "<file #" not in content
    assert KEY not in str(scripted.requests)
    assert "attached" not in done.err


def test_what_is_attached_is_named_before_the_reply(
    jitchat: Shell, scripted: ScriptedProvider, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(options, "is_piped", lambda: True)
    done = jitchat("send", "--new", "compare (@notes.md) with @src/ and @gone.md", stdin=b"@.env")
    assert done.code == 0, done.err
    assert "attached: notes.md, src/a.py\n" in done.err
    assert "symbolic link, not attached: src/link.md · no file at @gone.md" in done.err
    content = scripted.requests[0][-1].content
    assert "text of notes.md" in content
    assert KEY not in content


@pytest.mark.parametrize("mention", ["@~/.ssh/id_rsa", "@../home/.ssh/", "@.env", "@src/link.md"])
def test_hidden_files_and_those_of_other_folders_are_refused_with_a_way_to_attach_them(
    jitchat: Shell, scripted: ScriptedProvider, folder: Path, mention: str
) -> None:
    for command in ("send", "window"):
        refused = jitchat(command, f"what is in {mention}", "--conversation", "demo")
        assert refused.code == 2
        assert "is hidden or outside the current folder. --attach PATH attaches" in refused.err
    assert scripted.requests == []


def test_the_option_attaches_anything_and_names_where_it_comes_from(
    jitchat: Shell, scripted: ScriptedProvider, folder: Path
) -> None:
    key = folder.parent / "home/.ssh/id_rsa"
    done = jitchat("send", "--new", "read", "--attach", key, "--attach", ".env")
    assert f"attached: id_rsa ({key}), .env\n" in done.err
    assert KEY in scripted.requests[0][-1].content


def test_ignored_files_are_left_out_unless_they_are_named(
    jitchat: Shell, scripted: ScriptedProvider, folder: Path
) -> None:
    done = jitchat("send", "--new", "what is in @./ ?")
    assert "1 ignored file left out: @./! attaches all" in done.err
    assert "secrets.txt" not in done.err.partition("attached: ")[2]
    done = jitchat("send", "--new", "what is in it?", "--attach", ".")
    assert "1 ignored file left out" in done.err
    for words in (["and @secrets.txt"], ["and @./!"], ["and", "--attach", "./!"]):
        assert "secrets.txt" in jitchat("send", "--new", *words).err.partition("attached: ")[2]


def test_allowed_folders_are_listed_and_forgotten(
    jitchat: Shell, scripted: ScriptedProvider, folder: Path
) -> None:
    ssh = folder.parent / "home/.ssh"
    assert jitchat("folders").out == ""
    database = Database(jitchat.home / "jitchat.db")
    AllowedFolders(database).add(str(ssh))
    database.close()
    assert jitchat("folders").out == f"{ssh}\n"
    done = jitchat("send", "--new", "what is in @~/.ssh/id_rsa")
    assert f"attached: id_rsa ({ssh}/id_rsa)" in done.err
    assert jitchat("folders", "--forget", "~/.ssh").out == ""
    assert jitchat("send", "--new", "what is in @~/.ssh/id_rsa").code != 0


def test_a_first_message_starts_a_conversation_of_its_own(
    jitchat: Shell, scripted: ScriptedProvider
) -> None:
    done = jitchat("send", "which port is it?")
    assert done.err == "to chat-1, #1\n"
    assert [len(request) for request in scripted.requests] == [2], "instructions and message only"
    assert jitchat("send", "hello").err == "to chat-1, #3\n"
    assert jitchat("send", "hello", "--conversation", "demo").code == 0
    assert jitchat("send", "and there?").err == "to chat-1, #5\n", "the demo has to be named"


@pytest.mark.parametrize("words", [("window", "which port?", "--exact"), ("observations", "--run")])
def test_no_other_command_sends_the_demo_either(
    jitchat: Shell, scripted: ScriptedProvider, words: tuple[str, ...]
) -> None:
    jitchat("window", "which port?")
    jitchat(*words)
    assert "release" not in str(scripted.requests).lower()
