"""The ledger: every turn that was considered, what became of it, and why."""

from __future__ import annotations

import re
from dataclasses import replace

from jitchat.values import Mode, Status
from jitchat.window.budget import Budget
from jitchat.window.history import History
from jitchat.window.parts import Sources
from jitchat.window.plan import plan
from jitchat.window.tokens import message_tokens
from jitchat.window.window import ContextWindow, Kind, LedgerRow, Verdict
from tests.support import talk, turn
from tests.window.cases import shortlist, turns_of
from tests.window.counters import Characters

COUNTER = Characters()
BUDGET = Budget(limit=8_000, reserve=500, size=700)


def window_for(
    mode: Mode, budget: Budget = BUDGET, **more: object
) -> tuple[ContextWindow, dict[int, LedgerRow]]:
    turns = talk(*(f"turn {number:02} " + "words " * 20 for number in range(1, 61)))
    history = History().extended(turns, lambda text: message_tokens(COUNTER, text))
    sources = replace(Sources(history, turn(61, "what was it?"), "model"), **more)
    window = plan(mode, sources, budget, COUNTER)
    return window, {row.turn: row for row in window.ledger}


def test_the_shortlist_comes_by_rank_and_then_what_came_along():
    found = shortlist(20, 60, 9, 15, hits=1, decisions=[40])
    window, _ = window_for(Mode.JIT, retrieval=found)
    assert [row.turn for row in window.ledger] == [20, 60, 9, 15, 40]
    assert [row.rank for row in window.ledger] == [1, 2, 3, 4, None]
    assert [row.verdict for row in window.ledger[:2]] == [Verdict.RETRIEVED, Verdict.RECENT]
    assert window.ledger[4].verdict is Verdict.INDEX


def test_a_row_says_what_the_segment_says():
    window, rows = window_for(Mode.JIT, retrieval=shortlist(20, 60, 9, hits=1), pinned=(9,))
    told = {60: "already in recent"}
    for segment in window.segments:
        if segment.turn in rows:
            assert rows[segment.turn].reason == told.get(segment.turn, segment.reason)
            assert rows[segment.turn].tokens == segment.tokens


def test_what_was_not_sent_costs_what_it_would_as_a_message_of_its_own():
    _, rows = window_for(Mode.JIT, retrieval=shortlist(20, 9, 15, hits=0))
    assert {row.tokens for row in rows.values()} == {
        message_tokens(COUNTER, "turn 09 " + "words " * 20)
    }


def test_a_candidate_that_was_not_picked_says_how_far_it_was_from_it():
    found = shortlist(20, 9, 15, 30, 33, hits=2)
    scores = (1.5, 1.0, 0.9, 0.998, 0.05)
    found = replace(
        found,
        candidates=tuple(
            replace(row, score=score) for row, score in zip(found.candidates, scores, strict=True)
        ),
        hits=tuple(
            replace(hit, score=score) for hit, score in zip(found.hits, scores, strict=False)
        ),
    )
    below = tuple(row.by_rank for row in found.candidates[2:])
    found = replace(found, floor=0.95, beyond=below)
    _, rows = window_for(Mode.JIT, retrieval=found)
    assert {turn: rows[turn].verdict for turn in (15, 30)} == {
        15: Verdict.RETRIEVED,
        30: Verdict.RETRIEVED,
    }
    assert {turn: rows[turn].reason for turn in (15, 30, 33)} == {
        15: "rank 3",
        30: "rank 4",
        33: "0.90 below the floor 0.95",
    }


def test_a_line_that_is_hardly_shorter_than_its_turn_is_told():
    found = shortlist(20, 9, hits=1)
    long_winded = replace(found.candidates[1].entry, summary="words " * 15)
    rows = (found.candidates[0], replace(found.candidates[1], entry=long_winded, score=0.0))
    _, told = window_for(Mode.JIT, retrieval=replace(found, candidates=rows, floor=1.0, beyond=()))
    assert told[9].verdict is Verdict.LEFT_OUT
    assert told[9].reason.endswith("; an index line would save little")


