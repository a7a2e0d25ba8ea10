"""Storing: all of a file or nothing, and never less than was read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from jitchat.errors import StoreFull
from jitchat.transfer.formats import (
    DEMO_ID,
    DEMO_TITLE,
    read_file,
    store_all,
    store_demo,
    store_found,
)
from jitchat.transfer.plain import read_plain
from jitchat.transfer.report import ConversationBuilder
from jitchat.values import Role
from tests.transfer.files import locomo_sample, plain_turns, written

if TYPE_CHECKING:
    from pathlib import Path

    from jitchat.store.store import ColdStore


def test_what_was_read_is_what_is_stored(store: ColdStore):
    (found,) = read_plain(plain_turns(5), "talk")

    made = store_found(store, found)

    assert (made.id, made.title, made.turns) == ("talk", "talk", 5)
    assert tuple(store.turns("talk")) == found.turns


def test_the_same_file_again_becomes_a_conversation_of_its_own(store: ColdStore):
    (found,) = read_plain(plain_turns(2), "talk")

    assert [store_found(store, found).id for _ in range(3)] == ["talk", "talk-2", "talk-3"]
    assert all(each.turns == 2 for each in store.conversations())


def test_conversations_without_turns_are_not_stored(store: ColdStore):
    empty, full = ConversationBuilder(), ConversationBuilder()
    full.take(Role.USER, "hello", None, None)

    stored = store_all(store, [empty.found("empty", "Empty"), full.found("full", "Full")])

    assert [made.id if made else None for _, made in stored] == [None, "full"]
    assert [each.id for each in store.conversations()] == ["full"]


def test_where_one_conversation_fails_none_is_stored(tmp_path: Path, store: ColdStore):
    path = written(tmp_path, "f.json", [locomo_sample("one"), locomo_sample("two")])
    found = read_file(path)
    with store.database.read() as connection:
        connection.execute(
            "CREATE TEMP TRIGGER full BEFORE INSERT ON turns WHEN new.conversation"
            " = 'two' BEGIN SELECT RAISE(ABORT, 'no'); END"
        )

    with pytest.raises(Exception, match="no"):
        store_all(store, found)

    assert store.conversations() == []


def test_a_full_disk_is_told_and_leaves_nothing(store: ColdStore):
    (found,) = read_plain(plain_turns(3_000), "talk")
    with store.database.read() as connection:
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count = {pages + 4}")

    with pytest.raises(StoreFull):
        store_all(store, [found])

    assert store.conversations() == []


def test_the_demo_is_a_talk_of_sixty_turns(store: ColdStore):
    made = store_demo(store)

    assert (made.id, made.title, made.turns) == (DEMO_ID, DEMO_TITLE, 60)
    turns = store.turns(made.id)
    assert {turn.role for turn in turns} == {Role.USER, Role.ASSISTANT}
    assert all(turn.created_at for turn in turns)
