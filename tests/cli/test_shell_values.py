"""A completed value, inserted into the command line as it is, makes no shell run anything."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import click
import pytest
from click.shell_completion import get_completion_class

from jitchat.cli import commands
from jitchat.errors import UsageError
from jitchat.store.database import Database
from jitchat.store.store import ColdStore, project_name, tag_name

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Shell

Ran = subprocess.CompletedProcess[str]
HOSTILE = (
    "pr$(touch PWN)", "pr`touch PWN`", "pr;touch PWN", "pr&touch PWN", "pr|touch PWN",
    "pr\ntouch PWN", "pr && touch PWN", "pr'$(touch PWN)'", 'pr"$(touch PWN)"', "pr\\$(touch PWN)",
    "pr${IFS}touch${IFS}PWN", "pr<(touch PWN)", "pr>PWN", "pr>(touch PWN)", "pr!touch", "pr*", "~",
    "-pr", "pr (a)", "pr{a,b}", "#pr", "=ls", "%1", "pr\ttouch PWN", "pr\rtouch PWN", "pr\x1b[A",
    "file,x", "plain", "pr^touch", "pr[a-z]", "pr?", "pr one", "prüfung", "pr.one-2",
)  # fmt: skip
PLAIN = {"plain", "prüfung", "pr.one-2"}


def fill(home: Path) -> None:
    """A store whose projects and ids have hostile names, as an older version may have kept them."""
    database = Database(home / "jitchat.db")
    store = ColdStore(database)
    for name in HOSTILE:
        made = store.create("A title $(touch PWN)")
        with database.write() as connection:
            change = "UPDATE conversations SET project = ?, id = ? WHERE id = ?"
            connection.execute(change, (name, f"{name}", made.id))
    database.close()


def completed() -> list[tuple[str, click.Parameter, click.Command]]:
    """(words before the value, parameter, command) of everything that completes our own values."""
    listed = []

    def walk(command: click.Command, words: tuple[str, ...]) -> None:
        for parameter in command.params:
            if getattr(parameter, "_custom_shell_complete", None) is not None:
                option = parameter.opts[0] if isinstance(parameter, click.Option) else ""
                listed.append((" ".join(filter(None, (*words, option))), parameter, command))
        for name in command.list_commands(click.Context(command)) if is_group(command) else ():
            walk(command.get_command(click.Context(command), name), (*words, name))

    def is_group(command: click.Command) -> bool:
        return isinstance(command, click.Group)

    walk(commands, ("jitchat",))
    return listed


def run(shell: str, typed: str, folder: Path, environ: dict[str, str] | None = None) -> Ran:
    return subprocess.run(
        [shell], input=typed, capture_output=True, text=True, cwd=folder, env=environ, check=False
    )


def test_each_kind_of_value_has_hostile_names_or_fixed_ones(home: Path):
    fill(home)

    kinds = {id(parameter._custom_shell_complete) for _, parameter, _ in completed()}  # type: ignore[attr-defined]
    offered = {
        item.value
        for _, parameter, command in completed()
        for item in parameter.shell_complete(click.Context(command), "")
    }

    assert len(completed()) > 20
    assert len(kinds) > 4
    assert offered >= PLAIN
    assert not offered & (set(HOSTILE) - PLAIN)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
@pytest.mark.parametrize("quote", ["", '"', "'"])
def test_no_shell_runs_anything_of_a_completed_value(
    home: Path, tmp_path: Path, shell: str, quote: str
):
    if (program := shutil.which(shell)) is None:
        pytest.skip(f"{shell} is not installed")
    fill(home)
    values = {
        item.value
        for _, parameter, command in completed()
        for item in parameter.shell_complete(click.Context(command), "")
    }
    (folder := tmp_path / "here").mkdir()
    lines = [f"printf '%s\\n' {quote}{value}{quote}" for value in sorted(values)]

    ran = run(program, "\n".join(lines), folder)

    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.splitlines() == sorted(values)
    assert not list(folder.iterdir())


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
@pytest.mark.parametrize("words", ["jitchat send hi --project pr", 'jitchat send hi --project "pr'])
def test_bash_itself_inserts_only_plain_names(home: Path, tmp_path: Path, words: str):
    fill(home)
    (folder := tmp_path / "here").mkdir()
    script = get_completion_class("bash")(commands, {}, "jitchat", "_JITCHAT_COMPLETE").source()
    (folder / "jitchat").write_text(f'#!/bin/sh\nexec {sys.executable} -m jitchat "$@"\n')
    (folder / "jitchat").chmod(0o755)
    words_of = "".join(f" {word!r}" for word in words.split())
    count = len(words.split()) - 1
    typed = (
        f"{script}\nCOMP_WORDS=({words_of})\nCOMP_CWORD={count}\n_jitchat_completion jitchat\n"
        'for value in "${COMPREPLY[@]}"; do eval "printf \'%s\\n\' $value"; done\n'
    )
    environ = os.environ | {"PATH": f"{folder}:{os.environ['PATH']}", "JITCHAT_HOME": str(home)}

    ran = run("bash", typed, folder, environ)

    assert set(ran.stdout.split()) == {"prüfung", "pr.one-2"}, ran.stderr
    assert [path.name for path in folder.iterdir()] == ["jitchat"]


@pytest.mark.parametrize("name", ["pr$(x)", "pr`x`", 'a"b', "a\\b"])
def test_names_that_a_shell_obeys_in_quotes_are_refused(name: str):
    with pytest.raises(UsageError) as project:
        project_name(name)
    with pytest.raises(UsageError) as tag:
        tag_name(name)
    assert "none of them $" in project.value.remedy
    assert "none of them $" in tag.value.remedy


def test_names_are_restricted_on_import(jitchat: Shell, demo: None, tmp_path: Path):
    export = jitchat("export", "--conversation", "demo", "--format", "json").json
    talk = {"id": "pr$(touch PWN)", "project": "pr$(touch PWN)", "tags": ["a`b`"]}
    export["conversations"] = [{**export["conversations"][0], **talk}]
    (file := tmp_path / "export.json").write_text(json.dumps(export))

    imported = jitchat("import", file)

    assert imported.code == 0, imported.err
    listed = jitchat("conversations", "--json").json
    (found,) = [each for each in listed if each["id"] != "demo"]
    assert found["project"] == "pr_(touch PWN)"
    assert found["tags"] == ["a_b_"]
    assert not {*found["id"]} & {*"$`();&| "}
