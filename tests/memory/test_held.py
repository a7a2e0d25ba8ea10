"""What the user decided about turns lasts, and belongs to the turn."""

from __future__ import annotations

from jitchat.memory import Memory
from jitchat.store.database import Database
from jitchat.store.pins import Pins
from jitchat.store.store import ColdStore
from tests.support import talk


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
    assert Memory(opened, opened.conversation(memory.conversation.id)).held == {2: "pinned"}
    assert Memory(opened, opened.conversation(other.id)).held == {}
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
