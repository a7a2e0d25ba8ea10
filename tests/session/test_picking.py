"""A small model as picker: asked once the message is durable, its choice stored with it."""

from __future__ import annotations

import asyncio
from contextlib import closing
from dataclasses import replace
from sqlite3 import connect
from typing import TYPE_CHECKING

import pytest

from jitchat.errors import RequestRefused
from jitchat.events import TurnsRetrieved, TurnStored, WindowBuilt
from jitchat.providers.provider import Options, Piece
from jitchat.session import Session
from jitchat.session_options import SessionOptions
from jitchat.small_models.small_model import SmallModel
from jitchat.values import Message, Mode
from jitchat.window.budget import Budget
from jitchat.window.tokens import EstimateCounter, request_tokens
from jitchat.window.window import ContextWindow, Kind, Verdict
from tests.session.sending import (
    check_it_can_be_sent_again,
    check_nothing_is_left_open,
    durable,
    failures,
    kinds,
    send,
    stored_turns,
)
from tests.small_models.support import QUESTION, TURNS, UNREPORTED, picks, small
from tests.support import ScriptedProvider, conversation_of, sent_window, session_on, talk
from tests.window.cases import turns_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from jitchat.store.store import ColdStore


SMALL = Budget(size=1_500)
"""Holds about a quarter of the talk."""


def session_with(
    store: ColdStore, picker: SmallModel, *, provider: ScriptedProvider | None = None
) -> Session:
    conversation = conversation_of(store, talk(*TURNS))
    return session_on(store, conversation, provider, options=SessionOptions(SMALL, picker=picker))


def built(events: list[object]) -> ContextWindow:
    return next(event.window for event in events if isinstance(event, WindowBuilt))


async def test_picked_turns_are_at_full_text_with_the_two_best(store):
    session = session_with(store, small())
    order = [row.turn for row in session.memory.retrieve(QUESTION, 61).candidates]
    session.picker._model.provider.script = (picks(order[9], order[14]),)

    window = built(await send(session, QUESTION))

    loaded = {s.turn: s.reason for s in window.segments if s.kind is Kind.RETRIEVED}
    assert {order[0], order[9], order[14]} <= loaded.keys()
    assert loaded[order[9]] == loaded[order[14]] == "picked by small-1"
    rows = {row.turn: row for row in window.ledger}
    assert rows[order[9]].verdict is Verdict.RETRIEVED
    assert rows[order[4]].reason.startswith("not picked by small-1")
    assert window.picking is not None
    assert not window.picking.fallback


async def test_the_ledger_has_the_tokens_of_the_actual_request_and_is_stored(store):
    picker = small(picks(3))
    picker.provider.usage = UNREPORTED
    session = session_with(store, picker)
    beside = session_on(store, session.memory.conversation, options=SessionOptions(SMALL))
    plain = beside.preview(QUESTION, Mode.JIT)

    events = await send(session, QUESTION)

    window = built(events)
    (request,) = picker.provider.requests
    assert window.picking is not None
    schema = picker.provider.options[0].schema
    counter = EstimateCounter()
    sent = request_tokens(counter, request) + counter.count(schema)
    assert window.picking.input_tokens == sent
    assert window.picking.by_scores == plain.used
    assert window.picking.output_tokens == 10
    assert window.picking.ms > 0
    assert sent_window(session, stored_turns(events)[0]) == window
    assert session.provider.requests == [window.messages()]


@pytest.mark.parametrize(
    ("script", "told"),
    [
        (("I would take the third one.",), "its answer is not the JSON that was asked for"),
        ((picks(10_000),), "it picked no turn of the list"),
        ((RequestRefused("It refused.", "Wait."),), "it refused"),
        ((asyncio.Event(),), "no answer in 0.05 s"),
    ],
)
async def test_a_failure_falls_back_to_the_heuristic_and_is_kept_with_the_window(
    store, script, told
):
    is_slow = isinstance(script[0], asyncio.Event)
    session = session_with(store, small(*script, seconds=0.05 if is_slow else 5.0))
    beside = session_on(store, session.memory.conversation, options=SessionOptions(SMALL))
    plain = beside.preview(QUESTION, Mode.JIT)

    events = await send(session, QUESTION)

    window = built(events)
    assert not failures(events)
    assert kinds(events)[-2:] == ["TurnStored", "TurnIndexed"]
    assert window.messages()[1:-1] == plain.messages()[1:-1]
    assert turns_of(window, Kind.RETRIEVED) == turns_of(plain, Kind.RETRIEVED)
    assert window.picking is not None
    assert window.picking.fallback == told
    kept = sent_window(session, stored_turns(events)[0])
    assert kept is not None
    assert kept.picking == window.picking


