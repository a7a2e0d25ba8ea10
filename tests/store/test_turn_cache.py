"""Which turns the cache reads, and how far they are settled."""

from __future__ import annotations

import pytest

from jitchat.errors import StoreError
from jitchat.store.turn_cache import TurnCache, behind
from jitchat.turn_list import common_start
from jitchat.values import Role, Status, Turn
from tests.support import TALK, conversation_of, talk


@pytest.fixture
def talked(store):
    return conversation_of(store, talk(*TALK)).id


@pytest.fixture
def cache(store, talked) -> TurnCache:
    made = TurnCache(store, talked)
    made.refresh()
    return made


def said(text: str) -> list[Turn]:
    return [Turn(0, Role.USER, text)]


def places(cache: TurnCache) -> list[int]:
    return [turn.position for turn in cache.snapshot.turns]


def kept(cache: TurnCache) -> int:
    """Refresh; return how many turns at the start are unchanged."""
    before = cache.snapshot.turns
    cache.refresh()
    return common_start(before, cache.snapshot.turns)


def test_the_cache_reads_new_turns_and_a_switch_of_branch(store, talked, cache):
    assert places(cache) == [1, 2, 3, 4]
    before = cache.snapshot.turns
    assert kept(cache) == 4
    assert cache.snapshot.turns is before
    store.append(talked, said("And the flag?"))
    assert kept(cache) == 4
    store.append(talked, said("And the pole?"), under=2)
    assert kept(cache) == 2
    assert places(cache) == [1, 2, 6]
    store.switch_to(talked, 5)
    assert kept(cache) == 2
    assert (places(cache), cache.snapshot.settled) == ([1, 2, 3, 4, 5], 4)


def test_the_cache_reads_a_reply_once_it_is_finished(store, talked, cache):
    writing = Turn(0, Role.ASSISTANT, "Half", status=Status.STREAMING)
    (reply,) = store.append(talked, [writing], under=2)
    assert kept(cache) == 2
    assert places(cache) == [1, 2]
    assert not cache.snapshot.is_reached(reply)
    store.set_status(reply, Status.COMPLETE)
    assert kept(cache) == 2
    assert places(cache) == [1, 2, 5]


def test_a_settled_turn_is_not_read_again_until_it_is_unsettled(store, talked, cache):
    turn = cache.snapshot.turns[1]
    store.set_status(turn, Status.UNANSWERED)
    assert kept(cache) == 4
    cache.unsettle(turn)
    assert kept(cache) == 1
    assert cache.snapshot.turns[1].status is Status.UNANSWERED


def test_if_the_store_fails_the_cache_is_unchanged(store, talked, cache, monkeypatch):
    store.append(talked, said("And the pole?"), under=2)

    def fails(*_: object) -> list[Turn]:
        raise StoreError("The disk is gone.")

    with monkeypatch.context() as patched:
        patched.setattr(store, "turns_of", fails)
        with pytest.raises(StoreError):
            cache.refresh()
    assert places(cache) == [1, 2, 3, 4]
    assert kept(cache) == 2
    assert places(cache) == [1, 2, 5]


def test_turns_after_a_position_are_found_across_gaps(cache):
    turns = cache.snapshot.turns
    assert [turn.position for turn in behind(turns, 2)] == [3, 4]
    assert behind(turns, 9) == ()
    assert behind(turns, 0) == turns


def test_turns_are_the_same_up_to_the_first_that_differs(cache):
    turns = cache.snapshot.turns
    assert common_start(turns, turns[:2]) == common_start(turns[:2], turns) == 2
    assert common_start((), turns) == common_start(turns, turns[1:]) == 0
