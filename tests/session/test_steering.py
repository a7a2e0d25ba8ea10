"""Pins, exclusions and named turns: preview, sending and the store agree."""

from __future__ import annotations

import pytest

from jitchat.events import WindowBuilt
from jitchat.memory import Memory
from jitchat.values import Mode
from jitchat.window.compare import difference
from jitchat.window.parts import Sources
from jitchat.window.steering import Hold, HoldChange, Once, Steering
from jitchat.window.window import ContextWindow, Kind, Verdict
from tests.session.sending import send
from tests.support import demo_session
from tests.window.cases import turns_of

QUESTION = "what did we settle on for the deploy window?"


def window_in(events: list[object]) -> ContextWindow:
    return next(event.window for event in events if isinstance(event, WindowBuilt))


def test_a_turn_is_pinned_or_excluded_and_both_can_be_undone(store):
    session = demo_session(store)
    assert session.hold(9, Hold.PINNED) == HoldChange(9, None, Hold.PINNED)
    assert session.hold(9, Hold.EXCLUDED) == HoldChange(9, Hold.PINNED, Hold.EXCLUDED)
    assert session.hold(4, Hold.PINNED).before is None
    assert session.steering == Steering(frozenset({4}), frozenset({9}))
    again = Memory(store, session.memory.conversation)
    assert again.pins == {4: "pinned", 9: "excluded"}
    assert session.hold(9, None) == HoldChange(9, Hold.EXCLUDED, None)
    assert session.steering == Steering(frozenset({4}))
    with pytest.raises(LookupError):
        session.hold(61, Hold.PINNED)


async def test_the_sent_window_is_the_preview_with_all_pins_and_exclusions(store):
    session = demo_session(store)
    session.hold(9, Hold.EXCLUDED)
    session.hold(4, Hold.PINNED)
    draft, once = f"{QUESTION} see #12", Once(dropped=frozenset({8}), wanted=frozenset({20}))
    shown = session.preview(draft, Mode.JIT, once)
    sent = window_in([event async for event in session.send(draft, Mode.JIT, once)])
    assert not difference(shown, sent)
    assert shown.ledger == sent.ledger
    assert {8, 9}.isdisjoint(sent.kind_of_turns())
    assert turns_of(sent, Kind.PINNED) == [4]
    assert {12, 20} <= set(turns_of(sent, Kind.RETRIEVED))
    reasons = {row.turn: row.reason for row in sent.ledger}
    assert reasons[9] == "excluded by you"
    assert reasons[8] == "left out of this message by you"
    assert reasons[12] == "you asked for #12"


async def test_choices_for_one_message_do_not_apply_to_the_next(store):
    session = demo_session(store)
    async for _ in session.send(QUESTION, Mode.JIT, Once(dropped=frozenset({9}))):
        pass
    assert 9 in turns_of(window_in(await send(session, QUESTION)), Kind.RETRIEVED)


def test_another_turn_replaces_an_excluded_one(store):
    session = demo_session(store)
    before = session.preview(QUESTION, Mode.JIT)
    assert 9 in turns_of(before, Kind.RETRIEVED)
    session.hold(9, Hold.EXCLUDED)
    after = session.preview(QUESTION, Mode.JIT)
    told = difference(before, after)
    assert 9 in {each.turn for each in told.lost}
    row = next(row for row in after.ledger if row.turn == 9)
    assert (row.rank, row.verdict) == (1, Verdict.LEFT_OUT)
    best = next(row for row in after.ledger if row.verdict is Verdict.RETRIEVED)
    assert best.turn in {each.turn for each in told.gained} | before.kind_of_turns().keys()


def test_the_priced_history_is_reused_while_nothing_changes(store):
    session = demo_session(store)
    session.hold(9, Hold.EXCLUDED)
    planning = session.planning

    def sources(draft: str) -> Sources:
        return planning.sources(planning.question(draft), Mode.JIT, session.options.budget)

    assert sources("one").history is sources("and more").history
    session.hold(8, Hold.EXCLUDED)
    assert sources("one").history.taken_out.keys() == {8, 9}


def test_named_turns_that_do_not_exist_are_reported(store):
    session = demo_session(store)
    session.hold(9, Hold.EXCLUDED)
    told = {
        "and #12?": "",
        "no ids": "",
        "#61 #99 #12": "no #61 #99 here",
        "#9": "#9 excluded by you",
        "#9 or #70": "no #70 here, #9 excluded by you",
    }
    assert {draft: session.planning.unmet(draft) for draft in told} == told
