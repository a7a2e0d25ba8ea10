"""One open conversation: what is taken in, from whom, and when."""

from __future__ import annotations

import os
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from jitchat.errors import EmbedderUnavailable, StoreFull
from jitchat.memory.database import Database
from jitchat.memory.memory import Memory
from jitchat.memory.replies import begin_reply
from jitchat.memory.store import ColdStore
from jitchat.turn import Role, Status, Turn
from tests.memory.support import (
    FailingEmbedder,
    FakeEmbedder,
    claim,
    dead_process,
    make_full,
    make_read_only,
)
from tests.support import conversation_of, talk

TALK = (
    "Which port does the gateway use?",
    "We agreed on port 8443 for the gateway.",
    "And the colour of the logo?",
    "The logo stays green.",
)


@pytest.fixture
def memory(store):
    made = Memory(store, conversation_of(store, talk(*TALK)))
    list(made.catch_up())
    return made


@pytest.fixture
def other(memory, clock):
    """The same conversation, opened by a second instance."""
    database = Database(memory.store.database.path)
    yield Memory(ColdStore(database, clock), memory.conversation)
    database.close()


def positions(memory: Memory) -> list[int]:
    return [turn.position for turn in memory.turns]


def found(memory: Memory, word: str) -> list[int]:
    """Where `word` is found, in a draft that has words enough to borrow none."""
    draft = f"{word} quux xyzzy"
    retrieval = memory.retrieve(draft, memory.turns[-1].position + 1)
    return sorted(row.turn for row in retrieval.candidates if word in row.matched)


def index(memory: Memory) -> int:
    return sum(len(batch) for batch in memory.catch_up())


def test_a_reply_is_taken_in_when_it_is_finished(memory):
    said = memory.add_user_turn("Who chose it?")
    writer = memory.begin_reply()
    writer.add("Ann")
    writer.save()
    memory.refresh()
    assert memory.turns[-1] == said
    reply = writer.finish(Status.COMPLETE)
    memory.refresh()
    assert memory.turns[-1] == reply


def test_looking_at_a_preview_while_a_reply_streams_does_not_end_it(memory):
    memory.add_user_turn("Who chose it?")
    writer = memory.begin_reply()
    writer.add("Ann")
    writer.save()
    memory.refresh()
    memory.retrieve("logo", 6)
    writer.add(" did.")
    writer.finish(Status.COMPLETE)
    memory.refresh()
    assert [(t.content, t.status) for t in memory.turns[4:]] == [
        ("Who chose it?", Status.COMPLETE),
        ("Ann did.", Status.COMPLETE),
    ]


def test_the_turns_of_another_instance_are_seen(memory, other):
    other.add_user_turn("Who chose green?")
    memory.refresh()
    assert positions(memory) == positions(other) == [1, 2, 3, 4, 5]
    index(other)
    assert found(memory, "green") == [4, 5]


def test_two_instances_never_share_a_position(memory, other):
    for number in range(5):
        memory.add_user_turn(f"mine {number}")
        other.add_user_turn(f"theirs {number}")
    memory.refresh()
    other.refresh()
    assert positions(memory) == list(range(1, 15))
    assert memory.turns == other.turns


def test_a_reply_that_another_process_is_writing_waits_and_keeps_its_place(memory, other):
    writer = begin_reply(other.store, other.conversation.id, other.store.now())
    writer.add("Slow")
    writer.save()
    claim(memory.store, os.getppid())
    said = memory.add_user_turn("Are you there? The gateway is down.")
    assert positions(memory) == [1, 2, 3, 4, 6]
    index(memory)
    assert 6 not in found(memory, "gateway")

    writer.add(" answer about the gateway.")
    writer.finish(Status.COMPLETE)
    memory.refresh()
    index(memory)
    assert positions(memory) == [1, 2, 3, 4, 5, 6]
    assert memory.turns[-1] == said
    assert found(memory, "gateway") == [1, 2, 5, 6]


def test_what_a_dead_writer_left_is_taken_in_as_interrupted(memory, other):
    writer = begin_reply(other.store, other.conversation.id, other.store.now())
    writer.add("Half an ans")
    writer.save()
    claim(memory.store, dead_process())
    memory.refresh()
    assert (memory.turns[-1].content, memory.turns[-1].status) == (
        "Half an ans",
        Status.INTERRUPTED,
    )
    index(memory)
    assert found(memory, "half") == [5]


def test_a_disk_that_refuses_does_not_keep_a_conversation_from_opening(memory):
    writer = memory.begin_reply()
    writer.add("Half")
    writer.save()
    claim(memory.store, dead_process())
    make_read_only(memory.store, on=True)
    opened = Memory(memory.store, memory.conversation)
    assert positions(opened) == [1, 2, 3, 4]
    make_read_only(memory.store, on=False)
    opened.refresh()
    assert opened.turns[-1].status is Status.INTERRUPTED


