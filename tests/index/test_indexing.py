"""The index of an open conversation: what is found, and what happens while it is written."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from jitchat.errors import EmbedderUnavailable
from jitchat.index.embedder import Embedder
from jitchat.index.indexer import BATCH
from jitchat.index.tables import IndexTables
from jitchat.memory import Memory
from jitchat.values import Role, Turn
from tests.index.support import FailingEmbedder, FakeEmbedder, found, index, positions
from tests.support import TALK, conversation_of, talk


def test_a_turn_is_found_as_soon_as_it_is_indexed(memory):
    memory.add_user_turn("The zebra is striped.")
    assert found(memory, "zebra") == []
    index(memory)
    assert found(memory, "zebra") == [5]


def test_the_draft_itself_is_never_a_candidate(memory):
    said = memory.add_user_turn("Let's lock port 8443 for the gateway.")
    index(memory)
    retrieval = memory.retrieve(said.content, said.position)
    assert said.position not in {row.turn for row in retrieval.candidates}
    assert retrieval.candidates[0].turn == 2
    assert said.position not in {entry.turn for entry in retrieval.decisions}


def test_the_latest_decisions_are_included_unless_they_are_listed(memory):
    for text in ("We decided on tea.", "We decided on milk.", "We decided on jam."):
        memory.add_user_turn(text)
    index(memory)
    retrieval = memory.retrieve("Milk or bread and butter?", 8)
    assert retrieval.candidates[0].turn == 6
    assert {entry.turn for entry in retrieval.decisions}.isdisjoint(
        row.turn for row in retrieval.candidates
    )
    nothing = memory.retrieve("Some xylophone quux xyzzy?", 8)
    assert [entry.turn for entry in nothing.decisions][-3:] == [5, 6, 7]


def test_a_decision_that_is_repeated_or_replaced_is_included_once(memory):
    decided = ("We decided on port 9000 for staging.", "Let's go with the blue logo.")
    later = ("We decided on port 9100 for staging.", "Let's go with the blue logo.")
    for text in (*decided, *later):
        memory.add_user_turn(text)
    index(memory)
    late = memory.retrieve("Some xylophone quux xyzzy?", 9).decisions
    assert [entry.turn for entry in late][-2:] == [7, 8]
    assert {5, 6}.isdisjoint(entry.turn for entry in late)


def test_a_draft_of_few_words_borrows_from_the_message_before(memory):
    memory.add_user_turn("Tell me about the gateway.")
    index(memory)
    assert 2 in {row.turn for row in memory.retrieve("and why?", 6).candidates}


def test_nothing_relevant_is_a_valid_answer(memory):
    retrieval = memory.retrieve("Zebras on Kilimanjaro?", 5)
    assert retrieval.hits == ()
    assert retrieval.floor > 0


def test_an_empty_conversation_has_nothing_to_find(store):
    empty = Memory(store, store.create("New"))
    assert index(empty) == 0
    assert empty.retrieve("anything", 1).candidates == ()


def test_two_threads_share_the_indexing_and_do_none_of_it_twice(store):
    memory = Memory(store, conversation_of(store, talk(*(f"turn number {n}" for n in range(600)))))
    done: list[int] = []
    gate = threading.Barrier(4)

    def catch_up(_: int) -> None:
        gate.wait()
        for entries in memory.index.catch_up():
            done.extend(entry.turn for entry in entries)
            memory.retrieve("number 7", 601)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(catch_up, range(4)))
    assert sorted(done) == list(range(1, 601))
    assert memory.retrieve("number 599", 601).candidates[0].turn == 600


def test_previews_sends_and_indexing_at_once_lose_nothing(memory):
    def work(number: int) -> None:
        if number % 3 == 0:
            memory.add_user_turn(f"message {number}")
        elif number % 3 == 1:
            index(memory)
        else:
            memory.refresh()
            memory.retrieve("gateway message", 10_000)

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(work, range(90)))
    index(memory)
    assert positions(memory) == list(range(1, 35))
    assert found(memory, "message") == list(range(5, 35))


def test_an_indexing_that_was_broken_off_goes_on_from_there(store):
    memory = Memory(store, conversation_of(store, talk(*(f"turn {n}" for n in range(300)))))
    first = next(iter(memory.index.catch_up()))
    again = Memory(store, memory.conversation)
    assert len(first) + index(again) == 300
    assert index(again) == 0


def test_while_the_backlog_is_indexed_what_is_done_of_it_is_found(store):
    memory = Memory(store, conversation_of(store, talk(*(f"turn number {n}" for n in range(300)))))
    steps = memory.index.catch_up()
    for count in (0, 128, 256, 300):
        listed = memory.retrieve("turn number 7", 301).candidates
        assert max((row.turn for row in listed), default=0) <= count
        assert [row.turn for row in listed[:1]] == [8] * bool(count)
        next(steps, None)


def test_a_failing_embedder_costs_the_vectors_from_there_on_and_no_entry(store):
    made = conversation_of(store, talk(*(f"turn {n}" for n in range(40))))
    embedder = FailingEmbedder(fails=False)
    embedder.spoil = lambda vectors: _fail_after(embedder, vectors)
    memory = Memory(store, made, embedder)
    assert index(memory) == 40
    assert memory.index.failure is not None
    embedder.fails, embedder.spoil = False, lambda vectors: vectors
    assert index(memory) == 24


def _fail_after(embedder, vectors):
    embedder.fails = True
    return vectors


def test_a_new_embedder_takes_over_when_its_index_is_complete(memory):
    old, new = memory.index.embedder, FakeEmbedder()
    memory.retrieve("gateway", 5)
    steps = memory.index.catch_up(new)
    next(steps)
    assert memory.index.embedder is old
    assert found(memory, "gateway") == [1, 2]
    assert list(steps) == []
    assert memory.index.embedder is new
    parts = dict(memory.retrieve("We agreed on port 8443 for the gateway.", 5).candidates[0].parts)
    assert parts["dense"] > 0


def test_a_step_of_the_old_embedder_does_not_bring_it_back(memory):
    memory.add_user_turn("late")
    late = memory.index.catch_up()
    next(late)
    new = FakeEmbedder()
    list(memory.index.catch_up(new))
    list(late)
    assert memory.index.embedder is new


def test_a_new_embedder_that_fails_leaves_the_old_one_in_place(memory):
    old = memory.index.embedder
    list(memory.index.catch_up(FailingEmbedder()))
    assert isinstance(memory.index.failure, EmbedderUnavailable)
    assert memory.index.embedder is old
    assert found(memory, "gateway") == [1, 2]


def test_where_the_embedder_fails_recall_goes_by_words_and_the_vectors_follow_later(store):
    embedder = FailingEmbedder()
    memory = Memory(store, conversation_of(store, talk(*TALK)), embedder)
    assert index(memory) == 4
    assert memory.index.failure is not None
    assert found(memory, "gateway") == [1, 2]
    embedder.fails = False
    assert index(memory) == 4
    assert memory.index.failure is None
    assert dict(memory.retrieve(TALK[1], 5).candidates[0].parts)["dense"] > 0


def test_turns_of_every_role_are_remembered(store):
    roles = [Turn(0, role, f"{role} says zebra") for role in Role]
    memory = Memory(store, conversation_of(store, roles))
    index(memory)
    assert found(memory, "zebra") == [1, 2, 3, 4]


def test_an_embedder_that_fails_is_tried_once_and_holds_nothing_up(store):
    embedder = FailingEmbedder()
    memory = Memory(
        store, conversation_of(store, talk(*(f"turn {n}" for n in range(300)))), embedder
    )
    assert index(memory) == 300
    assert index(memory) == BATCH
    assert len(embedder.asked) == 2


@pytest.fixture
def looked(monkeypatch) -> list[int]:
    """The positions after which turns without an entry were looked for."""
    found, missing = list[int](), IndexTables.missing

    def spied(tables: IndexTables, embedder: Embedder, after: int = 0, *rest, **more) -> list[Turn]:
        found.append(after)
        return missing(tables, embedder, after, *rest, **more)

    monkeypatch.setattr(IndexTables, "missing", spied)
    return found


def test_what_was_found_complete_is_not_looked_through_again(memory, looked):
    memory.add_user_turn("The zebra is striped.")
    index(memory)
    assert looked[0] == len(TALK) - 1, "the last turn of before may still have changed"
    assert found(memory, "zebra") == [len(TALK) + 1]

    looked.clear()
    for _ in memory.index.catch_up(FakeEmbedder()):
        pass
    assert looked[0] == 0, "another embedder starts from the beginning"


def test_a_batch_that_does_not_reach_the_end_leaves_the_rest_to_the_next(store):
    memory = Memory(store, conversation_of(store, talk(*(f"turn {n}" for n in range(BATCH + 9)))))
    assert sum(map(len, memory.index.catch_up(batches=1))) == BATCH
    assert sum(map(len, memory.index.catch_up(batches=1))) == 9


def test_repeated_indexing_after_one_turn_only_checks_the_latest_turns(memory, looked):
    for number in range(5):
        memory.add_user_turn(f"Is zebra {number} striped?", after=2)
        memory.add_user_turn("Is it?")
        assert sum(map(len, memory.index.catch_up(batches=1))) == 2
    assert looked == [3, 5, 7, 9, 11]