class Looking(ScriptedProvider):
    """Records what is durable when it is called."""

    store = None
    found = None

    async def stream(self, messages: Sequence[Message], options: Options) -> AsyncIterator[Piece]:
        self.found = durable(self.store)
        async for piece in super().stream(messages, options):
            yield piece


async def test_the_users_turn_is_durable_before_the_picker_is_asked(store):
    looking = Looking((picks(3),))
    looking.store = store
    session = session_with(store, SmallModel(looking, EstimateCounter(), 5))

    await send(session, QUESTION)

    assert looking.found is not None
    assert looking.found.turns[-1] == (61, "user", QUESTION, "complete")
    assert looking.found.windows == []


@pytest.mark.parametrize(("answers", "size"), [(True, 5_000), (False, None)])
async def test_the_model_that_answers_picks_with_the_same_context_size(store, answers, size):
    listening = ScriptedProvider((picks(3),))
    session = session_with(store, SmallModel(listening, EstimateCounter(), 5, answers=answers))
    session.take_budget(replace(session.options.budget, limit=5_000))

    await send(session, QUESTION)

    assert replace(listening.options[0], schema=None) == Options(context=size)


@pytest.mark.parametrize("mode", [Mode.FULL, Mode.RECENCY])
async def test_the_picker_is_asked_only_in_jit(store, mode):
    picker = small(picks(3))

    window = built(await send(session_with(store, picker), QUESTION, mode))

    assert picker.provider.requests == []
    assert window.picking is None


async def test_a_preview_sends_nothing_and_says_that_the_choice_may_differ(store):
    picker = small(picks(3))
    session = session_with(store, picker)

    window = session.preview(QUESTION, Mode.JIT)

    assert picker.provider.requests == []
    assert window.picking is not None
    assert window.picking.fallback == "not asked before the message is sent"
    assert session.preview("", Mode.JIT).picking is None
    assert session.preview(QUESTION, Mode.FULL).picking is None


async def test_a_preview_can_ask_the_picker_and_is_then_the_window_sent(store):
    session = session_with(store, small())
    order = [row.turn for row in session.memory.retrieve(QUESTION, 61).candidates]
    session.picker._model.provider.script = (picks(order[9]),)

    asked = await session.preview_picked(QUESTION, Mode.JIT)
    sent = built(await send(session, QUESTION))

    assert turns_of(asked, Kind.RETRIEVED) == turns_of(sent, Kind.RETRIEVED)
    assert order[9] in turns_of(asked, Kind.RETRIEVED)


@pytest.mark.parametrize("way", ["task", "generator"])
async def test_cancelling_while_the_picker_is_asked_leaves_nothing_open(store, way):
    picker = small(asyncio.Event())
    session = session_with(store, picker)
    closed: list[bool] = []
    stream = picker.provider.stream

    async def noting(messages, options):
        try:
            async for piece in stream(messages, options):
                yield piece
        finally:
            closed.append(True)

    picker.provider.stream = noting
    events = session.send(QUESTION, Mode.JIT)
    assert isinstance(await anext(events), TurnStored)
    assert isinstance(await anext(events), TurnsRetrieved)
    if way == "task":
        asking = asyncio.ensure_future(anext(events))
        while not picker.provider.requests:
            await asyncio.sleep(0)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        assert closed == [True]
    await events.aclose()

    assert durable(store).turns[-1] == (61, "user", QUESTION, "unanswered")
    check_nothing_is_left_open(store)
    picker.provider.script = (picks(3),)
    await check_it_can_be_sent_again(session, store)


async def test_the_event_loop_is_not_blocked_while_the_picker_is_asked(store):
    gate = asyncio.Event()
    session = session_with(store, small(gate, picks(3)))
    sending = asyncio.ensure_future(send(session, QUESTION))
    for _ in range(2_000):
        await asyncio.sleep(0)
        if session.picker._model.provider.requests:
            break
    assert not sending.done()

    gate.set()

    assert not failures(await sending)


async def test_the_pickers_connections_are_closed_with_the_session(store):
    given_back: list[str] = []

    class Noting(ScriptedProvider):
        async def aclose(self) -> None:
            given_back.append(self.model)

    picker = SmallModel(Noting(model="small-1"), EstimateCounter(), 5)
    await session_with(store, picker, provider=Noting(model="large")).aclose()

    assert given_back == ["large", "small-1"]


async def test_a_window_of_an_earlier_version_has_no_picker(store):
    session = session_with(store, small(picks(3)))
    events = await send(session, QUESTION)
    with closing(connect(store.database.path)) as other, other:
        other.execute("UPDATE windows SET header = json_remove(header, '$.picking')")

    kept = sent_window(session, stored_turns(events)[0])

    assert kept is not None
    assert kept.picking is None
    assert kept.messages() == built(events).messages()
