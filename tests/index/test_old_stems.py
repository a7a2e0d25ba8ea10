"""Stems made by an earlier version are used until the turn is indexed again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from jitchat.memory import Memory
from jitchat.store.packed import pack
from jitchat.text.words import VERSION
from tests.index.support import FakeEmbedder, found, index
from tests.support import conversation_of, talk

if TYPE_CHECKING:
    from jitchat.store.store import ColdStore


@pytest.fixture
def old(store: ColdStore) -> Memory:
    """A conversation that an earlier version indexed."""
    memory = Memory(
        store, conversation_of(store, talk("Der Schlüssel ist im Keller.", "Ja.")), FakeEmbedder()
    )
    index(memory)
    with store.database.write() as connection:
        for turn in memory.turns:
            texts = pack(["", "", "", "keller alt"], turn.content)
            statement = "UPDATE index_entries SET texts = ?, stems_version = 0 WHERE turn = ?"
            connection.execute(statement, (texts, turn.id))
    return Memory(store, memory.conversation, FakeEmbedder())


def versions(memory: Memory) -> set[int]:
    with memory.store.database.read() as connection:
        return {row[0] for row in connection.execute("SELECT stems_version FROM index_entries")}


def test_old_stems_are_used_until_they_are_rebuilt(old: Memory):
    assert found(old, "alt") == [1, 2]
    assert index(old) == 2
    assert versions(old) == {VERSION}
    assert found(old, "alt") == []
    assert 1 in {row.turn for row in old.retrieve("Wo liegen die Schlüssel?", 3).candidates}
    assert index(old) == 0


def test_vectors_are_not_rebuilt_with_the_stems(old: Memory):
    embedder = old.index.embedder
    assert isinstance(embedder, FakeEmbedder)
    index(old)
    assert embedder.asked == []
