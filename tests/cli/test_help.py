"""Help texts, and errors for mistyped commands and values."""

from __future__ import annotations

import re
import sys
from types import SimpleNamespace
from typing import TYPE_CHECKING

import click
import pytest

from jitchat import __version__
from jitchat.cli import commands

if TYPE_CHECKING:
    from tests.cli.conftest import Shell

NAMES = [
    "send", "window", "why", "replay", "observations", "document", "check", "demo", "rot",
    "conversations", "memory", "import", "export", "backup", "models", "usage", "tokens", "keys",
    "mcp", "doctor", "config", "paths", "folders", "completion", "bench",
]  # fmt: skip


def test_the_version_is_printed(jitchat: Shell):
    assert jitchat("--version").out == f"jitchat {__version__}\n"


def test_the_commands_are_listed_in_order_of_their_use(jitchat: Shell):
    listed = jitchat("--help").out.split("Commands:\n")[1].split("\n\n")[0]

    assert re.findall(r"^  (\w+) ", listed, re.MULTILINE) == NAMES


@pytest.mark.parametrize("name", [None, *NAMES])
def test_every_option_and_command_is_explained(name: str | None):
    context = click.Context(commands)
    command = commands.get_command(context, name) if name else commands
    assert command

    assert command.get_short_help_str(limit=70).endswith(".")
    for parameter in command.get_params(context):
        if isinstance(parameter, click.Option):
            assert parameter.help
            assert parameter.help.endswith(".")


def test_a_commands_line_in_the_help_is_the_first_sentence_of_its_own_help(jitchat: Shell):
    listed = " ".join(jitchat("--help").out.split())
    context = click.Context(commands)
    for name in NAMES:
        command = commands.get_command(context, name)
        assert command
        assert f" {name} {command.get_short_help_str(200)}" in listed


@pytest.mark.parametrize("name", ["send", "window", "import"])
def test_a_commands_own_options_come_before_the_shared_ones(jitchat: Shell, name: str):
    text = jitchat(name, "--help").out
    own, shared = text.split("\nSettings:\n")

    assert "--help" in own
    assert "--db FILE" in shared
    assert [line for line in text.splitlines() if len(line) > 80] == []


@pytest.mark.parametrize("name", ["conversations", "paths"])
def test_a_command_that_needs_no_settings_offers_none(jitchat: Shell, name: str):
    assert "--mode" not in jitchat(name, "--help").out


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["windw", "hi"], "No such command 'windw'"),
        (["window"], "Missing argument 'TEXT'"),
        (["window", "hi", "--bugdet", "5"], "No such option"),
        (["--limit", "many"], "--limit"),
    ],
)
def test_a_mistyped_command_is_reported_with_its_usage(
    jitchat: Shell, arguments: list[str], told: str
):
    done = jitchat(*arguments)

    assert done.code == 2
    assert done.out == ""
    assert done.err.startswith("Usage: ")
    assert "--help' for help." in done.err
    assert told in done.err.splitlines()[-1]


def test_an_unknown_mode_is_reported_with_the_choices_and_the_nearest(jitchat: Shell):
    done = jitchat("window", "hi", "--mode", "jitt")

    assert done.code == 2
    assert done.err == (
        "jitchat: --mode: chat.mode cannot be 'jitt'."
        " Use full, recency, jit, observe or document. Did you mean 'jit'?\n"
    )


def test_without_a_command_the_chat_opens(jitchat: Shell, monkeypatch: pytest.MonkeyPatch):
    opened: list[tuple[object, object]] = []

    def run_chat(flags: object) -> int:
        opened.append((flags.given, flags.conversation))
        return 7

    monkeypatch.setitem(sys.modules, "jitchat.cli.chat", SimpleNamespace(run_chat=run_chat))

    done = jitchat("--mode", "full", "--conversation", "demo")

    assert (done.code, done.err) == (7, "")
    assert opened == [({"chat.mode": "full"}, "demo")]
