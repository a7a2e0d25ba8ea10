"""One open conversation: what is taken in and when, its branches, and what the user pinned."""

from __future__ import annotations

import os

import pytest

from jitchat.errors import StoreFull
from jitchat.memory import Memory
from jitchat.store.database import Database
from jitchat.store.pins import Pins
from jitchat.store.replies import ReplyWriter
from jitchat.store.store import ColdStore
from jitchat.values import Role, Status, Turn
from tests.index.support import found, index, positions
from tests.store.support import claim, dead_process, make_full, make_read_only
from tests.support import talk


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
    writer = ReplyWriter(other.store, other.conversation.id)
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
    writer = ReplyWriter(other.store, other.conversation.id)
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
    assert other.store.branches(other.conversation.id) == {3: (3, 6)}


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


def hold(memory: Memory, position: int, how: str | None) -> None:
    Pins(memory.store.database).put(memory.turns[position - 1], how)
    memory.refresh()


def test_a_turn_is_held_in_one_way_or_in_none(memory):
    assert memory.pins == {}
    hold(memory, 2, "pinned")
    hold(memory, 1, "excluded")
    assert memory.pins == {1: "excluded", 2: "pinned"}
    hold(memory, 2, "excluded")
    hold(memory, 1, None)
    assert memory.pins == {2: "excluded"}


def test_it_is_there_again_when_the_conversation_is_opened_anew(memory, store):
    hold(memory, 2, "pinned")
    other = store.create("Another")
    store.append(other.id, talk("one", "two"))
    again = Database(store.database.path)
    opened = ColdStore(again)
    assert Memory(opened, opened.conversation(memory.conversation.id)).pins == {2: "pinned"}
    assert Memory(opened, opened.conversation(other.id)).pins == {}
    again.close()


def test_another_instance_is_followed(memory, store):
    beside = Memory(store, memory.conversation)
    hold(beside, 3, "excluded")
    memory.refresh()
    assert memory.pins == {3: "excluded"}


def test_only_turns_of_the_branch_are_told_of(memory):
    hold(memory, 1, "pinned")
    hold(memory, 4, "excluded")
    memory.add_user_turn("And the flag?", after=2)
    assert memory.pins == {1: "pinned"}
    memory.switch_to(4)
    assert memory.pins == {1: "pinned", 4: "excluded"}


def test_all_of_the_shortlist_may_be_recalled_once_anything_is_above_the_floor(memory):
    index(memory)
    retrieval = memory.retrieve("the gateway port", 5)
    assert retrieval.hits
    assert retrieval.beyond
    ranked = [*retrieval.hits, *retrieval.beyond]
    assert [hit.turn for hit in ranked] == [row.turn for row in retrieval.candidates]
    kept_out = retrieval.beyond[0].turn
    without = memory.retrieve("the gateway port", 5, {kept_out})
    assert kept_out not in {hit.turn for hit in (*without.hits, *without.beyond)}


def test_what_is_kept_out_is_on_the_shortlist_and_is_not_picked(memory):
    found = memory.retrieve("the gateway port", 5)
    assert 2 in {hit.turn for hit in found.hits}
    without = memory.retrieve("the gateway port", 5, {2})
    assert 2 in {row.turn for row in without.candidates}
    assert 2 not in {hit.turn for hit in without.hits}


def test_what_is_kept_out_lends_no_words_to_a_short_draft(memory):
    def matched(without: set[int]) -> set[str]:
        rows = memory.retrieve("and why?", 5, without).candidates
        return {word for row in rows for word in row.matched}

    assert matched(set()) != matched({3})
