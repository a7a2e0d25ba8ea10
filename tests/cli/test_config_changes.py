"""`jitchat config get`, `set`, `unset` and `edit`, and `jitchat completion`."""

from __future__ import annotations

import codecs
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from click.shell_completion import ShellComplete

from jitchat.cli import commands

if TYPE_CHECKING:
    from tests.cli.conftest import Shell

BEFORE = '# mine\n[chat]\nmode = "full"   # for now\n\n[keys]\ninspector = "f12"\n'


@pytest.fixture
def config(home: Path) -> Path:
    home.mkdir(exist_ok=True)
    (home / "config.toml").write_text(BEFORE)
    return home / "config.toml"


def test_a_value_is_set_and_read_back_and_comments_stay(jitchat: Shell, config: Path):
    assert jitchat("config", "set", "chat.mode", "jit").code == 0
    assert jitchat("config", "set", "window.size", "512").code == 0
    assert jitchat("config", "set", 'models."gpt-5.4".limit', "1000").code == 0
    assert jitchat("config", "set", "tools.deny", "a__*, b").code == 0

    assert jitchat("config", "get", "window.size").out == "512\n"
    assert jitchat("config", "get", "chat.mode").out == "jit\n"
    section = jitchat("config", "get", "tools").out.splitlines()
    assert {line.partition(".")[0] for line in section} == {"tools"}
    assert any(line.startswith("tools.deny ") and str(config) in line for line in section)
    assert jitchat("config", "get", "mcp").err == "Nothing is set in [mcp].\n"
    assert config.read_text() == (
        '# mine\n[chat]\nmode = "jit"   # for now\n\n[keys]\ninspector = "f12"\n\n'
        '[window]\nsize = 512\n\n[models."gpt-5.4"]\nlimit = 1000\n\n'
        '[tools]\ndeny = ["a__*", "b"]\n'
    )


@pytest.mark.parametrize("mark", [b"", codecs.BOM_UTF8], ids=["", "mark"])
@pytest.mark.parametrize("end", ["\n", "\r\n"], ids=["LF", "CRLF"])
def test_line_ends_and_the_byte_order_mark_stay(
    jitchat: Shell, config: Path, end: str, mark: bytes
):
    before = f'{BEFORE}\n[personas.x]\nsystem = """a\nb"""\n'
    config.write_bytes(mark + before.replace("\n", end).encode())

    assert jitchat("config", "set", "chat.mode", "jit").code == 0
    assert jitchat("config", "set", "window.size", "512").code == 0
    assert jitchat("config", "unset", "window.size").code == 0

    after = before.replace('"full"', '"jit"') + "\n[window]\n"
    assert config.read_bytes() == mark + after.replace("\n", end).encode()


@pytest.mark.parametrize("ahead", ["", "\n\n", " \n\t\n", "\r\n\n"])
@pytest.mark.parametrize("behind", ["", "\n", "\n\n\n", "  \n", "\n# end\n\n", "\r\n\n"])
def test_every_byte_but_the_value_stays(jitchat: Shell, config: Path, ahead: str, behind: str):
    before = f'{ahead}# mine\n[chat]\n  mode\t=  "full"{behind}'.encode()
    config.write_bytes(before)

    assert jitchat("config", "set", "chat.mode", "jit").code == 0
    assert config.read_bytes() == before.replace(b"full", b"jit")

    config.write_bytes(before)
    assert jitchat("config", "set", "window.size", "512").code == 0
    assert config.read_bytes().startswith(before)


def test_line_ends_that_differ_stay_as_they_are(jitchat: Shell, config: Path):
    config.write_bytes(b'# mine\r\n[chat]\nmode = "full"\r\n')

    assert jitchat("config", "set", "chat.mode", "jit").code == 0

    assert config.read_bytes() == b'# mine\r\n[chat]\nmode = "jit"\r\n'


def test_a_last_line_without_an_end_gets_that_of_the_others(jitchat: Shell, config: Path):
    config.write_bytes(b'[chat]\r\nmode = "full"')

    assert jitchat("config", "set", "chat.system", "a\nb").code == 0

    assert config.read_bytes() == b'[chat]\r\nmode = "full"\r\nsystem = """a\r\nb"""\r\n'


def test_a_configuration_that_is_a_pipe_is_refused(jitchat: Shell, home: Path):
    home.mkdir()
    os.mkfifo(home / "config.toml")

    for command in (("config",), ("config", "set", "chat.mode", "jit"), ("window", "hi")):
        done = jitchat(*command)
        assert done.code == 2
        assert done.err == f"jitchat: {home / 'config.toml'} is a pipe. Name a file.\n"


