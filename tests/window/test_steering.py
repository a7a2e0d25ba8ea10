"""What the user decides about turns, and what becomes of it in the windows of each mode."""

from __future__ import annotations

from dataclasses import replace

import pytest

from jitchat.values import Mode, Retrieval
from jitchat.window import reasons
from jitchat.window.budget import Budget
from jitchat.window.calibration import Calibration
from jitchat.window.parts import Sources
from jitchat.window.plan import plan
from jitchat.window.steering import Hold, Once, Steering
from jitchat.window.window import ContextWindow, Kind, LedgerRow, Verdict
from tests.support import turn
from tests.window.cases import shortlist, turns_of
from tests.window.test_plan import COUNTER, ROOMY, at_budget, sixty
from tests.window.test_plan import sources as sources_of

EXCLUDED = "excluded by you"


def sources(*, out: tuple[int, ...] = (), long: tuple[int, ...] = (), **more: object) -> Sources:
    turns = sixty()
    for position in long:
        turns[position - 1] = turn(position, "long " * 700)
    made = sources_of(turns, **more)

    def price(text: str) -> int:
        return COUNTER.count(text) + 4

    history = made.history.without(out, price)
    return replace(made, history=history, without=dict.fromkeys(out, EXCLUDED))


def sent(wanted: Sources, mode: Mode = Mode.JIT, budget: Budget = ROOMY) -> ContextWindow:
    return plan(mode, wanted, budget, COUNTER)


def row_of(window: ContextWindow, position: int) -> LedgerRow:
    return next(row for row in window.ledger if row.turn == position)


# excluded


@pytest.mark.parametrize("mode", list(Mode))
def test_an_excluded_turn_is_in_no_window_and_the_ledger_says_so(mode):
    window = sent(sources(out=(9, 59), retrieval=shortlist(9, 20)), mode)
    assert {9, 59}.isdisjoint(window.kind_of_turns())
    text = "".join(message.content for message in window.messages())
    assert "turn 09" not in text
    assert "turn 59" not in text
    for position in (9, 59):
        row = row_of(window, position)
        assert (row.verdict, row.reason) == (Verdict.LEFT_OUT, EXCLUDED)
        assert row.tokens == sources().history.costs[position - 1]


def test_full_is_reckoned_without_them_and_says_how_many_they_are():
    plain, steered = sent(sources(), Mode.FULL), sent(sources(out=(9, 59)), Mode.FULL)
    assert steered.used == steered.full_tokens < plain.full_tokens
    assert {segment.reason for segment in steered.segments[1:-1]} == {
        "mode full: every turn except 2 kept out"
    }
    assert sent(sources(out=(9, 59))).full_tokens == steered.full_tokens


def test_the_last_turns_can_all_be_excluded():
    window = sent(sources(out=tuple(range(1, 61))))
    assert [segment.kind for segment in window.segments] == [Kind.SYSTEM, Kind.DRAFT]
    assert window.used == window.full_tokens
    assert {row.reason for row in window.ledger} == {EXCLUDED}
    assert len(window.ledger) == 60


def test_what_was_excluded_leaves_its_place_to_the_next_turns_of_the_block():
    block = turns_of(sent(sources(), Mode.RECENCY), Kind.RECENT)
    kept = turns_of(sent(sources(out=(60, 58)), Mode.RECENCY), Kind.RECENT)
    assert {58, 60} < set(block)
    assert not {58, 60}.intersection(kept)
    assert kept


def test_an_excluded_late_decision_is_told_of_as_excluded():
    window = sent(sources(out=(30,), retrieval=shortlist(9, hits=0, decisions=[30])))
    assert row_of(window, 30).reason == EXCLUDED


# asked for


def test_a_turn_that_is_asked_for_is_there_whatever_was_found():
    window = sent(sources(wanted=frozenset({12}), retrieval=shortlist(20, 9, hits=2)))
    assert turns_of(window, Kind.RETRIEVED) == [9, 20, 12]
    row = row_of(window, 12)
    assert (row.rank, row.verdict, row.reason) == (None, Verdict.RETRIEVED, "you asked for #12")
    assert row.tokens == next(s.tokens for s in window.segments if s.turn == 12)


