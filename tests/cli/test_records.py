"""Records of a command: aligned columns in text, selected attributes in JSON."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from types import MappingProxyType
from typing import TYPE_CHECKING

import click
import pytest
from click.testing import CliRunner

from jitchat.cli import output
from jitchat.cli.options import Flags, ListingGroup, SharingCommand
from jitchat.errors import UsageError, reported
from jitchat.statements import DocumentLine, Section, Source

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

LINE = DocumentLine(Section.FACTS, "Mira is a cat.", Source(3, 5, "chat-1"))
MOMENT = datetime(2026, 3, 2, 9, 14, tzinfo=UTC)


def test_attributes_are_selected_by_name_and_those_of_none_are_none():
    selected = output.json_fields(LINE, "text pinned=is_pinned turn=source.first was=replaced.text")

    assert selected == {"text": "Mira is a cat.", "pinned": False, "turn": 3, "was": None}
    assert output.json_fields(None, "id turn=source.first") == {"id": None, "turn": None}
    with pytest.raises(AttributeError):
        output.json_fields(LINE, "txt")


def test_dates_and_dataclasses_are_printed_as_json(capsys: pytest.CaptureFixture[str]):
    output.say_json({"at": MOMENT, "on": MOMENT.date(), "source": LINE.source})

    assert json.loads(capsys.readouterr().out) == {
        "at": "2026-03-02T09:14:00+00:00",
        "on": "2026-03-02",
        "source": {"first": 3, "last": 5, "conversation": "chat-1"},
    }
    with pytest.raises(TypeError):
        output.say_json(object())


@pytest.mark.parametrize(
    ("rows", "right", "lines"),
    [
        ([("a", "1"), ("bcd", "22")], (1,), ["a     1", "bcd  22"]),
        ([("日本", "x"), ("abcde", "y")], (), ["日本   x", "abcde  y"]),
        ([("", "x"), ("a", "")], (), ["   x", "a"]),
    ],
)
def test_columns_are_aligned_by_the_cells_of_a_terminal(
    rows: Sequence[Sequence[str]], right: Sequence[int], lines: Sequence[str]
):
    assert output.columns(rows, right) == lines


@pytest.mark.parametrize(
    ("width", "line"),
    [
        (None, f"a  {'why ' * 10}  {'text ' * 20}".rstrip()),
        (60, "a  why why why why why why wh…  text text text text text te…"),
        (20, "a  why why why…"),
    ],
)
def test_the_last_two_columns_are_cut_to_fit_a_terminal(
    monkeypatch: pytest.MonkeyPatch, width: int | None, line: str
):
    monkeypatch.setattr(output, "terminal_width", lambda: width)

    assert output.columns([("a", "why " * 10, "text " * 20)], cut=True) == [line]


def test_a_command_has_the_usual_options_that_its_function_takes(tmp_path: object):
    @click.group("records", cls=ListingGroup)
    def group(**_: object) -> None:
        """Records."""

    @group.command("list")
    def list_command(flags: Flags, as_json: bool = False) -> None:
        """List records."""
        click.echo(f"{flags.database} {as_json}")

    @group.command("plain")
    def plain_command() -> None:
        """Take no option."""

    def run(*arguments: str) -> str:
        return CliRunner().invoke(group, arguments).output

    assert isinstance(list_command, SharingCommand)
    assert run() == run("list") == "None False\n"
    assert run("list", "--json", "--db", f"{tmp_path}/x.db") == f"{tmp_path}/x.db True\n"
    assert "No such option" in run("plain", "--json")
    assert "Settings:" in run("list", "--help")


def test_what_a_command_found_is_told_as_json_or_as_text(capsys: pytest.CaptureFixture[str]):
    def told(text: str | Callable[[], object], *, as_json: bool = False) -> str:
        output.tell({"through": MappingProxyType({"a": 1})}, text, as_json=as_json)
        return capsys.readouterr().out

    assert json.loads(told("Found.", as_json=True)) == {"through": {"a": 1}}
    assert told("Found.") == "Found.\n"
    assert told(lambda: output.say("Found, too.")) == "Found, too.\n"
    assert told("") == ""


def test_records_are_described_by_the_names_of_their_attributes(
    capsys: pytest.CaptureFixture[str],
):
    def printed(*records: DocumentLine, as_json: bool) -> str:
        names = "text turn=source.first"
        output.print_records(
            records, names, lambda line: (line.text, "x"), as_json=as_json, none="None."
        )
        return capsys.readouterr().out

    assert json.loads(printed(LINE, as_json=True)) == [{"text": "Mira is a cat.", "turn": 3}]
    assert printed(LINE, as_json=False) == "Mira is a cat.  x\n"
    assert printed(as_json=False) == "None.\n"
    assert printed(as_json=True) == "[]\n"


def test_a_failure_of_a_file_is_reported_with_its_reason_and_a_remedy(tmp_path: Path):
    with (
        pytest.raises(UsageError, match=r"x cannot be read: No such file .*\. Name another\."),
        reported(UsageError, "x cannot be read", "Name another."),
    ):
        (tmp_path / "x").read_bytes()
