"""An open conversation with branches: what is seen, found and written is that of the path."""

from __future__ import annotations

import pytest

from jitchat.errors import StoreFull
from jitchat.memory import Memory
from jitchat.store.database import Database
from jitchat.store.store import ColdStore
from jitchat.values import Role, Status, Turn
from tests.memory.support import claim, dead_process, found, index, make_full, positions


@pytest.fixture
def other(memory: Memory):
    """A second instance on the same conversation."""
    store = ColdStore(Database(memory.store.database.path), memory.store.now)
    yield Memory(store, memory.conversation)
    store.database.close()


def answer(memory: Memory, said: Turn, text: str) -> Turn:
    writer = memory.begin_reply(said)
    writer.add(text)
    writer.save()
    reply = writer.finish(Status.COMPLETE)
    memory.refresh()
    return reply


def test_an_edited_message_is_a_fork_and_the_old_one_is_off_the_path(memory):
    said = memory.add_user_turn("And the colour of the flag?", after=2)
    assert (said.position, said.parent) == (5, 2)
    answer(memory, said, "The flag is red.")
    assert positions(memory) == [1, 2, 5, 6]
    index(memory)
    assert found(memory, "logo") == []
    assert found(memory, "flag") == [5, 6]
    assert memory.store.branches(memory.conversation.id) == {5: (3, 5)}
    memory.switch_to(3)
    assert positions(memory) == [1, 2, 3, 4]
    assert found(memory, "logo") == [3, 4]
    assert found(memory, "flag") == []


def test_the_first_message_can_be_edited(memory):
    said = memory.add_user_turn("Which flag?", after=0)
    answer(memory, said, "The red one.")
    assert positions(memory) == [5, 6]
    assert memory.store.branches(memory.conversation.id) == {5: (1, 5)}
    index(memory)
    assert found(memory, "gateway") == []


def test_a_reply_is_given_again_beside_the_first(memory):
    again = answer(memory, memory.turns[2], "The logo turns blue.")
    assert (again.position, again.parent) == (5, 3)
    assert positions(memory) == [1, 2, 3, 5]
    assert memory.store.branches(memory.conversation.id) == {5: (4, 5)}
    index(memory)
    assert found(memory, "logo") == [3, 5]


def test_a_reply_that_is_given_again_and_dies_leaves_both(memory):
    writer = memory.begin_reply(memory.turns[2])
    writer.add("The logo turns")
    writer.save()
    claim(memory.store, dead_process())
    memory.refresh()
    assert memory.turns[-1].status is Status.INTERRUPTED
    assert memory.store.branches(memory.conversation.id) == {5: (4, 5)}
    memory.switch_to(4)
    assert [turn.content for turn in memory.turns][-1] == "The logo stays green."


def test_a_message_and_its_fork_are_stored_together_or_not_at_all(memory):
    make_full(memory.store, on=True)
    with pytest.raises(StoreFull):
        memory.add_user_turn("x" * 1_000_000, after=1)
    assert positions(memory) == [1, 2, 3, 4]
    make_full(memory.store, on=False)
    memory.refresh()
    assert positions(memory) == [1, 2, 3, 4]


def test_an_unanswered_message_that_is_edited_is_kept_beside_the_new_one(memory):
    first = memory.add_user_turn("Is it encrypted?")
    memory.mark_unanswered(first)
    again = memory.add_user_turn("Is it encrypted now?", after=4)
    assert again.position == 6
    assert memory.store.branches(memory.conversation.id) == {6: (5, 6)}
    assert positions(memory) == [1, 2, 3, 4, 6]


def test_an_unanswered_fork_sent_again_is_the_same_from_whichever_branch(memory):
    first = memory.add_user_turn("And the flag?", after=2)
    memory.mark_unanswered(first)
    memory.switch_to(4)
    again = memory.add_user_turn("And the flag?", after=2)
    assert (again.id, again.status) == (first.id, Status.COMPLETE)
    assert positions(memory) == [1, 2, 5]
    answer(memory, again, "It is red.")
    assert positions(memory) == [1, 2, 5, 6]
    assert memory.add_user_turn("And the flag?", after=2).position == 7


def test_an_unanswered_message_that_something_follows_stays_as_it_is(memory):
    first = memory.add_user_turn("And the flag?", after=2)
    memory.mark_unanswered(first)
    memory.add_user_turn("And the pole?")
    assert memory.add_user_turn("And the flag?", after=2).position == 7
    assert memory.store.turn(memory.conversation.id, 5).status is Status.UNANSWERED