def test_it_comes_on_top_of_what_is_found_and_takes_only_the_room_of_that():
    found = shortlist(9, 15, 20, 25)
    plain = sent(sources(long=(12,), retrieval=found))
    window = sent(sources(long=(12,), wanted=frozenset({12}), retrieval=found))
    assert set(turns_of(window, Kind.RETRIEVED)) == {12, *turns_of(plain, Kind.RETRIEVED)}
    tight = at_budget(window.used - 60)
    assert 12 in turns_of(sent(sources(long=(12,), wanted=frozenset({12}), retrieval=found),
                               budget=tight), Kind.RETRIEVED)  # fmt: skip


@pytest.mark.parametrize("slope", [1.0, 2.0])
@pytest.mark.parametrize("found", [Retrieval(searched=60), shortlist(20, 12)])
def test_one_that_does_not_fit_says_what_it_lacks_and_fits_with_that(slope, found):
    wanted = sources(long=(12,), wanted=frozenset({12}), retrieval=found)
    learnt = Calibration(slope, 0.0, 0.0, 9)
    budget = Budget(limit=8_000, reserve=500, size=round(700 * slope))
    window = plan(Mode.JIT, wanted, budget, COUNTER, learnt)
    excerpt, _, told = row_of(window, 12).reason.partition("; in full, it would need ")
    assert excerpt.endswith(": you asked for #12")
    missing = int(told.split()[0].strip("~").replace(",", ""))
    more = budget.of_size(budget.size + missing + 8)
    whole = row_of(plan(Mode.JIT, wanted, more, COUNTER, learnt), 12)
    assert (whole.verdict, whole.reason) == (Verdict.RETRIEVED, "you asked for #12")


def test_in_another_mode_it_is_said_which_modes_fetch():
    wanted = sources(wanted=frozenset({12, 60}), retrieval=shortlist(20))
    window = sent(wanted, Mode.RECENCY)
    assert row_of(window, 12).reason == reasons.NOT_FETCHED
    assert [row.turn for row in window.ledger] == [20, 12]
    also_found = sent(replace(wanted, retrieval=shortlist(12)), Mode.RECENCY)
    assert row_of(also_found, 12).reason == reasons.NOT_FETCHED


def test_what_is_there_anyway_or_nowhere_is_not_loaded():
    window = sent(sources(out=(7,), pinned=(4,), wanted=frozenset({4, 7, 60, 99})))
    assert turns_of(window, Kind.RETRIEVED) == []
    assert (turns_of(window, Kind.PINNED), row_of(window, 7).reason) == ([4], EXCLUDED)
    assert [row.turn for row in window.ledger] == [7]


# pins


def test_every_pinned_turn_is_in_every_window_of_jit_or_it_is_told_what_it_lacks():
    wanted = sources(pinned=(4, 30, 59), retrieval=shortlist(9, 20))
    least = sum(s.tokens for s in sent(wanted).segments if s.kind is not Kind.RECENT)
    for tokens in range(1_200, least, -20):
        kinds = sent(wanted, budget=at_budget(tokens)).kind_of_turns()
        assert {4, 30, 59} <= {turn for turn, kind in kinds.items() if kind is not Kind.INDEX}
    tight = sent(wanted, budget=at_budget(100))
    for position in {4, 30, 59} - tight.kind_of_turns().keys():
        assert row_of(tight, position).reason.startswith("pinned by you, but it would need ~")


# values


def test_what_is_kept_out_for_good_is_told_so_also_when_it_is_dropped_once():
    steering = Steering(frozenset({1}), frozenset({2, 3}))
    assert Once(dropped=frozenset({3, 4})).without(steering) == {
        2: EXCLUDED,
        3: EXCLUDED,
        4: "left out of this message by you",
    }
    assert [steering.of(place) for place in (1, 2, 9)] == [Hold.PINNED, Hold.EXCLUDED, None]


def test_steering_is_read_as_it_is_stored():
    stored = {4: "pinned", 9: "excluded"}
    assert Steering.from_words(stored) == Steering(frozenset({4}), frozenset({9}))


@pytest.mark.parametrize("is_there", [True, False])
def test_toggling_twice_leaves_everything_as_it_was(is_there):
    once = Once(after=4, wanted=frozenset({7}), dropped=frozenset({8}))
    changed = once.toggled(9, is_there=is_there)
    assert (changed.dropped if is_there else changed.wanted) >= {9}
    assert changed.toggled(9, is_there=not is_there) == once
    assert once.toggled(7, is_there=True).wanted == frozenset()
    assert once.toggled(8, is_there=False).dropped == frozenset()
