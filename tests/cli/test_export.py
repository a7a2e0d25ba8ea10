"""`jitchat export`: which conversations, to which file; a failure leaves no partial file."""

from __future__ import annotations

import json
import stat
from typing import TYPE_CHECKING

import pytest

from jitchat.transfer.exports import EXPORTS
from tests.transfer.files import plain_turns, written

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Shell


@pytest.fixture
def two(jitchat: Shell, tmp_path: Path) -> None:
    for name in ("first", "second"):
        jitchat("import", written(tmp_path, f"{name}.json", plain_turns(3)), "--no-index")


@pytest.mark.usefixtures("two")
def test_the_most_recent_conversation_goes_to_standard_output(jitchat: Shell):
    done = jitchat("export")

    assert done.code == 0
    assert done.out.startswith("# second\n")
    assert "This is message number 2 about the harbour." in done.out
    assert done.err == ""


@pytest.mark.usefixtures("two")
@pytest.mark.parametrize(
    ("arguments", "ids"),
    [
        (["--conversation", "first"], ["first"]),
        (["--conversation", "first", "--conversation", "second"], ["first", "second"]),
        (["--conversation", "first", "--conversation", "first"], ["first"]),
        (["--all"], ["first", "second"]),
    ],
)
def test_one_some_or_all_are_exported(jitchat: Shell, arguments: list[str], ids: list[str]):
    done = jitchat("export", *arguments, "--format", "json")

    assert [each["id"] for each in done.json["conversations"]] == ids


@pytest.mark.usefixtures("two")
@pytest.mark.parametrize("name", list(EXPORTS))
def test_a_file_is_private_and_replaces_another_only_when_complete(
    jitchat: Shell, tmp_path: Path, name: str
):
    out = written(tmp_path, "out", "before")

    done = jitchat("export", "--all", "--format", name, "--out", out)

    assert done.out == ""
    assert done.err == f"2 conversations exported to {out}.\n"
    assert "This is message number 2" in out.read_text()
    assert stat.S_IMODE(out.stat().st_mode) == 0o600
    assert not out.with_name("out.part").exists()


@pytest.mark.usefixtures("two")
def test_an_export_is_imported_into_an_empty_store_and_is_nothing_new_in_its_own(
    jitchat: Shell, tmp_path: Path
):
    out = tmp_path / "all.json"
    jitchat("export", "--all", "--format", "json", "--out", out)

    back = jitchat("import", out)
    other = jitchat("import", out, "--db", tmp_path / "other.db", "--no-index")

    assert back.out.count("nothing new") == 2
    assert other.out.count("3 turns imported as") == 2


def test_without_a_conversation_there_is_nothing_to_export(jitchat: Shell):
    done = jitchat("export")

    assert (done.code, done.out) == (2, "")
    assert done.err == "jitchat: There are no conversations. Start a chat, or import some.\n"


@pytest.mark.usefixtures("two")
def test_two_choices_are_refused(jitchat: Shell):
    done = jitchat("export", "--all", "--conversation", "first")

    assert done.code == 2
    assert "--all and --conversation cannot be combined." in done.err


@pytest.mark.usefixtures("two")
def test_an_unwritable_place_is_reported(jitchat: Shell, tmp_path: Path):
    done = jitchat("export", "--out", tmp_path / "none" / "out.md")

    assert done.code == 1
    assert "cannot be written" in done.err


@pytest.mark.usefixtures("two")
def test_jsonl_has_one_line_per_conversation(jitchat: Shell):
    lines = jitchat("export", "--all", "--format", "jsonl").out.splitlines()

    assert [len(json.loads(line)["messages"]) for line in lines] == [3, 3]