def test_a_turn_is_found_at_its_position_on_the_path_alone(memory):
    memory.add_user_turn("And the flag?", after=2)
    assert memory.turn_at(5) == memory.turns[-1]
    assert [memory.turn_at(place) for place in (0, 3, 6)] == [None] * 3


def test_the_latest_decisions_are_those_of_the_path(memory):
    said = memory.add_user_turn("We agreed on port 80 for the proxy.", after=2)
    index(memory)
    late = [entry.turn for entry in memory.retrieve("zebra?", 9).decisions]
    assert late == [2, said.position]
    memory.switch_to(4)
    assert [entry.turn for entry in memory.retrieve("zebra?", 9).decisions] == [2]


def test_another_instance_that_goes_to_a_branch_is_followed(memory, other):
    said = other.add_user_turn("And the flag?", after=2)
    memory.refresh()
    assert memory.turns == other.turns
    index(memory)
    assert found(memory, "logo") == []
    memory.switch_to(4)
    other.refresh()
    assert positions(other) == [1, 2, 3, 4]
    answer(other, said, "Red.")
    memory.refresh()
    assert positions(memory) == [1, 2, 5, 6]


def test_a_first_reply_goes_behind_what_was_said_meanwhile_and_hides_none_of_it(memory, other):
    mine, theirs = memory.add_user_turn("Mine?"), other.add_user_turn("Theirs?")
    answer(memory, mine, "Yours.")
    answer(other, theirs, "Theirs.")
    memory.refresh()
    assert memory.turns == other.turns
    assert positions(memory) == [1, 2, 3, 4, 5, 6, 7, 8]


def test_a_reply_to_a_branch_that_was_left_meanwhile_stays_with_its_question(memory, other):
    said = memory.add_user_turn("Mine?")
    other.add_user_turn("Something else.", after=2)
    reply = answer(memory, said, "Yours.")
    assert reply.parent == said.position
    assert positions(memory) == [1, 2, 3, 4, 5, 7]
    other.refresh()
    assert other.turns == memory.turns
    assert other.branches() == {3: (3, 6)}


def test_a_gap_in_the_index_of_another_branch_keeps_nothing_from_being_found(memory):
    memory.add_user_turn("Off the path, never indexed.", after=2)
    memory.add_user_turn("And the flag?", after=4)
    index(memory)
    with memory.store.database.write() as connection:
        connection.execute("DELETE FROM index_entries WHERE turn IN (SELECT id FROM turns"
                           " WHERE position = 5)")  # fmt: skip
    again = Memory(memory.store, memory.conversation)
    assert found(again, "flag") == [6]


def test_a_branch_that_was_left_while_a_reply_was_written_there_is_indexed_on_return(memory, other):
    said = other.add_user_turn("Mine?", after=4)
    writer = other.begin_reply(said)
    writer.add("Half of it,")
    writer.save()
    memory.add_user_turn("And the flag?", after=4)
    memory.add_user_turn("And the pole?")
    index(memory)
    writer.add(" a zebra.")
    writer.finish(Status.COMPLETE)
    memory.refresh()
    index(memory)
    assert found(memory, "zebra") == [6]


def test_only_turns_of_the_path_are_given_to_a_summariser(memory):
    memory.add_user_turn("And the flag?", after=2)
    index(memory)
    assert [turn.position for turn in memory.index.without_line(0, 2)] == [1, 2]
    assert [turn.position for turn in memory.index.without_line(1, 9)] == [2, 5]
    assert memory.index.count_without_line(0) == 3


def test_a_reply_of_reasoning_alone_is_kept_and_is_no_candidate(memory):
    said = memory.add_user_turn("Who chose it?")
    writer = memory.begin_reply(said)
    writer.add_reasoning("A gateway of thoughts.")
    writer.finish(Status.CANCELLED)
    memory.refresh()
    assert (memory.turns[-1].content, memory.turns[-1].status) == ("", Status.CANCELLED)
    index(memory)
    listed = memory.retrieve("gateway port logo green", 7).candidates
    assert 6 not in [row.turn for row in listed]


def test_refreshing_reads_only_what_may_have_changed(memory, monkeypatch):
    read: list[int] = []
    turns_of = memory.store.turns_of
    monkeypatch.setattr(
        memory.store, "turns_of", lambda *a: read.append(len(made := turns_of(*a))) or made
    )
    memory.refresh()
    said = memory.add_user_turn("And the flag?", after=3)
    assert said.role is Role.USER
    memory.refresh()
    assert max(read) <= 3