def test_a_hit_that_was_too_dear_names_its_price_and_what_was_left():
    found = shortlist(20, 9, *range(30, 45), hits=17)
    window, rows = window_for(Mode.JIT, retrieval=found, budget=BUDGET.of_size(500))
    assert 44 not in turns_of(window, Kind.RETRIEVED)
    told = re.match(r"no room: ~(\d+) tokens, ~(\d+) left for recalled turns", rows[44].reason)
    assert told
    assert abs(rows[44].tokens - int(told[1])) < 10, "but for the fence"
    assert int(told[2]) < int(told[1])


def test_a_late_decision_is_told_whether_its_line_was_sent_or_not():
    found = shortlist(20, hits=1, decisions=[40])
    _, rows = window_for(Mode.JIT, retrieval=found)
    assert (rows[40].verdict, rows[40].reason) == (Verdict.INDEX, "latest decision")
    _, rows = window_for(Mode.JIT, retrieval=found, budget=BUDGET.of_size(300))
    assert rows[40].verdict is Verdict.LEFT_OUT
    assert rows[40].reason == "latest decision; no room for its index line; tokens left: ~4"


def test_turns_that_have_no_room_in_recency_are_told():
    window, rows = window_for(Mode.RECENCY, budget=replace(BUDGET, limit=800))
    assert rows
    assert not rows.keys() & set(turns_of(window, Kind.RECENT))
    for row in rows.values():
        assert row.verdict is Verdict.LEFT_OUT
        assert re.fullmatch(
            r"no room for its exchange in the recent block; tokens left: ~\d+", row.reason
        )
        assert row.tokens > 0


def test_a_last_exchange_without_room_is_sent_in_part_or_told():
    window, rows = window_for(Mode.JIT, budget=BUDGET.of_size(110))
    assert turns_of(window, Kind.RECENT) == []
    assert {rows[turn].reason.split(",")[0] for turn in (59, 60)} == {"last exchange"}


def test_a_turn_that_was_asked_for_says_what_it_lacks():
    for found in (shortlist(51, hits=0), shortlist(decisions=[51])):
        asked = {"wanted": frozenset({51}), "retrieval": found, "budget": BUDGET.of_size(150)}
        _, rows = window_for(Mode.JIT, **asked)
        assert rows[51].verdict is not Verdict.RETRIEVED
        assert rows[51].reason.startswith("you asked for #51, but it would need ~")


def test_recency_has_the_same_shortlist_and_one_reason():
    _, rows = window_for(Mode.RECENCY, retrieval=shortlist(20, 60, hits=2, decisions=[40]))
    assert rows.keys() == {20, 60}
    assert rows[20].verdict is Verdict.LEFT_OUT
    assert rows[20].reason == "said before the recent block"
    assert rows[60].verdict is Verdict.RECENT


def test_full_has_every_candidate_at_full_text():
    _, rows = window_for(Mode.FULL, retrieval=shortlist(20, 60, decisions=[40]))
    assert {row.verdict for row in rows.values()} == {Verdict.RECENT}
    assert {row.reason for row in rows.values()} == {"mode full: every turn"}


def test_a_candidate_that_no_window_may_show_is_told_apart():
    turns = talk(*("words " * 30 for _ in range(40)))
    turns[8] = replace(turns[8], status=Status.UNANSWERED)
    history = History().extended(turns, lambda text: message_tokens(COUNTER, text))
    sources = Sources(history, turn(41, "?"), "model", retrieval=shortlist(9, 10))
    rows = {row.turn: row for row in plan(Mode.JIT, sources, BUDGET, COUNTER).ledger}
    assert rows[9].verdict is Verdict.LEFT_OUT
    assert rows[9].reason == "not a turn that a window can show"
    assert rows[10].verdict is Verdict.RETRIEVED
