"""What the README says is so: commands, images, flags, keys and settings."""

from __future__ import annotations

import re
import tomllib

import click
import pytest

from jitchat.cli import commands
from jitchat.settings.values import all_keys
from jitchat.tui.keys import ACTIONS
from tests.support import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
CODE = re.findall(r"```(\w*)\n(.*?)```", README, re.DOTALL)
SHELL = [line for kind, block in CODE if kind == "sh" for line in block.splitlines() if line]


def test_two_commands_stand_on_the_first_screen_and_do_all_of_their_set_up() -> None:
    first_screen = README[: README.index("## The first minute")]
    lines = [line for line in first_screen.splitlines() if line.startswith("python3 -m venv")]
    assert [line.rpartition("/")[2] for line in lines] == ["jitchat", "pytest"]
    assert all("pip install" in line for line in lines)
    assert "uv run jitchat" in first_screen
    assert "uv run pytest" in first_screen


@pytest.mark.parametrize("image", re.findall(r"\]\((screenshots/[^)]+)\)", README))
def test_every_image_is_there(image: str) -> None:
    assert (ROOT / image).is_file()


def _options(command: click.Command) -> set[str]:
    return {name for each in command.params for name in (*each.opts, *each.secondary_opts)}


@pytest.mark.parametrize(
    "line", [line for line in SHELL if "jitchat " in line and "pip" not in line]
)
def test_every_command_has_the_flags_that_it_is_shown_with(line: str) -> None:
    words = line.partition("#")[0].partition("jitchat ")[2].split()
    command: click.Command = commands
    for word in words:
        if isinstance(command, click.Group) and word in command.commands:
            command = command.commands[word]
    known = _options(command) | _options(commands)
    assert {word for word in words if word.startswith("--")} <= known


def test_the_settings_that_are_shown_exist() -> None:
    documents = [tomllib.loads(block) for kind, block in CODE if kind == "toml"]
    assert documents
    shown = {f"{s}.{k}" for document in documents for s, keys in document.items() for k in keys}
    assert shown <= set(all_keys())


def test_the_keys_that_are_listed_are_the_keys_that_work() -> None:
    table = README[README.index("## Keys") : README.index("## How fast")].lower()
    for action in ACTIONS:
        if action.id != "cancel":
            assert action.keys.split(",")[0] in table, action.id


def test_the_changelog_tells_of_what_is_to_come() -> None:
    assert "## [Unreleased]" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
