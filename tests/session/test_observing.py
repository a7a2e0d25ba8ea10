"""The mode `observe` in a session: after the reply, when needed, and what is committed."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from jitchat.events import MemoryUpdated, ObservationDue, SendFailed, TurnStored, WindowBuilt
from jitchat.observing import Consent, ObserveRules
from jitchat.session import Session
from jitchat.session_options import SessionOptions
from jitchat.statements import Observation, Source
from jitchat.synthesis.policy import Thresholds
from jitchat.values import Mode
from jitchat.window.budget import Budget
from jitchat.window.window import Kind
from tests.support import conversation_of, session_on
from tests.synthesis.support import ScriptedObserver, one_line_each, small_talk

if TYPE_CHECKING:
    from jitchat.store.store import ColdStore

BUDGET = Budget(limit=4_000, reserve=400, size=1_000)


def session(store: ColdStore, count: int = 80, **options: object) -> Session:
    made = SessionOptions(budget=BUDGET, **options)  # type: ignore[arg-type]
    return session_on(store, conversation_of(store, small_talk(count)), options=made)


async def sent(session: Session, text: str = "And now?", mode: Mode = Mode.OBSERVE) -> list[object]:
    return [event async for event in session.send(text, mode)]


async def test_turns_are_observed_after_the_reply(store: ColdStore) -> None:
    made = session(store)
    events = await sent(made)
    kinds = [type(event) for event in events]
    assert MemoryUpdated in kinds
    last_reply = max(place for place, kind in enumerate(kinds) if kind is TurnStored)
    assert kinds.index(MemoryUpdated) > last_reply
    window = next(event.window for event in events if isinstance(event, WindowBuilt))
    assert not window.tokens_of(Kind.OBSERVATIONS)
    after = made.preview("And then?", Mode.OBSERVE)
    assert after.tokens_of(Kind.OBSERVATIONS)
    assert after.used < 0.35 * BUDGET.limit
    assert after.used + after.free + BUDGET.reserve == BUDGET.limit


@pytest.mark.parametrize("mode", [Mode.FULL, Mode.RECENCY, Mode.JIT, Mode.DOCUMENT])
async def test_in_another_mode_nothing_is_observed(store: ColdStore, mode: Mode) -> None:
    made = session(store)
    assert not any(isinstance(event, MemoryUpdated) for event in await sent(made, mode=mode))
    assert made.observing.passes() == []


async def test_nothing_is_observed_after_a_failed_send(store: ColdStore) -> None:
    made = session(store)
    made.provider.script = ()  # type: ignore[attr-defined]  it answers with nothing
    events = await sent(made)
    assert any(isinstance(event, SendFailed) for event in events)
    assert made.observing.passes() == []


async def test_the_next_message_is_sent_during_a_pass(store: ColdStore) -> None:
    free, begun = asyncio.Event(), asyncio.Event()

    async def meanwhile() -> None:
        begun.set()
        await free.wait()

    made = session(store, observer=ScriptedObserver(one_line_each, meanwhile=meanwhile))
    first = asyncio.create_task(sent(made))
    await begun.wait()
    events = await sent(made, "The next one.")
    (window,) = [event.window for event in events if isinstance(event, WindowBuilt)]
    assert not window.tokens_of(Kind.OBSERVATIONS)
    assert not any(isinstance(event, MemoryUpdated) for event in events)
    free.set()
    assert any(isinstance(event, MemoryUpdated) for event in await first)
    assert made.preview("x", Mode.OBSERVE).tokens_of(Kind.OBSERVATIONS)


async def test_with_confirmation_due_turns_are_named_and_not_observed(store: ColdStore) -> None:
    made = session(store, observing=ObserveRules(Thresholds(), Consent.ASK))
    (due,) = [event for event in await sent(made) if isinstance(event, ObservationDue)]
    assert due.turns is not None
    assert due.turns[0] == 1
    assert due.tokens > 0
    assert made.observing.passes() == []


async def test_the_observer_is_never_shown_its_own_lines_or_recalled_turns(store: ColdStore):
    observer = ScriptedObserver(
        lambda batch: [Observation("OWN LINE", Source(batch.turns[0].position, batch.last))],
        batches=[],
    )
    made = session(store, observer=observer)
    for number in range(12):
        await sent(made, f"Message {number} {'of some length ' * 12}")
    assert observer.batches is not None
    assert len(observer.batches) > 1
    shown = [turn for batch in observer.batches for turn in batch.turns]
    assert not any("OWN LINE" in turn.content or "<observ" in turn.content for turn in shown)
    assert len({turn.position for turn in shown}) == len(shown)
