"""A whole conversation with a real engine: what is sent, shown, counted and kept."""

from __future__ import annotations

import sqlite3
from contextlib import aclosing, closing
from itertools import pairwise
from typing import TYPE_CHECKING

from jitchat.events import ReplyDelta, TurnIndexed, UsageReported, WindowBuilt
from jitchat.session import Session
from jitchat.session_options import SessionOptions
from jitchat.text.sanitize import for_terminal
from jitchat.values import Mode, Status, Usage
from jitchat.window.budget import Budget
from jitchat.window.tokens import request_tokens
from tests.engine.asking import SAMPLING, provider
from tests.engine.server import KEY, Engine
from tests.engine.tiny_model import BRIEF, THOUGHT
from tests.session.sending import (
    check_nothing_is_left_open,
    durable,
    failures,
    kinds,
    reply_text,
    send,
    stored_turns,
)
from tests.support import conversation_of, dump_of, session_on, talk

if TYPE_CHECKING:
    from jitchat.store.store import ColdStore
    from jitchat.window.window import ContextWindow

HISTORY = talk("The boat is red.", "Noted.", "It lies at the pier.", "Noted, too.")


def session_with(store: ColdStore, engine: Engine) -> Session:
    """A session that knows the engine's context."""
    options = SessionOptions(
        budget=Budget(engine.context, 64),
        system="Be kind.",
        request=SAMPLING,
    )
    conversation = conversation_of(store, HISTORY)
    return session_on(store, conversation, provider(engine), options=options)


def window_of(events: list[object]) -> ContextWindow:
    (built,) = (event for event in events if isinstance(event, WindowBuilt))
    return built.window


def usage_of(events: list[object]) -> Usage:
    return [event.usage for event in events if isinstance(event, UsageReported)][-1]


def kept(store: ColdStore) -> list[tuple[int, int, int]]:
    """The usage of each window, as another process reads it."""
    return [row[2:] for row in durable(store).windows]


async def test_a_message_is_answered_stored_and_indexed(store: ColdStore, engine: Engine):
    session = session_with(store, engine)
    events = await send(session, "What colour is the boat? Briefly, briefly.")
    await session.aclose()

    assert not failures(events)
    assert reply_text(events) == BRIEF
    assert [turn.content for turn in stored_turns(events)][1] == BRIEF
    assert kinds(events)[-1] == TurnIndexed.__name__
    check_nothing_is_left_open(store)


async def test_the_meter_adds_up_and_the_engines_own_count_is_kept(
    store: ColdStore, engine: Engine
):
    session = session_with(store, engine)
    first = await send(session, "What colour is the boat? Answer briefly.")
    second = await send(session, "And where is it? Answer briefly.")
    await session.aclose()

    reported = [usage_of(first), usage_of(second)]
    windows = [window_of(first), window_of(second)]
    for window in windows:
        parts = sum(segment.tokens for segment in window.segments)
        assert parts == window.used
        assert parts + window.free + window.budget.reserve == engine.context
    counted = [request_tokens(session.counter, window.messages()) for window in windows]
    assert windows[0].used == counted[0]
    assert windows[1].used >= max(counted[1], reported[0].input_tokens)
    assert kept(store) == [(u.input_tokens, u.output_tokens, u.cached_tokens) for u in reported]
    assert [usage.output_tokens for usage in reported] == [4, 4]
    assert reported[1].cached_tokens > 0, "the window's beginning has stayed"


async def test_in_full_the_engine_reads_each_turn_once(store: ColdStore, roomy: Engine):
    session = session_with(store, roomy)
    said = [f"Message {number}, to be answered briefly." for number in range(4)]
    usages = [usage_of(await send(session, each, Mode.FULL)) for each in said]
    await session.aclose()

    for before, after in pairwise(usages):
        again = before.input_tokens - 1  # without the template's last token, which is for `briefly`
        assert again <= after.cached_tokens < after.input_tokens


async def test_thoughts_are_neither_in_the_stored_reply_nor_sent_again(
    store: ColdStore, engine: Engine
):
    session = session_with(store, engine)
    first = await send(session, "Give a reason.", Mode.FULL)
    second = await send(session, "Answer briefly.", Mode.FULL)
    await session.aclose()

    assert stored_turns(first)[1].content.strip() == BRIEF
    sent = "".join(message.content for message in window_of(second).messages())
    assert BRIEF in sent
    assert THOUGHT not in sent


async def test_an_answer_that_fills_the_context_is_kept_as_cut_and_raw(
    store: ColdStore, engine: Engine
):
    session = session_with(store, engine)
    events = await send(session, "Go on for ever.")
    await session.aclose()

    (stored,) = stored_turns(events)[1:]
    usage = usage_of(events)
    assert stored.status is Status.CUT
    assert usage.input_tokens + usage.output_tokens == engine.context
    raw = durable(store).turns[-1][2]
    assert raw == stored.content == reply_text(events).replace("\0", "␀")
    assert set("\x01\x07\x1b\x1c\x7f\ufffd") <= set(raw)
    assert not {each for each in for_terminal(raw).cells if ord(each) < 32} - {"\n", "\t"}


async def test_a_cancelled_reply_is_kept_and_the_next_is_answered_at_once(
    store: ColdStore, roomy: Engine
):
    session = session_with(store, roomy)
    shown = ""
    async with aclosing(session.send("Go on for ever.", Mode.JIT)) as events:
        async for event in events:
            if isinstance(event, ReplyDelta):
                shown += event.text
            if len(shown) > 200:
                break
    after = await send(session, "And now briefly.")
    await session.aclose()

    reply = durable(store).turns[-3]
    assert reply[1:] == ("assistant", shown.replace("\0", "␀"), "cancelled")
    assert reply_text(after) == BRIEF
    check_nothing_is_left_open(store)


async def test_what_no_encoding_allows_is_sent_and_answered_all_the_same(
    store: ColdStore, engine: Engine
):
    session = session_with(store, engine)
    events = await send(session, "\ud800 \0 \u2028 \U0001f6a2 \x1b[31m briefly")
    await session.aclose()

    assert not failures(events)
    assert reply_text(events) == BRIEF
    assert stored_turns(events)[0].content == "\ufffd ␀ \u2028 \U0001f6a2 \x1b[31m briefly"


async def test_the_key_is_nowhere_in_the_cold_store(store: ColdStore, engine: Engine):
    session = session_with(store, engine)
    await send(session, "Answer briefly.")
    await session.aclose()

    with closing(sqlite3.connect(store.database.path)) as other:
        assert KEY not in "\n".join(dump_of(other))
    assert KEY not in repr((session.provider, session.options))
