"""A window that a real engine refuses: its limit is learnt, and a smaller one is answered."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from jitchat.errors import JitchatError
from jitchat.events import LimitLearnt, WindowBuilt
from jitchat.session import Session
from jitchat.session_options import SessionOptions
from jitchat.store.models import ModelLessons
from jitchat.values import Mode
from jitchat.window.budget import Budget
from tests.engine.asking import ROUTES, SAMPLING, provider
from tests.engine.tiny_model import BRIEF, NAME
from tests.session.sending import (
    check_nothing_is_left_open,
    durable,
    failures,
    reply_text,
    send,
    stored_turns,
)
from tests.support import conversation_of, session_on, talk

if TYPE_CHECKING:
    from jitchat.store.store import ColdStore
    from tests.engine.server import Engine

BELIEVED = 8_192
LONG_TALK = talk(*(f"Number {number}: {'the boat lies at the pier. ' * 8}" for number in range(16)))
"""Some 3,600 of the engine's tokens."""


def session_with(store: ColdStore, engine: Engine, route: str, learnt: ModelLessons) -> Session:
    options = SessionOptions(
        budget=Budget(BELIEVED, 64),
        system="Be kind.",
        request=SAMPLING,
        learnt=learnt,
    )
    conversation = conversation_of(store, LONG_TALK)
    return session_on(store, conversation, provider(engine, route), options=options)


@pytest.mark.parametrize("route", ROUTES)
async def test_a_smaller_window_is_sent_and_answered(store: ColdStore, engine: Engine, route):
    learnt = ModelLessons(store.database, engine.base_url, NAME)
    session = session_with(store, engine, route, learnt)
    events = await send(session, "Where is it? Answer briefly.", Mode.RECENCY)
    await session.aclose()

    assert not failures(events)
    assert reply_text(events) == BRIEF
    (told,) = (event for event in events if isinstance(event, LimitLearnt))
    assert told.limit.tokens == learnt.limit() == engine.context
    assert f"{NAME} takes 1,024 tokens" in told.sentence
    refused, sent = (event.window for event in events if isinstance(event, WindowBuilt))
    assert sent.used < refused.used
    assert durable(store).windows[-1][2] <= engine.context, "by the engine's own count"
    assert len(stored_turns(events)) == 2, "the message is stored once"
    check_nothing_is_left_open(store)


async def test_what_was_learnt_holds_for_the_next_message(store: ColdStore, engine: Engine):
    learnt = ModelLessons(store.database, engine.base_url, NAME)
    session = session_with(store, engine, "openai", learnt)
    await send(session, "Where is it? Answer briefly.", Mode.RECENCY)
    events = await send(session, "And now? Answer briefly.", Mode.RECENCY)
    await session.aclose()

    assert reply_text(events) == BRIEF
    assert not [event for event in events if isinstance(event, LimitLearnt)]


@pytest.mark.parametrize(
    ("draft", "mode"),
    [("This is said far too often. " * 60, Mode.RECENCY), ("Where is it?", Mode.FULL)],
    ids=["the message alone", "the whole conversation"],
)
async def test_what_cannot_be_smaller_is_an_error_and_the_draft_comes_back(
    store: ColdStore, engine: Engine, draft, mode
):
    learnt = ModelLessons(store.database, engine.base_url, NAME)
    session = session_with(store, engine, "openai", learnt)
    events = await send(session, draft, mode)
    await session.aclose()

    (failed,) = failures(events)
    assert isinstance(failed.error, JitchatError)
    assert "1,024" in failed.error.what
    assert failed.draft == draft
    assert learnt.limit() == engine.context
    assert durable(store).turns[-1][3] == "unanswered"
    check_nothing_is_left_open(store)
