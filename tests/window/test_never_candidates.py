"""Turns that were never candidates: one sum, so that every turn of the history is told of."""

from __future__ import annotations

from dataclasses import replace

import pytest

from jitchat.values import Mode, Retrieval, Role, Turn
from jitchat.window.budget import Budget
from jitchat.window.history import History
from jitchat.window.ledger import never_candidates
from jitchat.window.parts import Choice, Sources
from jitchat.window.plan import plan
from jitchat.window.tokens import message_tokens
from jitchat.window.window import (
    ContextWindow,
    Kind,
    LedgerRow,
    NeverCandidates,
    Verdict,
)
from tests.support import talk, turn
from tests.window.cases import shortlist, turns_of
from tests.window.counters import Characters

COUNTER = Characters()
BUDGET = Budget(limit=8_000, reserve=500, size=700)
SIZE = 60
NOTHING = Retrieval(searched=SIZE)


def priced(turns: list[Turn]) -> History:
    return History().extended(turns, lambda text: message_tokens(COUNTER, text))


def window_for(
    mode: Mode, retrieval: Retrieval = NOTHING, pinned: tuple[int, ...] = ()
) -> ContextWindow:
    turns = talk(*(f"turn {number:02} " + "words " * number for number in range(1, SIZE + 1)))
    draft = turn(SIZE + 1, "what was it?")
    sources = Sources(priced(turns), draft, "model", retrieval=retrieval, pinned=pinned)
    return plan(mode, sources, BUDGET, COUNTER)


def rest(window: ContextWindow) -> NeverCandidates:
    assert window.never_candidates is not None
    return window.never_candidates


def test_what_is_neither_in_the_ledger_nor_sent_is_one_sum():
    window = window_for(Mode.JIT, shortlist(20, 9, SIZE, hits=1, decisions=[30]), pinned=(2,))
    block = turns_of(window, Kind.RECENT)
    assert SIZE in block
    told = {20, 9, 30, 2, *block}
    ahead = [number for number in range(1, SIZE + 1) if number not in told]
    costs = [message_tokens(COUNTER, f"turn {number:02} " + "words " * number) for number in ahead]
    assert (rest(window).turns, rest(window).tokens) == (len(ahead), sum(costs))


@pytest.mark.parametrize(
    ("mode", "found", "reason"),
    [
        (Mode.JIT, shortlist(20, 9, 3), "matched less than the shortlist of 3, or not at all"),
        (Mode.JIT, NOTHING, "nothing in them matched"),
        (Mode.JIT, shortlist(decisions=[30]), "nothing in them matched"),
        (Mode.RECENCY, shortlist(20, 9), "said before the recent block"),
        (Mode.RECENCY, NOTHING, "said before the recent block"),
    ],
)
def test_the_reason_is_the_one_that_decided(mode: Mode, found: Retrieval, reason: str):
    assert rest(window_for(mode, found)).reason == reason


def test_a_short_shortlist_in_recency_leaves_the_rest_in_the_sum():
    window = window_for(Mode.RECENCY, shortlist(20, 9))
    block = turns_of(window, Kind.RECENT)
    assert rest(window).turns == SIZE - len(block) - 2


def test_full_leaves_nothing_over():
    assert window_for(Mode.FULL, shortlist(20, 9)).never_candidates is None


def test_a_conversation_that_is_passed_through_leaves_nothing_over():
    sources = Sources(priced(talk("one", "two", "three")), turn(4, "and?"), "model")
    assert plan(Mode.JIT, sources, BUDGET, COUNTER).never_candidates is None


def test_an_empty_conversation_leaves_nothing_over():
    for mode in Mode:
        window = plan(mode, Sources(History(), turn(1, "hi"), "model"), BUDGET, COUNTER)
        assert window.never_candidates is None


def test_a_shortlist_of_the_whole_conversation_leaves_nothing_over():
    assert window_for(Mode.JIT, shortlist(*range(1, SIZE + 1))).never_candidates is None


def test_a_candidate_that_the_history_does_not_hold_is_not_taken_off():
    missing = window_for(Mode.JIT, shortlist(20, SIZE + 9, hits=0))
    known = window_for(Mode.JIT, shortlist(20, hits=0))
    assert rest(missing).turns == rest(known).turns
    assert rest(missing).tokens == rest(known).tokens


def sources_of(history: History, retrieval: Retrieval) -> Sources:
    return Sources(history, Turn(SIZE + 1, Role.USER, "next"), "model", retrieval=retrieval)


def test_without_a_recent_block_every_turn_is_told_of():
    history = priced(talk(*(f"number {number}" for number in range(9))))
    squeezed = [LedgerRow(9, None, 0.0, (), history.costs[8], Verdict.LEFT_OUT, "no room")]
    summed = never_candidates(sources_of(history, NOTHING), Choice(()), squeezed)
    assert summed is not None
    assert (summed.turns, summed.tokens) == (8, history.total - history.costs[8])


@pytest.mark.parametrize(
    ("retrieval", "reason"),
    [
        (Retrieval(), "nothing typed yet"),
        (Retrieval(searched=0), "not all of them are indexed yet"),
        (replace(shortlist(20), searched=30), "not all of them are indexed yet"),
        (Retrieval(searched=SIZE), "nothing in them matched"),
    ],
)
def test_what_was_not_looked_through_is_not_said_to_match_nothing(
    retrieval: Retrieval, reason: str
):
    assert rest(window_for(Mode.JIT, retrieval)).reason == reason


def test_one_turn_is_spoken_of_in_the_singular():
    many = NeverCandidates(1_204, 60_000, "nothing in them matched")
    assert many.sentence == "1,204 turns were never candidates: nothing in them matched"
    one = replace(many, turns=1)
    assert one.sentence == "1 turn was never a candidate: nothing in them matched"


class Looked(tuple[int, ...]):
    """Prices that may be looked up one at a time, and not gone through."""

    looked: list[int]

    def __getitem__(self, index: int) -> int:  # type: ignore[override]
        self.looked.append(index)
        return super().__getitem__(index)

    def __iter__(self):
        raise AssertionError("every price of the conversation was read")


def test_only_the_prices_of_turns_that_are_told_of_are_looked_up():
    history = priced(talk(*("said" for _ in range(1_000))))
    costs = Looked(history.costs)
    costs.looked = []
    found = Retrieval(searched=1_000)
    rows = [LedgerRow(place, 1, 1.0, (), 9, Verdict.LEFT_OUT, "why") for place in (400, 7)]
    summed = never_candidates(sources_of(replace(history, costs=costs), found), Choice(()), rows)
    assert summed is not None
    assert summed.turns == 998
    assert sorted(costs.looked) == [6, 399]
