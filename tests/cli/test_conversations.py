"""`jitchat conversations`: as a list to read and as JSON."""

from __future__ import annotations

import shutil
import sqlite3
import stat
import sys
import time
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from jitchat.cli import commands
from jitchat.store import search_index
from tests.transfer.files import plain_turns, written

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Shell
    from tests.support import ScriptedProvider


@pytest.fixture(scope="module")
def two_imported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cold store with two conversations, to be copied."""
    folder = tmp_path_factory.mktemp("two")
    runner = CliRunner(env={"JITCHAT_HOME": str(folder), "JITCHAT_EMBEDDER_NAME": "none"})
    for name, count in (("first", 2), ("second talk", 1_200)):
        path = written(folder, f"{name}.json", plain_turns(count))
        done = runner.invoke(commands, ["import", str(path)])
        assert done.exit_code == 0, done.output
    return folder / "jitchat.db"


@pytest.fixture
def two(jitchat: Shell, two_imported: Path) -> Shell:
    jitchat.home.mkdir()
    shutil.copy(two_imported, jitchat.home)
    return jitchat


def test_no_conversations_are_a_sentence_and_an_empty_list(jitchat: Shell):
    assert "No conversations yet." in jitchat("conversations").err
    assert jitchat("conversations", "--json").json == []


def test_the_most_recent_conversation_comes_first(two: Shell):
    first, second = two("conversations").out.splitlines()

    assert first.startswith("second-talk  1,200 turns  ")
    assert first.endswith("  second talk")
    assert second.startswith("first            2 turns  ")


def test_json_has_every_conversation_with_its_times(two: Shell):
    found = two("conversations", "--json").json

    assert [list(each) for each in found] == [
        [
            *("id", "title", "project", "temporary", "archived", "tags", "persona"),
            *("turns", "created_at", "updated_at", "cost", "cost_unknown"),
        ]
    ] * 2
    assert [(each["cost"], each["cost_unknown"]) for each in found] == [(0.0, 0)] * 2
    assert [(each["id"], each["title"], each["turns"]) for each in found] == [
        ("second-talk", "second talk", 1_200),
        ("first", "first", 2),
    ]
    assert all(each["created_at"].endswith("+00:00") for each in found)


def test_a_conversation_is_renamed_tagged_archived_and_found_by_filters(two: Shell):
    assert two("conversations", "rename", "first", " A better\ntitle ").out == (
        "first was renamed: A better title\n"
    )
    assert two("conversations", "tag", "first", "#Work", "urgent", "--json").json["tags"] == [
        *("urgent", "work"),
    ]
    two("conversations", "tag", "first", "urgent", "--remove")
    (line,) = two("conversations", "list", "tag:work", "better").out.splitlines()
    assert line.endswith("A better title #work")

    two("conversations", "archive", "first")
    listed = [each["id"] for each in two("conversations", "--json").json]
    archived = [each["id"] for each in two("conversations", "list", "is:archived", "--json").json]
    assert (listed, archived) == (["second-talk"], ["first"])
    assert two("conversations", "archive", "A better title", "--undo").code == 0
    assert len(two("conversations", "--json").json) == 2
    assert two("conversations", "tag", "first", "two words").code == 2
    assert two("conversations", "rename", "first", " ").code == 2


def test_filters_alone_list_and_a_match_beside_the_turns_says_where_it_is(two: Shell):
    two("conversations", "tag", "first", "walrus")
    assert two("conversations", "search", "tag:walrus").out.startswith("first  2 turns")
    assert two("conversations", "search", "walrus").out == "first (tag)  walrus\n"
    (hit,) = two("conversations", "search", "walrus", "--json").json
    assert (hit["conversation"], hit["position"], hit["part"]) == ("first", 0, "tag")


def test_a_search_and_doctor_say_that_the_index_is_being_built(
    two: Shell, monkeypatch: pytest.MonkeyPatch
):
    with closing(sqlite3.connect(two.home / "jitchat.db")) as connection, connection:
        connection.execute("INSERT INTO search_tokens (search_tokens) VALUES ('delete-all')")
        connection.execute("INSERT INTO search_backlog VALUES (1, 1202)")
    monkeypatch.setattr(search_index, "finish_in_background", lambda _: None)
    found = two("conversations", "search", "second")
    assert "being built, with 1,202 turns still to come" in found.err
    assert (
        len(two("conversations", "search", "harbour", "--limit", "2000").out.splitlines()) == 1_202
    )
    assert "with 1,202 turns to be indexed for the search" in two("doctor").out
    monkeypatch.undo()
    while "to be indexed" in two("doctor").out:
        assert two("conversations").code == 0


def test_turns_are_found_with_the_match_highlighted(two: Shell):
    wanted = ("conversations", "search", "project:def", "harbours")
    (first, *_) = two(*wanted, "after:2026-03-02", "before:2026-04", "number", "7", "--json").json
    assert (first["conversation"], first["position"]) == ("second-talk", 8)
    marked = [first["excerpt"][start:end] for start, end in first["marks"]]
    assert marked == ["number", "7", "harbour"]
    in_one_word = " ".join(wanted[2:]) + ' after:2026-03-02 before:"1 day ago" number 7'
    assert two("conversations", "search", in_one_word, "--json").json[0] == first
    for filtered in ("before:2026-03-02", "is:archived", "tag:work", "model:gpt"):
        assert two(*wanted, filtered).err == "Nothing found.\n"
    assert two("conversations", "search").code == 2
    refused = two("conversations", "list", "before:2026-13")
    assert (refused.code, refused.out) == (2, "")
    assert "“before:2026-13” is not a date." in refused.err
    assert two("conversations", "list", "after:2026-04").err == "No matching conversations.\n"


def test_a_conversation_is_deleted_or_erased_only_after_a_yes(two: Shell):
    refused = two("conversations", "delete", "first")
    assert (refused.code, "Use --yes" in refused.err) == (2, True)
    assert two("conversations", "delete", "first", "--yes").out == "first was deleted: first\n"
    done = two("conversations", "delete", "second talk", "--yes", "--erase", "--json").json
    assert done == {"id": "second-talk", "deleted": True, "erased": True}
    assert two("conversations", "--json").json == []
    assert b"harbour" not in (two.home / "jitchat.db").read_bytes()
    assert two("conversations", "delete", "first", "--yes").code == 2
    assert "jitchat.db was rewritten: " in two("conversations", "vacuum").out
    assert set(two("conversations", "vacuum", "--json").json) == {"bytes", "bytes_before"}


def test_a_file_that_is_not_a_database_is_reported_and_unchanged(jitchat: Shell, tmp_path: Path):
    path = written(tmp_path, "not.db", "this is no database, but somebody's notes" * 100)

    done = jitchat("conversations", "--db", path)

    assert done.code == 1
    assert done.err.startswith(f"jitchat: The database {path} ")
    assert path.read_text().startswith("this is no database")


def test_the_database_is_closed_when_a_command_ends(two: Shell):
    two("conversations")

    assert [path.name for path in two.home.iterdir()] == ["jitchat.db"]


def test_json_has_the_totals_sent_and_counts_requests_of_unknown_cost(
    two: Shell, scripted: ScriptedProvider
):
    local = ("--provider", "vllm", "--base-url", "http://localhost:9/v1")
    cloud = ("--base-url", "https://llm.example/v1")
    for where in (local, cloud, cloud):
        assert two("send", "hello", "--conversation", "first", "--model", "m", *where).code == 0

    found = {each["id"]: each for each in two("conversations", "--json").json}

    assert (found["first"]["cost"], found["first"]["cost_unknown"]) == (0.0, 2)
    assert (found["second-talk"]["cost"], found["second-talk"]["cost_unknown"]) == (0.0, 0)


def test_json_has_the_cost_of_a_model_whose_price_is_known(two: Shell, scripted: ScriptedProvider):
    two("send", "hello", "--conversation", "first", "--model", "gpt-5-mini")

    (first,) = (each for each in two("conversations", "--json").json if each["id"] == "first")

    assert first["cost"] == pytest.approx((100 * 0.25 + 10 * 2.0) / 1e6)
    assert first["cost_unknown"] == 0


@pytest.mark.skipif(sys.platform == "win32", reason="needs permission bits")
def test_a_database_readable_by_others_is_reported_and_unchanged(jitchat: Shell, demo: object):
    path = jitchat.home / "jitchat.db"
    path.chmod(0o644)
    told = f"Others can read the conversations in {path} (0644). Run chmod 600 on it."
    done = jitchat("conversations", "--json")
    assert done.json
    assert done.err == f"jitchat: {told}\n"
    assert told in jitchat("doctor").out
    assert stat.S_IMODE(path.stat().st_mode) == 0o644
    path.chmod(0o600)
    assert jitchat("conversations").err == ""


@pytest.mark.skipif(not hasattr(time, "tzset"), reason="needs a settable zone")
def test_an_invalid_time_zone_is_treated_as_utc(
    jitchat: Shell, demo: object, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("TZ", "UTC-25")
    time.tzset()
    try:
        assert jitchat("send", "hello", "--provider", "reader").code == 0
        done = jitchat("conversations")
    finally:
        monkeypatch.setenv("TZ", "UTC")
        time.tzset()
    assert (done.code, done.err) == (0, "")
