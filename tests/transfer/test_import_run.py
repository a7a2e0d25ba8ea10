"""Storing imports: each conversation completely or not at all, and none twice."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from jitchat.errors import StoreFull
from jitchat.store.deletion import delete_conversation, hide
from jitchat.transfer.demo import DEMO_ID, DEMO_TITLE, store_demo
from jitchat.transfer.formats import conversations_of, store_found
from jitchat.transfer.import_run import DELETED, require_turns, take_all, without_deleted
from jitchat.transfer.plain import read_plain
from jitchat.transfer.source import open_source
from jitchat.values import Role, Turn
from tests.transfer.exports import chatgpt_talk
from tests.transfer.files import jsonl, locomo_sample, plain_turns, take, written

if TYPE_CHECKING:
    from pathlib import Path

    from jitchat.store.store import ColdStore


def test_a_conversation_is_stored_as_it_was_read(store: ColdStore):
    (found,) = read_plain(plain_turns(5), "talk")

    made = store_found(store, found)

    assert (made.id, made.title, made.turns) == ("talk", "talk", 5)
    assert tuple(store.turns("talk")) == found.turns


def test_a_conversation_stored_again_gets_a_new_id(store: ColdStore):
    (found,) = read_plain(plain_turns(2), "talk")

    assert [store_found(store, found).id for _ in range(3)] == ["talk", "talk-2", "talk-3"]
    assert all(each.turns == 2 for each in store.conversations())


def test_conversations_without_turns_are_not_stored(tmp_path: Path, store: ColdStore):
    empty = locomo_sample("empty", session_1=[], session_2=[], session_10=[])

    taken = take(store, written(tmp_path, "f.json", [empty, locomo_sample("full")]))

    assert [(each.wanted_id, each.id) for each in taken] == [("empty", ""), ("full", "full")]
    assert [each.id for each in store.conversations()] == ["full"]


def test_an_imported_conversation_that_was_deleted_stays_deleted(tmp_path: Path, store: ColdStore):
    value = [chatgpt_talk(conversation_id=name) for name in ("kept", "hidden", "deleted")]
    path = written(tmp_path, "c.json", value)
    kept, hidden, deleted = (each.id for each in take(store, path))
    hide(store, hidden)
    delete_conversation(store, deleted)

    def run(*, again: bool) -> tuple[list[str], dict[str, int]]:
        source = open_source(path)
        found = require_turns(conversations_of(source), source)
        wanted = found if again else without_deleted(store, found, source)
        taken = list(take_all(store, wanted, source))
        return [each.id for each in taken], dict(source.tally.skipped)

    assert run(again=False) == ([kept], {DELETED: 2})
    assert [each.id for each in store.conversations()] == [kept]
    assert store.database.fetch_all("SELECT length(origin) FROM deleted_imports") == [(16,)]
    assert run(again=True)[0] == [kept, hidden, deleted]
    assert len(store.conversations()) == 3
    assert run(again=False)[1] == {}


def test_turns_are_stored_as_read_and_only_once(tmp_path: Path, store: ColdStore):
    path = written(tmp_path, "talk.jsonl", jsonl(plain_turns(5)))

    first, again = take(store, path), take(store, path)

    assert [(each.added, each.is_new) for each in first] == [(5, True)]
    assert [(each.added, each.is_new, each.id) for each in again] == [(0, False, "talk")]
    assert [turn.content for turn in store.turns("talk")] == [
        each["content"] for each in plain_turns(5)
    ]


def test_turns_added_to_a_file_are_added_by_the_next_import(tmp_path: Path, store: ColdStore):
    take(store, written(tmp_path, "talk.jsonl", jsonl(plain_turns(5))))

    (taken,) = take(store, written(tmp_path, "talk.jsonl", jsonl(plain_turns(8))))

    assert (taken.added, taken.is_new, taken.id) == (3, False, "talk")
    assert [turn.position for turn in store.turns("talk")] == [1, 2, 3, 4, 5, 6, 7, 8]


def test_turns_added_here_stay_the_current_branch(tmp_path: Path, store: ColdStore):
    take(store, written(tmp_path, "talk.jsonl", jsonl(plain_turns(3))))
    store.append("talk", [Turn(0, Role.USER, "said here")])

    take(store, written(tmp_path, "talk.jsonl", jsonl(plain_turns(5))))

    assert [turn.content for turn in store.turns("talk")][3:] == ["said here"]
    assert store.branches("talk") == {}  # an assistant turn is not a version of a user turn
    assert [(turn.position, turn.parent) for turn in store.turns_at("talk", [4, 5, 6])] == [
        (4, None),
        (5, 3),
        (6, None),
    ]


def test_a_conversation_that_was_renamed_here_keeps_its_name(tmp_path: Path, store: ColdStore):
    take(store, written(tmp_path, "talk.jsonl", jsonl(plain_turns(3))))
    store.rename("talk", "Mine")

    take(store, written(tmp_path, "talk.jsonl", jsonl(plain_turns(5))))

    assert store.conversation("talk").title == "Mine"


def test_conversations_changed_last_in_their_source_are_listed_first(
    tmp_path: Path, store: ColdStore
):
    store.create("Here before")
    chats = [
        {"uuid": name, "name": name, "updated_at": f"2026-0{month}-01", "chat_messages": [
            {"uuid": "1", "sender": "human", "text": "hi"}
        ]}
        for name, month in (("middle", 4), ("old", 1), ("new", 6))
    ]  # fmt: skip

    take(store, written(tmp_path, "conversations.json", chats))

    assert [each.title for each in store.conversations()] == ["new", "middle", "old", "Here before"]


def test_if_the_store_fails_no_conversation_is_partly_stored(tmp_path: Path, store: ColdStore):
    path = written(tmp_path, "f.json", [locomo_sample("one"), locomo_sample("two")])
    with store.database.writing() as connection:
        connection.execute(
            "CREATE TEMP TRIGGER full BEFORE INSERT ON turns WHEN new.conversation"
            " = 'two' BEGIN SELECT RAISE(ABORT, 'no'); END"
        )

    with pytest.raises(Exception, match="no"):
        take(store, path)

    assert store.conversations() == []


def test_a_full_disk_is_reported_and_nothing_is_stored(tmp_path: Path, store: ColdStore):
    path = written(tmp_path, "talk.json", plain_turns(3_000))
    with store.database.writing() as connection:
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count = {pages + 4}")

    with pytest.raises(StoreFull):
        take(store, path)

    assert store.conversations() == []


def test_the_demo_is_a_conversation_of_sixty_turns(store: ColdStore):
    made = store_demo(store)

    assert (made.id, made.title, made.turns) == (DEMO_ID, DEMO_TITLE, 60)
    turns = store.turns(made.id)
    assert {turn.role for turn in turns} == {Role.USER, Role.ASSISTANT}
    assert all(turn.created_at for turn in turns)
