"""Running regression cases again: found, not found and why, on any branch."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from jitchat.regression_cases import CaseChecker
from jitchat.store.regression_cases import Case, CaseKind, Cases
from jitchat.store.windows import WindowArchive
from jitchat.values import Mode, Turn
from jitchat.why import Standing
from jitchat.window.budget import Budget
from jitchat.window.steering import Hold, Once
from tests.support import demo_session, sent_window

if TYPE_CHECKING:
    from jitchat.session import Session
    from jitchat.store.store import ColdStore

QUESTION = "what did we settle on for the deploy window?"


async def asked(session: Session, once: Once = Once()) -> Turn:  # noqa: B008  a frozen value
    async for _ in session.send(QUESTION, Mode.JIT, once):
        pass
    return session.memory.turns[-2]


def noted(session: Session, said: Turn, wanted: int) -> Case:
    memory = session.memory
    window = WindowArchive(memory.store.database).window_id(said)
    case = Case(said, memory.turns[wanted - 1], CaseKind.MISS, window, memory.store.now())
    Cases(memory.store.database).put(case)
    return case


async def test_only_a_turn_at_full_text_passes_and_others_are_explained(
    store: ColdStore,
) -> None:
    session = demo_session(store)
    said = await asked(session)
    window = sent_window(session, said)
    assert window is not None
    listed = next(row.turn for row in window.ledger if row.verdict == "index")
    cases = [noted(session, said, turn) for turn in (9, listed, 20)]
    before = len(session.memory.turns), session.memory.pins

    found, line, never = map(CaseChecker(session).check, cases)
    assert (found.passes, found.then, found.now) == (True, Standing.SENT, Standing.SENT)
    assert (line.passes, line.now) == (False, Standing.LISTED)
    assert line.sentences[0].startswith(f"#{listed} is in the window as an index line only")
    assert (never.passes, never.then, never.now) == (False, Standing.NEVER, Standing.NEVER)
    assert never.sentences[0].startswith("#20 was never a candidate: rank 28 of 60")
    assert (len(session.memory.turns), session.memory.pins) == before


async def test_current_pins_exclusions_and_budget_apply(store: ColdStore) -> None:
    session = demo_session(store)
    said = await asked(session)
    cases = [noted(session, said, 9), noted(session, said, 20)]
    session.hold(9, Hold.EXCLUDED)
    session.hold(20, Hold.PINNED)
    excluded, pinned = map(CaseChecker(session).check, cases)
    assert excluded.now is Standing.LEFT_OUT
    assert "excluded by you" in excluded.sentences[0]
    assert (pinned.then, pinned.passes) == (Standing.NEVER, True)

    session.take_budget(replace(session.options.budget, limit=60, reserve=10))
    none = CaseChecker(session).check(cases[0])
    assert (none.then, none.now, none.passes) == (Standing.SENT, None, False)
    assert "more than the budget" in none.sentences[0]
    assert Budget().limit > 60


async def test_a_message_of_another_branch_is_planned_on_that_branch(store: ColdStore) -> None:
    session = demo_session(store)
    said = await asked(session)
    async for _ in session.send("another way", Mode.JIT, Once(after=58)):
        pass
    assert said.position not in [turn.position for turn in session.memory.turns]
    case = replace(noted(session, said, 9))
    (listed,) = Cases(store.database).of(session.memory.conversation.id)
    assert (listed.said, listed.wanted) == (case.said, case.wanted)
    head = store.path(session.memory.conversation.id).head

    checked = CaseChecker(session).check(listed)
    assert checked.passes
    assert store.path(session.memory.conversation.id).head == head
