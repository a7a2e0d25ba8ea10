"""Indexing a backlog resumes after an interruption, reports progress, and changes no vector."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from jitchat.index.indexer import Progress
from jitchat.index.tables import IndexRow, IndexTables
from jitchat.memory import Memory
from tests.index.support import FailingEmbedder, FakeEmbedder, index, rows_read
from tests.support import conversation_of, talk

if TYPE_CHECKING:
    from collections.abc import Sequence

LONG = [f"turn {number} " + "and so on " * 500 for number in range(20)]
"""Six of them are written at once."""


def stored_rows(memory: Memory) -> list[IndexRow]:
    tables = IndexTables(memory.store.database, memory.conversation.id)
    return tables.rows(memory.turns, memory.index.embedder)


def with_vectors(memory: Memory) -> list[int]:
    return [row.position for row in stored_rows(memory) if row.vector]


class Dying(FakeEmbedder):
    """Takes the process with it when it is asked for the fifteenth time."""

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        made = super().embed(texts)
        if len(self.asked) == 15:
            raise KeyboardInterrupt
        return made


def test_a_crash_costs_no_more_than_the_part_at_hand(store):
    memory = Memory(store, conversation_of(store, talk(*LONG)), Dying())
    with pytest.raises(KeyboardInterrupt):
        index(memory)
    assert with_vectors(memory) == list(range(1, 13))
    again = FakeEmbedder()
    opened = Memory(store, memory.conversation, again)
    assert index(opened) == 8
    assert len(again.asked) == 8
    assert with_vectors(opened) == list(range(1, 21))


def test_a_halted_backlog_keeps_the_parts_that_were_written(store):
    embedder = FakeEmbedder()
    memory = Memory(store, conversation_of(store, talk(*LONG)), embedder)
    embedder.spoil = lambda made: (len(embedder.asked) == 8 and memory.index.throttle.halt(), made)[
        1
    ]
    assert index(memory) == 6
    assert len(embedder.asked) == 8
    assert index(memory) == 0, "halted it stays"
    assert index(Memory(store, memory.conversation, FakeEmbedder())) == 14


def test_progress_is_reported_and_indexing_resumes_where_it_stopped(store):
    memory = Memory(store, conversation_of(store, talk(*(f"turn {n}" for n in range(300)))))
    reported: list[Progress] = []
    steps = memory.index.catch_up(on_progress=reported.append)
    next(steps)
    assert reported == [Progress(0, 300)]
    reported.clear()
    list(Memory(store, memory.conversation).index.catch_up(on_progress=reported.append))
    assert reported == [Progress(128, 300), Progress(256, 300)]


def test_what_another_thread_indexed_meanwhile_is_taken_for_done(store):
    memory = Memory(store, conversation_of(store, talk(*(f"turn {n}" for n in range(300)))))
    reported: list[Progress] = []
    steps = memory.index.catch_up(on_progress=reported.append)
    next(steps)
    list(memory.index.catch_up(batches=1))
    list(steps)
    assert reported == [Progress(0, 300), Progress(256, 300)]


def test_progress_is_also_reported_within_a_batch_of_long_turns(store):
    memory = Memory(store, conversation_of(store, talk(*LONG)))
    reported: list[Progress] = []
    list(memory.index.catch_up(on_progress=reported.append))
    assert [each.done for each in reported] == [0, 6, 12, 18]


def test_nothing_is_reported_if_nothing_is_missing(store):
    memory = Memory(store, conversation_of(store, talk("one", "two")))
    index(memory)
    reported: list[Progress] = []
    list(memory.index.catch_up(on_progress=reported.append))
    assert reported == []


def test_vectors_are_known_to_be_missing_until_they_are_made(store):
    embedder = FailingEmbedder()
    memory = Memory(store, conversation_of(store, talk(*("turn",) * 130)), embedder)
    index(memory)
    assert memory.index.lacks_vectors
    embedder.fails = False
    list(memory.index.catch_up(batches=1))
    assert memory.index.lacks_vectors
    index(memory)
    assert not memory.index.lacks_vectors


def test_a_new_embedder_that_fails_takes_no_vector_of_the_one_in_use(store):
    memory = Memory(store, conversation_of(store, talk("one", "two")), FakeEmbedder())
    index(memory)
    list(memory.index.catch_up(FailingEmbedder("other")))
    assert memory.index.failure is not None
    assert not memory.index.lacks_vectors


class ByLength(FakeEmbedder):
    """A vector that encodes the text's length."""

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        super().embed(texts)
        return np.array([[np.cos(len(text)), np.sin(len(text))] for text in texts])


def test_each_turn_gets_its_own_vector_in_whichever_order_they_are_made(store):
    texts = ["x" * length for length in (900, 3, 70, 5_000, 12, 900, 1)]
    memory = Memory(store, conversation_of(store, talk(*texts)), ByLength(dimension=2))
    index(memory)
    rows = stored_rows(memory)
    made = np.array([np.frombuffer(row.vector or b"", dtype="<f2") for row in rows])
    read = [min(len(text), 4_000) for text in texts]
    assert np.allclose(made, [[np.cos(n), np.sin(n)] for n in read], rtol=2**-11, atol=1e-6)


def test_another_embedder_that_works_ends_the_want_of_vectors(store):
    memory = Memory(store, conversation_of(store, talk("one", "two")), FailingEmbedder())
    index(memory)
    assert memory.index.lacks_vectors
    better = FakeEmbedder("better")
    list(memory.index.catch_up(better))
    assert memory.index.embedder is better
    assert not memory.index.lacks_vectors


def test_a_halted_backlog_does_not_bring_its_embedder_in(store):
    memory = Memory(store, conversation_of(store, talk(*LONG)))
    embedder = FakeEmbedder()
    embedder.spoil = lambda made: (len(embedder.asked) == 8 and memory.index.throttle.halt(), made)[
        1
    ]
    list(memory.index.catch_up(embedder))
    assert memory.index.embedder is not embedder


def test_a_search_in_the_middle_of_a_batch_has_nothing_loaded_twice(store, monkeypatch):
    memory = Memory(store, conversation_of(store, talk(*LONG)))
    loaded = rows_read(monkeypatch)
    found: list[int] = []

    def moved(progress: Progress) -> None:
        found.append(len(memory.retrieve("turn", 100).candidates))

    list(memory.index.catch_up(on_progress=moved))
    assert found == [0, 6, 12, 18]
    memory.retrieve("turn", 100)
    assert loaded == sorted(set(loaded))
