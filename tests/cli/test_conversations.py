"""`jitchat conversations`: the list, for people and for programs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Shell
from tests.transfer.files import plain_turns, written


@pytest.fixture
def two(jitchat: Shell, tmp_path: Path) -> Shell:
    for name, count in (("first", 2), ("second talk", 1_200)):
        path = written(tmp_path, f"{name}.json", plain_turns(count))
        assert jitchat("import", path).code == 0
    return jitchat


def test_none_is_said_in_words_and_as_an_empty_list(jitchat: Shell):
    assert "There are no conversations yet." in jitchat("conversations").out
    assert jitchat("conversations", "--json").json == []


def test_the_one_touched_last_comes_first(two: Shell):
    first, second = two("conversations").out.splitlines()

    assert first.startswith("second-talk  1,200 turns  ")
    assert first.endswith("  second talk")
    assert second.startswith("first            2 turns  ")


def test_json_has_every_conversation_with_its_times(two: Shell):
    found = two("conversations", "--json").json

    assert [list(each) for each in found] == [
        ["id", "title", "turns", "created_at", "updated_at"]
    ] * 2
    assert [(each["id"], each["title"], each["turns"]) for each in found] == [
        ("second-talk", "second talk", 1_200),
        ("first", "first", 2),
    ]
    assert all(each["created_at"].endswith("+00:00") for each in found)


def test_a_file_that_is_no_database_is_told_and_left_as_it_is(jitchat: Shell, tmp_path: Path):
    path = written(tmp_path, "not.db", "this is no database, but somebody's notes" * 100)

    done = jitchat("conversations", "--db", path)

    assert done.code == 1
    assert done.err.startswith(f"jitchat: The database {path} ")
    assert path.read_text().startswith("this is no database")


def test_the_database_is_closed_when_a_command_ends(two: Shell):
    two("conversations")

    assert [path.name for path in two.home.iterdir()] == ["jitchat.db"]