def test_an_unanswered_message_is_kept_and_is_no_candidate(memory):
    said = memory.add_user_turn("Is the gateway encrypted?")
    index(memory)
    assert found(memory, "gateway") == [1, 2, 5]
    memory.mark_unanswered(said)
    assert memory.turns[-1].status is Status.UNANSWERED
    assert found(memory, "gateway") == [1, 2]


def test_an_unanswered_message_sent_again_is_the_same_turn(memory):
    first = memory.add_user_turn("Is the gateway\0 encrypted?")
    memory.mark_unanswered(first)
    again = memory.add_user_turn("Is the gateway\0 encrypted?")
    assert again == memory.turns[-1]
    assert (again.id, again.position, again.status) == (first.id, 5, Status.COMPLETE)
    index(memory)
    assert 5 in found(memory, "encrypted")


def test_another_message_after_an_unanswered_one_is_a_turn_of_its_own(memory):
    memory.mark_unanswered(memory.add_user_turn("First try?"))
    memory.add_user_turn("Second try?")
    assert [turn.status for turn in memory.turns[4:]] == [Status.UNANSWERED, Status.COMPLETE]
    index(memory)
    assert found(memory, "try") == [6]


def test_what_became_of_a_message_elsewhere_is_noticed(memory, other):
    said = other.add_user_turn("Is it encrypted?")
    memory.refresh()
    index(memory)
    assert found(memory, "encrypted") == [5]
    other.mark_unanswered(said)
    memory.refresh()
    assert memory.turns[-1].status is Status.UNANSWERED
    assert found(memory, "encrypted") == []
    other.add_user_turn("Is it encrypted?")
    memory.refresh()
    assert memory.turns[-1].status is Status.COMPLETE
    assert found(memory, "encrypted") == [5]


def test_what_cannot_be_stored_is_not_remembered_either(memory):
    make_full(memory.store, on=True)
    with pytest.raises(StoreFull):
        memory.add_user_turn("x" * 1_000_000)
    assert positions(memory) == [1, 2, 3, 4]
    make_full(memory.store, on=False)
    assert memory.add_user_turn("small").position == 5


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
    assert {row.turn for row in retrieval.candidates[:2]} == {1, 2}
    assert said.position not in {entry.turn for entry in retrieval.decisions}


def test_the_latest_decisions_ride_along_unless_they_are_listed(memory):
    for text in ("We decided on tea.", "We decided on milk.", "We decided on jam."):
        memory.add_user_turn(text)
    index(memory)
    retrieval = memory.retrieve("Milk or bread and butter?", 8)
    assert retrieval.candidates[0].turn == 6
    assert {entry.turn for entry in retrieval.decisions}.isdisjoint(
        row.turn for row in retrieval.candidates
    )
    nothing = memory.retrieve("Some xylophone quux xyzzy?", 8)
    assert [entry.turn for entry in nothing.decisions] == [5, 6, 7]


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
        for entries in memory.catch_up():
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
    first = next(iter(memory.catch_up()))
    again = Memory(store, memory.conversation)
    assert len(first) + index(again) == 300
    assert index(again) == 0


def test_a_new_embedder_takes_over_when_its_index_is_complete(memory):
    old, new = memory.embedder, FakeEmbedder()
    memory.retrieve("gateway", 5)
    steps = memory.catch_up(new)
    next(steps)
    assert memory.embedder is old
    assert found(memory, "gateway") == [1, 2]
    assert list(steps) == []
    assert memory.embedder is new
    parts = dict(memory.retrieve("We agreed on port 8443 for the gateway.", 5).candidates[0].parts)
    assert parts["dense"] > 0


def test_a_step_of_the_old_embedder_does_not_bring_it_back(memory):
    memory.add_user_turn("late")
    late = memory.catch_up()
    next(late)
    new = FakeEmbedder()
    list(memory.catch_up(new))
    list(late)
    assert memory.embedder is new


def test_a_new_embedder_that_fails_leaves_the_old_one_in_place(memory):
    old = memory.embedder
    with pytest.raises(EmbedderUnavailable):
        list(memory.catch_up(FailingEmbedder()))
    assert memory.embedder is old
    assert found(memory, "gateway") == [1, 2]


def test_where_the_embedder_fails_recall_goes_by_words_and_the_vectors_follow_later(store):
    embedder = FailingEmbedder()
    memory = Memory(store, conversation_of(store, talk(*TALK)), embedder)
    assert index(memory) == 4
    assert memory.failure is not None
    assert found(memory, "gateway") == [1, 2]
    embedder.fails = False
    assert index(memory) == 4
    assert memory.failure is None
    assert dict(memory.retrieve(TALK[1], 5).candidates[0].parts)["dense"] > 0


def test_turns_of_every_role_are_remembered(store):
    roles = [Turn(0, role, f"{role} says zebra") for role in Role]
    memory = Memory(store, conversation_of(store, roles))
    index(memory)
    assert found(memory, "zebra") == [1, 2, 3, 4]
