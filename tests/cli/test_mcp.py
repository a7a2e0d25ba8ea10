"""`jitchat mcp`: the configuration is edited, and servers are started for a check."""

from __future__ import annotations

import json
import sys
import tomllib
from typing import TYPE_CHECKING

import pytest

from jitchat.store.database import Database
from jitchat.store.tool_grants import ToolGrants
from tests.support import ROOT
from tests.tools.mcp.folders import WITH_MODULE, enter_hostile_folder

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Shell

CANARY = "sk-canary-0123456789abcdef"
BEFORE = """# mine
[chat]
mode = "full"   # for now

[mcp.old]   # out of use
command = "old-server"
[mcp.old.env]
A = "b"
# the end of old

[keys]
inspector = "f2"
"""
FRIENDLY = (sys.executable, "-m", "tests.tools.mcp.friendly_server")


def test_a_server_is_added_listed_and_removed_and_the_rest_stays(jitchat: Shell, home: Path):
    config = home / "config.toml"
    home.mkdir(exist_ok=True)
    config.write_text(BEFORE)

    added = jitchat("mcp", "add", "--env", "TOKEN=${T}", "git", "sh", "mcp-git", '--say="a\\b"')
    listed = jitchat("mcp", "list")
    removed = jitchat("mcp", "remove", "old")

    assert (added.code, removed.code) == (0, 0), added.err + removed.err
    assert listed.out.splitlines() == ["old  runs old-server", "git  runs sh"]
    text = config.read_text()
    head, _, _ = BEFORE.partition("[mcp.old]")
    assert text.startswith(f"{head}[mcp.git]\n")
    assert text.endswith('\n\n[keys]\ninspector = "f2"\n')
    assert tomllib.loads(text)["mcp"] == {
        "git": {"command": "sh", "args": ["mcp-git", '--say="a\\b"'], "env": {"TOKEN": "${T}"}}
    }


def test_the_words_after_two_dashes_are_the_command(jitchat: Shell, home: Path):
    added = jitchat("mcp", "add", "time", "--", "sh", "-c", "--", "x")
    variable = jitchat("mcp", "add", "mine", "${SHELL:-sh}")

    assert (added.code, variable.code) == (0, 0), added.err + variable.err
    assert tomllib.loads((home / "config.toml").read_text())["mcp"] == {
        "time": {"command": "sh", "args": ["-c", "--", "x"]},
        "mine": {"command": "${SHELL:-sh}"},
    }


@pytest.mark.parametrize(
    "words", [("mcp", "check"), ("mcp", "list"), ("doctor",), ("send", "hello", "--tools")]
)
def test_no_command_runs_code_of_the_current_folder(
    jitchat: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
):
    marker = enter_hostile_folder(tmp_path, monkeypatch)
    env = f"PYTHONPATH={ROOT}"
    added = jitchat("mcp", "add", "--env", env, "friendly", WITH_MODULE.command, *WITH_MODULE.args)
    assert added.code == 0, added.err

    ran = jitchat(*words)

    assert not marker.exists()
    if words == ("mcp", "check"):
        assert "✓ friendly" in ran.out


def test_an_address_is_added_with_its_headers(jitchat: Shell, home: Path):
    jitchat("mcp", "add", "--header", "Authorization=Bearer ${T}", "far", "https://x.test/mcp")

    written = tomllib.loads((home / "config.toml").read_text())["mcp"]["far"]
    assert written == {
        "url": "https://x.test/mcp",
        "headers": {"Authorization": "Bearer ${T}"},
    }
    assert json.loads(jitchat("mcp", "list", "--json").out) == [
        {"name": "far", "kind": "over HTTP", "enabled": True}
    ]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("add", "old", "sh"), "already has a server old"),
        (("add", "a__b", "sh"), "cannot be the name of a server"),
        (("add", "a", "no-such-command", "x"), "There is no command no-such-command."),
        (("add", "a", "./no-such-command"), "A relative path starts in"),
        (("add", "a", "--env", "T=1", "sh"), "options go before NAME."),
        (("add", "a", "--"), "There is no command --."),
        (("add", "a", "https://x.test", "y"), "A URL takes no arguments"),
        (("add", "--env", "T", "a", "sh"), "as NAME=VALUE"),
        (("remove", "gone"), "has no server 'gone'. Servers there: old."),
        (("check", "gone"), "There is no server 'gone'. Configured: old."),
    ],
)
def test_impossible_changes_are_refused_and_nothing_is_changed(
    jitchat: Shell, home: Path, words: tuple[str, ...], told: str
):
    home.mkdir(exist_ok=True)
    (home / "config.toml").write_text(BEFORE)

    refused = jitchat("mcp", *words)

    assert refused.code == 2
    assert told in refused.err
    assert (home / "config.toml").read_text() == BEFORE


def test_a_table_on_one_line_is_removed_too(jitchat: Shell, home: Path):
    home.mkdir(exist_ok=True)
    (home / "config.toml").write_text('# mine\nmcp.a = { command = "x" }\n')

    removed = jitchat("mcp", "remove", "a")

    assert removed.code == 0
    assert (home / "config.toml").read_text() == "# mine\n"


def test_permissions_and_logs_of_a_server_are_removed_with_it(jitchat: Shell, home: Path):
    jitchat("mcp", "add", "git", "sh")
    (log := home / "servers" / "git.log").parent.mkdir()
    log.write_text("no such branch")
    database = Database(home / "jitchat.db")
    ToolGrants(database).put("git", "log", "d")
    database.close()

    jitchat("mcp", "remove", "git")

    database = Database(home / "jitchat.db")
    assert ToolGrants(database).definition("git", "log") is None
    assert not log.exists()
    database.close()


def test_a_check_lists_tools_with_prices_and_shows_what_servers_wrote(jitchat: Shell, home: Path):
    script = str(ROOT / "tests" / "tools" / "mcp" / "hostile_server.py")
    jitchat("mcp", "add", "--cwd", str(ROOT), "--env", f"TOKEN={CANARY}", "good", *FRIENDLY)
    jitchat("mcp", "add", "--env", f"TOKEN={CANARY}", "bad", sys.executable, script, "fails")

    found = jitchat("mcp", "check")

    assert found.code == 1
    assert "✓ good  8 tools, " in found.out
    assert "good__add" in found.out
    assert "Adds two numbers." in found.out
    assert "✗ bad  bad ended before it answered" in found.out
    assert "│ no such table: users" in found.out
    assert CANARY not in found.out + found.err
    assert "jitchat mcp check" not in found.out
    assert json.loads(jitchat("mcp", "check", "good", "--json").out)[0]["ok"]
