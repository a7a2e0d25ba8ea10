"""MCP servers as configured, and which of their tools are allowed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from jitchat.errors import SettingsError
from jitchat.settings import load_settings

if TYPE_CHECKING:
    from pathlib import Path

CANARY = "sk-canary-0123456789abcdef"
FILE = f"""
[tools]
tools = "all"
allow = ["files__read_*", "git"]
large_result = 2000

[compactor]
provider = "groq"
model = "openai/gpt-oss-20b"
fallback = "openai/gpt-oss-120b"

[mcp.files]
command = "uvx"
args = ["mcp-files", "--root", "${{HOME:-/tmp}}"]
env = {{ TOKEN = "{CANARY}", "GREETING" = "Grüße" }}
deny = ["delete_*"]

[mcp.tracker]
url = "https://tools.example/mcp?k={CANARY}"
headers = {{ Authorization = "Bearer {CANARY}" }}
enabled = false
"""


def test_servers_and_what_is_allowed_are_taken_from_the_file(tmp_path: Path):
    config = tmp_path / "config.toml"
    config.write_text(FILE)

    settings = load_settings(config, {})

    files, tracker = settings.mcp["files"], settings.mcp["tracker"]
    assert files.args == ("mcp-files", "--root", "${HOME:-/tmp}")
    assert (files.env["TOKEN"], files.env["GREETING"]) == (CANARY, "Grüße")
    assert (files.deny, files.enabled, files.timeout) == (("delete_*",), True, 30.0)
    assert (tracker.command, tracker.enabled) == ("", False)
    assert (settings.tools.tools, settings.tools.allow) == ("all", ("files__read_*", "git"))
    assert (settings.tools.max_steps, settings.tools.request_context) == (12, "auto")
    assert settings.compactor.fallback == "openai/gpt-oss-120b"


def test_keys_of_servers_are_shown_nowhere(tmp_path: Path):
    config = tmp_path / "config.toml"
    config.write_text(FILE)

    settings = load_settings(config, {})

    assert CANARY not in repr(settings) + str(list(settings.rows()))
    assert CANARY in settings.secrets()
    rows = {key: value for key, value, _ in settings.rows()}
    assert rows["mcp.files.env"] == "TOKEN (hidden), GREETING (hidden)"
    assert rows["tools.allow"] == '"files__read_*", "git"'
    assert rows["mcp.tracker.url"] == "set (hidden)"


def test_a_variable_gives_a_list_with_commas(tmp_path: Path):
    settings = load_settings(tmp_path / "none", {"JITCHAT_TOOLS_DENY": "git, files__delete_*"})

    assert settings.tools.deny == ("git", "files__delete_*")


@pytest.mark.parametrize(
    ("content", "parts"),
    [
        ("mcp = 3\n", ["mcp must be a table of tables", "[mcp.files]"]),
        ("[mcp.x]\n", ["mcp.x has neither command nor url", "uvx"]),
        ("[mcp.x]\ncommand='a'\nurl='https://b'\n", ["both command and url"]),
        ("[mcp.x]\nurl='ftp://b'\n", ["mcp.x.url is not an HTTP address", "https://"]),
        ("[mcp.x]\nurl='https://b'\nargs=['a']\n", ["mcp.x.args has no effect", "Remove args"]),
        ("[mcp.x]\ncommand='a'\nheaders={a='b'}\n", ["mcp.x.headers has no effect"]),
        ("[mcp.a__b]\ncommand='a'\n", ["'a__b' cannot be the name of a server", "single _"]),
        ("[mcp.'a b']\ncommand='a'\n", ["'a b' cannot be the name"]),
        ("[mcp.x]\ncomand='a'\n", ["'mcp.x.comand'", "Did you mean 'command'?"]),
        ("[mcp.x]\ncommand='a'\nargs='b'\n", ["mcp.x.args", "a list of strings"]),
        ("[mcp.x]\ncommand='a'\nenv={'A=B'='c'}\n", ["not a valid variable name"]),
        ("[mcp.x]\ncommand='a'\ntimeout=0\n", ["mcp.x.timeout", "at least 0.1"]),
        ("[tools]\nallow = 'x'\n", ["tools.allow", "a list of strings", "'x'"]),
        ("[tools]\nallow = [1]\n", ["tools.allow", "a list of strings"]),
        ("[tools]\nrequest_context = 'of'\n", ["off, auto or on", "'off'?"]),
        ("[tools]\nmax_steps = 0\n", ["tools.max_steps", "at least 1"]),
        ("[compactor]\nprovider = 'grok'\n", ["compactor.provider", "Did you mean 'groq'?"]),
    ],
)
def test_what_is_wrong_is_told_with_what_to_write(tmp_path: Path, content: str, parts: list[str]):
    config = tmp_path / "config.toml"
    config.write_text(content)

    with pytest.raises(SettingsError) as caught:
        load_settings(config, {})

    for part in (str(config), *parts):
        assert part in str(caught.value)
