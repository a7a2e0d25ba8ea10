"""Vectors on the disk are numbers and nothing else, and odd ones harm nobody."""

from __future__ import annotations

import ast
import random
from math import isfinite

import pytest

from jitchat.index.indexer import Indexer
from jitchat.memory import Memory
from tests.index.support import FakeEmbedder
from tests.support import ROOT, conversation_of, talk

FORBIDDEN = {"pickle", "cPickle", "dill", "marshal", "shelve", "joblib"}


@pytest.mark.filterwarnings("error")
def test_random_bytes_in_place_of_vectors_never_reach_a_score(store, rounds):
    chance = random.Random(6)
    talked = conversation_of(store, talk(*(f"turn number {number}" for number in range(50))))
    embedder = FakeEmbedder()
    list(Indexer(store, talked.id, embedder).catch_up())
    for _ in range(rounds(20, 200)):
        with store.database.write() as connection:
            connection.executemany(
                "UPDATE vectors SET vector = ? WHERE turn = ?",
                [
                    (chance.randbytes(chance.choice((0, 1, 31, 32, 32, 32, 33, 64))), turn.id)
                    for turn in store.turns(talked.id)
                ],
            )
        memory = Memory(store, talked, embedder)
        found = memory.retrieve("which number was the turn", 51).candidates
        assert found
        for candidate in found:
            assert all(isfinite(value) for _, value in candidate.parts)


@pytest.mark.parametrize("value", ["text", 7, 1.5])
def test_a_vector_of_another_type_harms_nobody(store, value):
    talked = conversation_of(store, talk("one", "two"))
    embedder = FakeEmbedder()
    list(Indexer(store, talked.id, embedder).catch_up())
    with store.database.write() as connection:
        connection.execute("UPDATE vectors SET vector = ?", (value,))
    found = Memory(store, talked, embedder).retrieve("one and more and less", 3).candidates
    assert found[0].turn == 1


def dense_parts(memory: Memory) -> list[float]:
    found = memory.retrieve("turn number 7 and more", 51).candidates
    assert found
    return [dict(row.parts)["dense"] for row in found]


@pytest.mark.parametrize("dimension", [4, 16, -1, 2**40])
def test_vectors_of_another_dimension_are_not_compared_and_then_made_anew(store, dimension):
    talked = conversation_of(store, talk(*(f"turn number {number}" for number in range(50))))
    embedder = FakeEmbedder(dimension=8)
    list(Indexer(store, talked.id, embedder).catch_up())
    whole = dense_parts(Memory(store, talked, embedder))
    with store.database.write() as connection:
        connection.execute(
            "UPDATE vectors SET dimension = ?, vector = substr(vector, 1, 16)", (dimension,)
        )
    memory = Memory(store, talked, embedder)
    assert set(dense_parts(memory)) == {0.0}
    list(memory.index.catch_up())
    assert dense_parts(memory) == pytest.approx(whole)
    assert any(whole)


def test_vectors_cut_short_under_their_own_dimension_leave_the_words_until_made_anew(store):
    talked = conversation_of(store, talk(*(f"turn number {number}" for number in range(50))))
    embedder = FakeEmbedder(dimension=8)
    list(Indexer(store, talked.id, embedder).catch_up())
    whole = dense_parts(Memory(store, talked, embedder))
    with store.database.write() as connection:
        connection.execute("UPDATE vectors SET vector = substr(vector, 1, 8) WHERE turn % 5 != 0")
    memory = Memory(store, talked, embedder)
    assert dense_parts(memory) != pytest.approx(whole)
    before = len(embedder.asked)
    list(memory.index.catch_up())
    assert sum(len(texts) for texts in embedder.asked[before:]) == 40
    assert dense_parts(memory) == pytest.approx(whole)


def test_nothing_is_ever_unpickled():
    for path in (ROOT / "jitchat").rglob("*.py"):
        text = path.read_text()
        assert "allow_pickle" not in text, path
        assert "np.load" not in text, path
        if not any(name in text for name in (*FORBIDDEN, "unpickle")):
            continue  # what is not written in it cannot be imported by it
        tree = ast.parse(text)
        names = {
            alias.name.partition(".")[0]
            for node in ast.walk(tree)
            if isinstance(node, ast.Import | ast.ImportFrom)
            for alias in [*node.names, ast.alias(getattr(node, "module", None) or "")]
        }
        attributes = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
        assert not names & FORBIDDEN, path
        assert not attributes & {"unpickle"}, path
