"""What is taken in of a conversation, and from where on it is another."""

from __future__ import annotations

import pytest

from jitchat.errors import StoreError
from jitchat.store.turn_cache import Change, FinishedTurns, behind
from jitchat.values import Role, Status, Turn
from tests.memory.support import TALK
from tests.support import conversation_of, talk


@pytest.fixture
def talked(store):
    return conversation_of(store, talk(*TALK)).id


@pytest.fixture
def known(store, talked) -> FinishedTurns:
    made = FinishedTurns(store, talked)
    assert made.take_in() == Change(1, 1)
    return made


def said(text: str) -> list[Turn]:
    return [Turn(0, Role.USER, text)]


def places(known: FinishedTurns) -> list[int]:
    return [turn.position for turn in known.turns]


def test_where_the_path_is_another_is_told_and_its_first_turn_that_is_new(store, talked, known):
    assert known.take_in() is None
    store.append(talked, said("And the flag?"))
    assert known.take_in() == Change(5, 5)
    store.append(talked, said("And the pole?"), under=2)
    assert known.take_in() == Change(3, 6)
    assert places(known) == [1, 2, 6]
    store.switch_to(talked, 5)
    assert known.take_in() == Change(3, 3)
    assert (places(known), known.settled) == ([1, 2, 3, 4, 5], 4)


def test_where_nothing_is_finished_yet_on_another_branch_turns_are_left_and_none_is_new(
    store, talked, known
):
    writing = Turn(0, Role.ASSISTANT, "Half", status=Status.STREAMING)
    (reply,) = store.append(talked, [writing], under=2)
    assert known.take_in() == Change(3, None)
    store.set_status(reply, Status.COMPLETE)
    assert known.take_in() == Change(5, 5)
    assert places(known) == [1, 2, 5]


def test_a_settled_turn_is_not_looked_at_before_it_is_unsettled(store, talked, known):
    store.set_status(known.turns[1], Status.UNANSWERED)
    assert known.take_in() is None
    known.unsettle(known.turns[1])
    assert known.take_in() == Change(2, 2)
    assert known.turns[1].status is Status.UNANSWERED


def test_where_the_store_fails_nothing_is_taken_in(store, talked, known, monkeypatch):
    store.append(talked, said("And the pole?"), under=2)

    def fails(*_: object) -> list[Turn]:
        raise StoreError("The disk is gone.")

    with monkeypatch.context() as patched:
        patched.setattr(store, "turns_of", fails)
        with pytest.raises(StoreError):
            known.take_in()
    assert places(known) == [1, 2, 3, 4]
    assert known.take_in() == Change(3, 5)
    assert places(known) == [1, 2, 5]


def test_what_lies_behind_a_position_is_found_over_gaps(known):
    assert [turn.position for turn in behind(known.turns, 2)] == [3, 4]
    assert behind(known.turns, 9) == []
    assert behind(known.turns, 0) == known.turns
