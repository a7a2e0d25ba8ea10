"""Imported turns: identified by keys, placed after the turn they follow, never stored twice."""

from __future__ import annotations

import shutil
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jitchat.store.database import Database
from jitchat.store.imported import (
    Heading,
    ImportWriter,
    IncomingTurn,
    Origin,
    Provenance,
    all_turns,
    list_newest_first,
    origin_of,
)
from jitchat.store.path import parent_of
from jitchat.store.reply_notes import ReplyNote
from jitchat.store.store import ColdStore
from jitchat.values import Role, Turn
from tests.examples import examples
from tests.store.support import require_complete_index

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

ORIGIN = Origin("elsewhere", "talk 1")
Tree = list[int]
"""The position that each turn follows."""


def incoming(tree: Sequence[int]) -> list[IncomingTurn]:
    """The turns of a tree, as a format makes them."""
    listed = []
    for place, under in enumerate(tree, start=1):
        fork = None if under == place - 1 else under
        turn = Turn(place, Role.USER, f"turn {place}", parent=fork)
        key, note = f"key {place}".encode(), ReplyNote("model", reasoning="thought")
        listed.append(IncomingTurn(turn, key, key, note))
    return listed


def take(store: ColdStore, turns: list[IncomingTurn], head: int | None = None) -> ImportWriter:
    with store.database.write():
        writer = ImportWriter(store, Provenance(ORIGIN, "talk"))
        writer.take(turns)
        writer.finish(Heading("A talk", head))
    return writer


def emptied(store: ColdStore) -> ColdStore:
    with store.database.write() as connection:
        for table in ("reasoning", "turns", "conversations"):  # the rest goes along
            connection.execute(f"DELETE FROM {table}")
    return store


@pytest.fixture(scope="module")
def one_store(tmp_path_factory, empty_database: Path) -> Iterator[ColdStore]:
    """A store for all examples of a test."""
    path = tmp_path_factory.mktemp("store") / "cold.db"
    database = Database(Path(shutil.copy(empty_database, path)))
    yield ColdStore(database)
    database.close()


trees = st.lists(st.integers(0, 30), max_size=12).map(
    lambda raw: [under % (place + 1) for place, under in enumerate(raw)]
)


@examples(40)
@given(tree=trees)
def test_a_tree_is_stored_as_it_is(one_store: ColdStore, tree: Tree):
    store = emptied(one_store)
    writer = take(store, incoming(tree))

    assert writer.added == len(tree)
    stored = list(all_turns(store, writer.id))
    assert [parent_of(each.turn) for each in stored] == tree
    assert [each.key for each in stored] == [each.key for each in incoming(tree)]
    assert {(each.note.model, each.note.reasoning) for each in stored} <= {("model", "thought")}


@examples(40)
@given(tree=trees, count=st.integers(0, 12))
def test_a_tree_that_has_grown_ends_as_one_that_was_stored_at_once(
    one_store: ColdStore, tree: Tree, count: int
):
    store = emptied(one_store)
    take(store, incoming(tree[:count]))

    writer = take(store, incoming(tree))

    assert writer.added == len(tree) - min(count, len(tree))
    assert [parent_of(each.turn) for each in all_turns(store, writer.id)] == tree
    assert take(store, incoming(tree)).added == 0


def test_a_turn_follows_its_predecessor_at_another_position_here(store: ColdStore):
    take(store, incoming([0, 1, 2]))
    store.append("talk", [Turn(0, Role.USER, "here")])

    take(store, incoming([0, 1, 2, 3, 4]))

    turns = list(all_turns(store, "talk"))
    assert [each.turn.content for each in turns] == [
        "turn 1", "turn 2", "turn 3", "here", "turn 4", "turn 5",
    ]  # fmt: skip
    assert [parent_of(each.turn) for each in turns] == [0, 1, 2, 3, 3, 5]
    assert store.tree("talk").head == 4


def test_imported_turns_are_found_by_their_words_and_so_is_what_follows(store: ColdStore):
    take(store, incoming([0, 1]))
    store.append("talk", [Turn(0, Role.USER, "turn here")])

    found = {found.position for found in store.search("turn")}

    assert found == {1, 2, 3}
    require_complete_index(store.database)


def test_the_head_follows_the_source_if_no_turns_were_added_here(store: ColdStore):
    take(store, incoming([0, 1, 1]), head=2)
    assert store.tree("talk").head == 2

    take(store, incoming([0, 1, 1, 3]), head=4)
    assert store.tree("talk").head == 4


def test_a_conversation_without_turns_is_not_stored(store: ColdStore):
    writer = take(store, [])

    assert (writer.id, store.conversations(), origin_of(store, "talk")) == ("", [], None)


def test_a_conversation_that_was_deleted_is_forgotten(store: ColdStore):
    take(store, incoming([0, 1]))
    with store.database.write() as connection:
        connection.execute("DELETE FROM reasoning")
        connection.execute("DELETE FROM turns WHERE conversation = 'talk'")
        connection.execute("DELETE FROM conversations WHERE id = 'talk'")

    assert store.database.fetch_all("SELECT * FROM imported_turns") == []
    assert take(store, incoming([0, 1])).is_new


def test_conversations_are_listed_by_when_they_were_changed(store: ColdStore):
    for number, month in enumerate((3, 1, 2)):
        with store.database.write():
            writer = ImportWriter(store, Provenance(Origin("x", f"{number}"), f"month-{month}"))
            writer.take(incoming([0]))
            moment = datetime(2026, month, 1, tzinfo=UTC)
            writer.finish(Heading("", None, moment, moment))

    list_newest_first(store, [each.id for each in store.conversations()])

    assert [each.id for each in store.conversations()] == ["month-3", "month-2", "month-1"]
    assert store.create("Now").id == next(iter(store.conversations())).id