def test_a_value_is_removed(jitchat: Shell, config: Path):
    assert "no longer set" in jitchat("config", "unset", "chat.mode").out
    assert "does not set chat.mode" in jitchat("config", "unset", "chat.mode").out
    assert jitchat("config", "get", "chat.mode").out == "jit\n"
    assert "# mine" in config.read_text()


@pytest.mark.parametrize(
    ("key", "value", "told"),
    [
        ("window.size", "x", "must be a whole number or auto, not 'x'"),
        ("window.size", "-1", "must be at least 1"),
        ("window.sise", "1", "Did you mean 'window.size'?"),
        ("window.recent", "1", "window.recent is a share of window.size now."),
        ("window", "1", "is not the key of a setting"),
        ("nope.a", "1", "'nope' is not a section of jitchat. The sections are chat,"),
        ("providers.a", "1", "Write its keys as providers.NAME.KEY."),
        ("chat.mode", "foo", "cannot be 'foo'"),
        ("provider.name", "nobody", "there is no such provider. Nothing was written."),
        ("provider.api_key", "secret", "other users can read command lines"),
        ("keys.nope", "f9", "is not an action of jitchat"),
        ("keys.inspector", "f1", "is bound to both inspector and help"),
    ],
)
def test_an_unknown_setting_or_invalid_value_is_refused_and_not_written(
    jitchat: Shell, config: Path, key: str, value: str, told: str
):
    refused = jitchat("config", "set", "--", key, value)
    assert refused.code == 2
    assert told in refused.err
    assert config.read_text() == BEFORE


def test_the_configuration_is_checked_after_the_editor(
    jitchat: Shell, config: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("EDITOR", "true")
    assert jitchat("config", "edit").out == f"{config} is valid.\n"
    monkeypatch.setenv("EDITOR", "sed -i s/full/fool/")
    monkeypatch.delenv("VISUAL", raising=False)
    wrong = jitchat("config", "edit")
    assert wrong.code == 2
    assert "cannot be 'fool'" in wrong.err


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_is_installed_where_the_shell_looks(
    jitchat: Shell, shell: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    for name in ("HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(name, str(tmp_path))
    printed = jitchat("completion", shell, "--print")
    installed = jitchat("completion", shell)
    (file,) = (path for path in tmp_path.rglob("*jitchat*") if path.is_file())
    assert str(file) in installed.out
    assert file.read_text() == printed.out
    assert "_JITCHAT_COMPLETE" in printed.out


def test_bash_completes_commands_of_commands(jitchat: Shell):
    script = jitchat("completion", "bash", "--print").out
    asked = f'{script}\nCOMP_WORDS=(jitchat mcp ""); COMP_CWORD=2; _jitchat_completion jitchat\n'
    asked += 'echo "${COMPREPLY[@]}"'
    environ = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    done = subprocess.run(["bash", "-c", asked], env=environ, stdout=subprocess.PIPE, check=False)
    assert done.stdout.decode().split() == ["add", "list", "remove", "check"]


@pytest.mark.parametrize(
    ("typed", "completed"),
    [
        ("export --conversation de", ["demo"]),
        ("conversations rename ", ["demo"]),
        ("observations d", ["demo"]),
        ("send --project de", ["default"]),
        ("send --mode j", ["jit"]),
        ("send --provider ollama", ["ollama"]),
        ("send --persona p", ["poet"]),
        ("config get window.s", ["window.size"]),
        ("import --from claude-", ["claude-code"]),
    ],
)
@pytest.mark.usefixtures("demo")
def test_the_shell_completes_values(jitchat: Shell, typed: str, completed: list[str]):
    jitchat("config", "set", "personas.poet.system", "In verse.")
    *words, begun = typed.split(" ")
    with commands.make_context("jitchat", [], resilient_parsing=True):
        found = ShellComplete(commands, {}, "jitchat", "_X").get_completions(words, begun)
    assert [each.value for each in found] == completed


@pytest.mark.usefixtures("demo")
def test_completing_waits_for_no_lock_and_writes_nothing(jitchat: Shell):
    database = jitchat.home / "jitchat.db"
    with closing(sqlite3.connect(database, isolation_level=None)) as other:
        other.execute("PRAGMA journal_mode = DELETE")
        other.execute("BEGIN EXCLUSIVE")
        before = database.read_bytes()
        asked = ShellComplete(commands, {}, "jitchat", "_X")
        assert asked.get_completions(["export", "--conversation"], "") == []
        assert database.read_bytes() == before


def test_unreadable_files_yield_no_completions(jitchat: Shell):
    jitchat.home.mkdir(exist_ok=True)
    (jitchat.home / "jitchat.db").write_bytes(b"no database at all, but some notes" * 99)
    (jitchat.home / "config.toml").write_text("[oops")
    for words in (["export", "--conversation"], ["send", "--persona"], ["send", "--project"]):
        assert ShellComplete(commands, {}, "jitchat", "_X").get_completions(words, "") == []
