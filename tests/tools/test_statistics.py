"""Totals of `request_context` and of held large results."""

from __future__ import annotations

from jitchat.tools.statistics import asked_in, held_in
from jitchat.values import Mode
from jitchat.window.tokens import EstimateCounter
from tests.session.sending import send
from tests.session.test_asking_the_store import Asking, asking, call
from tests.session.test_large_results import LOG, choose, with_log
from tests.support import ScriptedProvider


async def test_calls_are_counted_with_what_they_added_and_whether_the_answer_names_them(store):
    answers = [("It is Odile (#2).",), ("No need.",), (call("zebra quantum"),), ("I know not.",)]
    session = asking(store, ScriptedProvider((call(),), later=answers), Asking.ON)
    for draft in ("And who was that?", "thanks for that", "and the zebra?"):
        await send(session, draft, Mode.RECENCY)
    found = asked_in(store.database)
    assert (found.messages, found.asking, found.calls, found.found) == (3, 2, 2, 1)
    assert found.tokens > 0
    assert "2 calls in 2 of 3 messages (67 %)" in found.sentence


async def test_what_the_gate_saved_is_told(store):
    session = with_log(store, (choose(5, "compact", "which crane is stuck"),), ("Done.",))
    await send(session, "what happened?")
    held = held_in(store.database, EstimateCounter())
    assert held.results == 1
    assert held.whole == EstimateCounter().count(LOG)
    assert held.saved > 0.8


def test_where_nothing_was_asked_or_held_nothing_is_said(store):
    assert asked_in(store.database).sentence == ""
    assert held_in(store.database, EstimateCounter()).sentence == ""
