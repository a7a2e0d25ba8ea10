"""One open conversation: what is taken in, from whom, and when."""

from __future__ import annotations

import os

import pytest

from jitchat.errors import StoreFull
from jitchat.memory import Memory
from jitchat.store.database import Database
from jitchat.store.replies import begin_reply
from jitchat.store.store import ColdStore
from jitchat.values import Status
from tests.memory.support import (
    claim,
    dead_process,
    found,
    index,
    make_full,
    make_read_only,
    positions,
)


@pytest.fixture
def other(memory, clock):
    """The same conversation, opened by a second instance."""
    database = Database(memory.store.database.path)
    yield Memory(ColdStore(database, clock), memory.conversation)
    database.close()


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


def test_a_turn_is_ranked_by_the_same_question_as_the_shortlist(memory):
    index(memory)
    after = memory.turns[-1].position + 1
    draft = "and the gateway?"
    candidates = memory.retrieve(draft, after).candidates
    assert candidates
    for candidate in candidates:
        assert memory.placed(draft, after, candidate.turn).candidate == candidate
    said = memory.add_user_turn(draft)
    assert memory.placed(draft, said.position, said.position) is None
    assert [entry.turn for entry in memory.index.entries([1, 2, said.position])] == [1, 2]
