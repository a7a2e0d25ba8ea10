"""Why a turn is in a window or not, for every possible state of a turn."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from jitchat.errors import Unreachable
from jitchat.memory import Memory
from jitchat.session_options import SessionOptions
from jitchat.statements import Observation, Priority, Source
from jitchat.tools.offering import Asking, OfferRules
from jitchat.values import REQUEST_CONTEXT, Mode, Status, ToolCall, Turn
from jitchat.why import Explained, Standing, Why, why
from jitchat.window import reasons
from jitchat.window.budget import Budget
from jitchat.window.steering import NO_MORE, Hold, Once
from tests.session.sending import send, stored_turns
from tests.support import (
    ScriptedProvider,
    conversation_of,
    demo_session,
    observe,
    sent_window,
    session_on,
    talk,
)

if TYPE_CHECKING:
    from jitchat.session import Session
    from jitchat.store.store import ColdStore

QUESTION = "what did we settle on for the deploy window?"


@pytest.fixture
def demo(store: ColdStore) -> Session:
    return demo_session(store)


def asked(
    session: Session, draft: str, turn: int, once: Once = NO_MORE, mode: Mode = Mode.JIT
) -> Why:
    return why(session.memory, session.explained(draft, mode, once), turn)


def test_every_turn_of_a_conversation_is_explained(demo: Session) -> None:
    for mode in Mode:
        window = demo.preview(QUESTION, mode)
        explained, kinds = Explained(window, QUESTION), window.kind_of_turns()
        rows = {row.turn: row for row in window.ledger}
        answers = [why(demo.memory, explained, turn.position) for turn in demo.memory.turns]
        never = [each for each in answers if each.standing is Standing.NEVER]
        never_candidates = window.never_candidates.turns if window.never_candidates else 0
        assert len(never) == never_candidates, mode
        for each in answers:
            place = mode, each.turn
            is_there = each.standing in (Standing.SENT, Standing.LISTED)
            assert is_there == (each.turn in kinds), place
            assert each.row == rows.get(each.turn), place
            assert (each.placed is not None) == (each.standing is Standing.NEVER), place
            assert 1 <= len(each.sentences) <= 3, place
            assert f"#{each.turn} " in each.sentences[0], place


def test_a_candidate_is_explained_by_its_reason_and_rank(demo: Session) -> None:
    window = demo.preview(QUESTION, Mode.JIT)
    first, last = window.ledger[0], next(row for row in window.ledger if row.rank == 17)
    assert str(asked(demo, QUESTION, first.turn)) == (
        f"#9 is in the window as retrieved, ~{first.tokens} tokens: {first.reason}."
        " It is rank 1 of the 17 on the shortlist with 1.12."
    )
    assert str(asked(demo, QUESTION, last.turn)) == (
        f"#27 is not in the window: {last.reason}. At full text it would cost ~{last.tokens}"
        " tokens. It is rank 17 of the 17 on the shortlist with 0.02; the last one picked is #24"
        " with 0.38."
    )
    listed = next(row for row in window.ledger if row.verdict.value == "index")
    told = asked(demo, QUESTION, listed.turn)
    assert told.standing is Standing.LISTED
    assert told.sentences[0].startswith(f"#{listed.turn} is in the window as an index line only, ~")
    assert told.sentences[1].endswith(f"and is left out: {listed.reason}.")


def test_a_turn_that_was_no_candidate_is_ranked_among_all(demo: Session) -> None:
    told = asked(demo, QUESTION, 20)
    assert told.placed is not None
    assert str(told) == (
        "#20 was never a candidate: rank 28 of 60, no shared term."
        " The shortlist ends at rank 17 with 0.02; this turn has 0.00."
    )
    assert str(asked(demo, "xyzzy quux", 20)).endswith("is empty: no turn scored above 0.")
    assert str(asked(demo, QUESTION, 20, mode=Mode.RECENCY)) == (
        "#20 is not in the window: said before the recent block."
        " By its text: rank 28 of 60, no shared term."
    )
    assert str(asked(demo, " ", 20)) == "#20 is not in the window: nothing typed yet."


def test_for_a_turn_below_the_shortlist_shared_words_are_listed(
    store: ColdStore,
) -> None:
    turns = talk(*["The gateway listens on port 8443."] * 160, "Ah, the gateway, of course, yes.")
    options = SessionOptions(Budget(size=1_500))
    session = session_on(store, conversation_of(store, turns), options=options)
    explained = session.explained("gateway port", Mode.JIT, NO_MORE)
    worst = [why(session.memory, explained, turn.position) for turn in turns]
    never = [each for each in worst if each.standing is Standing.NEVER]
    ranks = [each.placed.candidate.rank for each in never if each.placed]
    assert ranks
    assert min(ranks) > 120
    assert f"rank {ranks[0]} of 161, shares “gateway, port”, lexical" in str(never[0])
    assert "The shortlist ends at rank 120 with " in str(never[0])


def test_a_turn_that_does_not_exist_is_reported_as_such(demo: Session) -> None:
    for turn in (-1, 0, 62, 10**9):
        told = asked(demo, QUESTION, turn)
        assert (told.standing, str(told)) == (
            Standing.UNKNOWN, f"There is no #{turn}: the last turn is #60.",
        )  # fmt: skip


def test_the_message_and_later_turns_are_distinguished(demo: Session) -> None:
    said = demo.memory.turns[40]
    again = Once(again=said)
    assert asked(demo, "", said.position, again).standing is Standing.MESSAGE
    assert asked(demo, "", said.position + 1, again).standing is Standing.LATER
    assert asked(demo, "another", 3, Once(after=2)).standing is Standing.ELSEWHERE
    assert asked(demo, QUESTION, 61).standing is Standing.MESSAGE


def test_a_turn_on_another_branch_is_reported_as_such(demo: Session) -> None:
    demo.memory.add_user_turn("Something else.", after=4)
    assert asked(demo, QUESTION, 30).standing is Standing.ELSEWHERE
    assert asked(demo, QUESTION, 5).standing is Standing.ELSEWHERE
    assert asked(demo, QUESTION, 4).standing in (Standing.SENT, Standing.LEFT_OUT, Standing.NEVER)


async def test_a_turn_that_no_window_can_have_is_reported_as_such(demo: Session) -> None:
    demo.provider = ScriptedProvider((Unreachable("Nobody is there.", "Try again."),))
    await send(demo, "hello?")
    writer = demo.memory.begin_reply(demo.memory.add_user_turn("And now?"))
    unanswered = asked(demo, QUESTION, 61)
    assert unanswered.standing is Standing.UNSHOWN
    assert str(unanswered) == f"#61 is not in the window: {reasons.UNANSWERED}."
    writer.add(" ")
    writer.save()
    assert asked(demo, QUESTION, 63).standing is Standing.UNFINISHED
    writer.finish(Status.COMPLETE)
    assert str(asked(demo, QUESTION, 63)) == f"#63 is not in the window: {reasons.BLANK_REPLY}."


def test_a_turn_that_is_not_indexed_yet_is_reported_as_such(store: ColdStore) -> None:
    turns = talk(*(f"turn {number} of a long talk about harbours" for number in range(1, 90)))
    conversation = conversation_of(store, turns)
    demo = session_on(store, conversation, options=SessionOptions(Budget(size=600)))
    demo.memory = Memory(store, conversation)
    with store.database.write() as connection:
        connection.execute("DELETE FROM index_entries")
    window = replace(demo.preview("harbour?", Mode.JIT), ledger=())
    assert why(demo.memory, Explained(window, "harbour?"), 3).standing is Standing.NOT_INDEXED


def test_the_users_decision_is_the_reason(demo: Session) -> None:
    demo.hold(9, Hold.EXCLUDED)
    demo.hold(20, Hold.PINNED)
    assert str(asked(demo, QUESTION, 9)).startswith("#9 is not in the window: excluded by you")
    assert str(asked(demo, QUESTION, 20)).startswith("#20 is in the window as pinned, ~")
    assert str(asked(demo, f"{QUESTION} #31", 31)).endswith("tokens: you asked for #31.")
    left = asked(demo, QUESTION, 30, Once(dropped=frozenset({30})))
    assert "left out of this message by you" in str(left)


async def test_the_stored_ledger_explains_a_sent_window(demo: Session) -> None:
    said = stored_turns(await send(demo, QUESTION))[0]
    sent = sent_window(demo, said)
    assert sent is not None
    rows = {row.turn: row for row in sent.ledger}
    demo.memory.add_user_turn("Later, the deploy window was moved.")
    assert _told(demo, said, 9).row == rows[9]
    assert _told(demo, said, 9).standing is Standing.SENT
    assert _told(demo, said, 63).standing is Standing.LATER
    assert _told(demo, said, said.position).standing is Standing.MESSAGE
    assert str(_told(demo, said, 20)).endswith("Ranked with today's index.")


async def test_a_window_of_another_branch_is_explained_too(demo: Session) -> None:
    said = stored_turns(await send(demo, QUESTION))[0]
    other = demo.memory.add_user_turn("Something else.", after=4)
    assert _told(demo, said, 9).standing is Standing.SENT
    assert _told(demo, said, other.position).standing is Standing.ELSEWHERE


def _told(session: Session, said: Turn, turn: int) -> Why:
    sent = sent_window(session, said)
    assert sent is not None
    return why(session.memory, Explained(sent, said.content, said), turn)


def test_for_an_observed_turn_its_observations_are_quoted(
    demo: Session,
) -> None:
    said = "The deploy window is Tuesday 09:00 to 11:00."
    observe(demo.memory, 40, Observation(said, Source(8, 9), Priority.HIGH))
    question = "tell me about the lighthouse vote"
    carried = asked(demo, question, 9, mode=Mode.OBSERVE)
    assert carried.sentences[1] == f"Covered by: “[high] {said} (#8–#9)”."
    assert asked(demo, question, 10, mode=Mode.OBSERVE).sentences[1] == "No statement covers it."
    for mode, turn in ((Mode.OBSERVE, 41), (Mode.OBSERVE, 45), (Mode.RECENCY, 9)):
        assert "statement" not in str(asked(demo, question, turn, mode=mode))
    found = asked(demo, QUESTION, 9, mode=Mode.OBSERVE)
    assert found.standing is Standing.SENT, "it matches, so it is in the window as it was said"


async def test_a_request_for_context_and_its_result_are_never_promised_for_later(store: ColdStore):
    """They belong to one turn: no waiting brings them into a window."""
    call = ToolCall("1", REQUEST_CONTEXT, '{"query": "harbour"}')
    provider = ScriptedProvider((call,), later=[("9641.",)])
    options = SessionOptions(Budget(size=500), offers=OfferRules(Asking.ON))
    said = talk(*(f"The harbour master of pier {number}." for number in range(40)))
    session = session_on(store, conversation_of(store, said), provider, options=options)
    await send(session, "which port?", Mode.RECENCY)
    aside = [turn.position for turn in session.memory.turns if turn.use]
    explained = session.explained("and the harbour?", Mode.JIT)

    assert len(aside) == 2
    for position in aside:
        found = why(session.memory, explained, position)
        assert found.standing is Standing.UNSHOWN
        assert reasons.OWN_TOOLS in found.sentences[0]
