"""`jitchat document`, and `jitchat send --end`, which writes the document."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click
import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Shell

pytestmark = pytest.mark.usefixtures("demo", "scripted")
PORT = "The gateway's port is 8443."


def document(jitchat: Shell, *words: object) -> dict[str, object]:
    done = jitchat("document", *words, "--json")
    assert done.code == 0, done.err
    return json.loads(done.out)


def lines(jitchat: Shell, *words: object) -> list[str]:
    return [line["text"] for line in document(jitchat, *words)["lines"]]


def test_three_operations_are_reported_at_the_end_and_nothing_is_written_before(jitchat: Shell):
    assert jitchat("send", PORT, "--conversation", "demo", "--mode", "document").err == ""
    assert lines(jitchat) == []
    assert "is empty" in jitchat("document").out
    done = jitchat("send", "Thanks.", "--conversation", "demo", "--mode", "document", "--end")
    assert "memory document: version 1" in done.err
    assert "3 store operations" in done.err
    assert PORT in lines(jitchat)
    shown = jitchat("document").out
    assert "version 1 · " in shown
    assert "(demo #61)" in shown


def test_the_log_has_a_line_for_the_session_without_its_text(jitchat: Shell, home: Path):
    jitchat("send", PORT, "--end", "--conversation", "demo")
    (log,) = home.rglob("log.txt")
    (line,) = log.read_text().splitlines()
    assert "context_only=true" in line
    assert "store_operations=3" in line
    assert "8443" not in line
    assert log.stat().st_mode & 0o777 == 0o600


def test_lines_are_pinned_forgotten_and_brought_back_in_versions(jitchat: Shell):
    jitchat("send", PORT, "--end", "--conversation", "demo")
    number = lines(jitchat).index(PORT) + 1
    assert "Version 2 is now the current one." in jitchat("document", "--pin", number).err
    assert document(jitchat)["lines"][number - 1]["pinned"]
    jitchat("document", "--forget", number)
    assert PORT not in lines(jitchat)
    assert PORT in lines(jitchat, "--version", 2)
    assert f"- Facts: {PORT}" in jitchat("document", "--diff", 2, 3).out
    jitchat("document", "--undo")
    assert PORT in lines(jitchat)
    listed = jitchat("document", "--versions").out
    assert [line.split()[0] for line in listed.splitlines()] == ["1", "2", "3", "4"]
    assert "undo: restored version 2" in listed


def test_the_document_is_edited_as_text(jitchat: Shell, monkeypatch: pytest.MonkeyPatch):
    jitchat("send", PORT, "--end", "--conversation", "demo")
    monkeypatch.setattr(click, "edit", lambda text, **_: text.replace("8443", "9641"))
    jitchat("document", "--edit")
    assert any("9641" in text for text in lines(jitchat))
    monkeypatch.setattr(click, "edit", lambda *_, **__: None)
    jitchat("document", "--edit")
    assert document(jitchat)["version"] == 2


def test_missing_lines_and_versions_are_reported(jitchat: Shell):
    for words in (["--version", 3], ["--forget", 3], ["--undo"], ["--pin", 1, "--undo"]):
        done = jitchat("document", *words)
        assert done.code == 2
        assert done.err.startswith("jitchat: ")


def test_projects_have_documents_of_their_own(jitchat: Shell):
    jitchat("send", PORT, "--end", "--conversation", "demo")
    assert lines(jitchat, "--project", "other") == []
