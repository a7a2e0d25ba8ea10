"""A message cancelled at any moment: the partial reply is kept and nothing stays open."""

from __future__ import annotations

import asyncio
import threading
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

import pytest

from jitchat import session as session_module
from jitchat.events import ReplyDelta, RetryScheduled, TurnStored, WindowBuilt
from jitchat.providers.provider import Options, SentRequest
from jitchat.store.usage import Grouping, usage_by
from jitchat.values import Mode, Role
from tests.session.sending import (
    check_it_can_be_sent_again,
    check_nothing_is_left_open,
    durable,
    send,
    talking,
)
from tests.support import ScriptedProvider

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

STAGES = ("retrieval", "window", "first save", "finish", "index")
"""What `send` waits for a thread to do, in order."""


class Cancelling:
    """Stands in for `asyncio.to_thread`: the task is cancelled while it waits for one stage.

    `late`: the thread starts when everything is over. `lost`: it is done, and nobody heard.
    """

    def __init__(self, stage: str, moment: str) -> None:
        self._at, self._moment = STAGES.index(stage), moment
        self._calls = -1
        self._over = threading.Event()
        self._done = threading.Event()

    async def __call__(self, work: Callable[..., Any], *args: object) -> object:
        self._calls += 1
        if self._calls != self._at:
            return await asyncio.get_running_loop().run_in_executor(None, work, *args)
        task, loop = asyncio.current_task(), asyncio.get_running_loop()
        assert task
        started = asyncio.Event()

        def held() -> None:
            if self._moment == "lost":
                work(*args)
                self._done.set()
            loop.call_soon_threadsafe(started.set)
            self._over.wait(10)
            if self._moment == "late":
                try:
                    work(*args)
                finally:
                    self._done.set()

        waiting = loop.run_in_executor(None, held)
        await started.wait()
        loop.call_soon(task.cancel)
        return await waiting

    async def let_the_thread_end(self) -> None:
        self._over.set()
        await asyncio.get_running_loop().run_in_executor(None, self._done.wait, 10)
        assert self._done.is_set(), "the stage was reached, and its thread has ended"


@pytest.mark.parametrize("moment", ["late", "lost"])
@pytest.mark.parametrize("stage", STAGES)
async def test_cancelling_the_task_while_it_waits_for_a_thread(store, monkeypatch, stage, moment):
    session = talking(store, "Some of", " it.")
    cancelling = Cancelling(stage, moment)
    with monkeypatch.context() as patched:
        patched.setattr(session_module.asyncio, "to_thread", cancelling)
        with pytest.raises(asyncio.CancelledError):
            await asyncio.ensure_future(send(session, "hello"))
        check_nothing_is_left_open(store)
        before = durable(store)
        await cancelling.let_the_thread_end()
    after = durable(store)
    if stage == "index":
        assert after.turns == before.turns
    else:
        assert after == before, "a thread that was left behind writes nothing"
    last = before.turns[-1]
    match stage, moment:
        case "first save", _:
            assert last == (6, "assistant", "Some of", "cancelled")
        case (("finish" | "index"), _):
            assert last == (6, "assistant", "Some of it.", "complete")
        case _:
            assert last == (5, "user", "hello", "unanswered")
    await check_it_can_be_sent_again(session, store)


async def test_cancelling_while_the_message_is_stored_waits_for_that_and_no_longer(
    store, monkeypatch
):
    session = talking(store)
    storing, go_on, heard = threading.Event(), threading.Event(), []
    add = session.memory.add_user_turn

    def held(*args: object) -> object:
        storing.set()
        assert go_on.wait(10)
        return add(*args)

    monkeypatch.setattr(session.memory, "add_user_turn", held)
    events = session.send("hello", Mode.JIT, on_stored=lambda: heard.append("stored"))
    task = asyncio.ensure_future(anext(events))
    await asyncio.to_thread(storing.wait, 10)
    for _ in range(2):  # who is impatient stops it twice
        task.cancel()
        await asyncio.sleep(0)
        assert not task.done(), "and the event loop goes on"
    go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    await events.aclose()
    assert heard == ["stored"]
    assert durable(store).turns[-1] == (5, "user", "hello", "unanswered")
    assert session.provider.requests == []


async def test_nothing_waits_for_a_lock_on_the_event_loop_when_a_reply_is_stopped(
    store, monkeypatch
):
    session = talking(store, "Some", asyncio.Event())
    leaving, go_on = threading.Event(), threading.Event()
    refresh = session.memory.refresh

    def held() -> None:
        leaving.set()
        assert go_on.wait(10)
        refresh()

    events = session.send("hello", Mode.JIT)
    async for event in events:
        if isinstance(event, ReplyDelta):
            break
    monkeypatch.setattr(session.memory, "refresh", held)
    closing = asyncio.ensure_future(events.aclose())
    await asyncio.to_thread(leaving.wait, 10)
    assert not closing.done()
    go_on.set()
    await closing
    assert durable(store).turns[-1] == (6, "assistant", "Some", "cancelled")


@pytest.mark.parametrize("pieces", [0, 1, 3])
async def test_cancelling_the_task_while_it_waits_for_the_provider(store, pieces):
    never, waiting = asyncio.Event(), asyncio.Event()

    class Stalling(ScriptedProvider):
        async def stream(self, messages, options) -> AsyncIterator[object]:
            try:
                async for piece in super().stream(messages, options):
                    yield piece
                    seen.append(piece)
                    if len(seen) == pieces:
                        waiting.set()
            finally:
                seen.append("closed")

    seen: list[object] = []
    session = talking(store)
    session.provider = Stalling((*["word "] * pieces, never))
    if not pieces:
        waiting.set()
    task = asyncio.ensure_future(send(session, "hello"))
    await waiting.wait()
    while not session.provider.requests:
        await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert seen[-1:] == ["closed"]
    last = durable(store).turns[-1]
    if pieces:
        assert last == (6, "assistant", "word " * pieces, "cancelled")
    else:
        assert last == (5, "user", "hello", "unanswered")
    check_nothing_is_left_open(store)
    await check_it_can_be_sent_again(session, store)


async def test_closing_the_generator_after_each_event(store):
    session = talking(store)
    whole = len(await send(session, "how many events are there?"))
    for length in range(1, whole):
        session.provider = ScriptedProvider(("word ", "and word"))
        async with aclosing(session.send(f"message {length}", Mode.RECENCY)) as events:
            for _ in range(length):
                event = await anext(events)
        check_nothing_is_left_open(store)
        last = durable(store).turns[-1]
        match event:
            case TurnStored(turn) if turn.role is Role.ASSISTANT:
                assert last[2:] == ("word and word", "complete")
            case ReplyDelta():
                assert last[3] in ("cancelled", "complete")
                assert "word and word".startswith(last[2])
            case TurnStored() | WindowBuilt():
                assert last[1:] == ("user", f"message {length}", "unanswered")
    await check_it_can_be_sent_again(session, store)


async def test_a_generator_that_was_never_started_did_nothing(store):
    session = talking(store)
    before = durable(store)
    await session.send("hello", Mode.JIT).aclose()
    assert durable(store) == before


async def test_a_front_end_that_just_stops_listening_leaves_nothing_open(store):
    session = talking(store, "Some", asyncio.Event())
    async for event in session.send("hello", Mode.JIT):
        if isinstance(event, ReplyDelta):
            break
    del event
    for _ in range(10_000):
        if durable(store).turns[-1][0] == 6:
            break
        await asyncio.sleep(0)
    assert durable(store).turns[-1] == (6, "assistant", "Some", "cancelled")
    check_nothing_is_left_open(store)


async def test_a_reply_cancelled_after_its_last_word_is_complete(store):
    session = talking(store, "All of it.")
    async with aclosing(session.send("hello", Mode.JIT)) as events:
        async for event in events:
            if type(event).__name__ == "UsageReported":
                pending = asyncio.ensure_future(anext(events))
                await pending
                break
    assert durable(store).turns[-1][3] == "complete"


async def test_a_cancelled_reply_is_in_the_next_window_and_is_indexed_with_it(store):
    session = talking(store, "The ferry leaves", asyncio.Event())
    async with aclosing(session.send("when?", Mode.JIT)) as events:
        async for event in events:
            if isinstance(event, ReplyDelta):
                break
    session.provider = ScriptedProvider(("At nine.",))
    await send(session, "go on")
    assert "The ferry leaves" in [m.content for m in session.provider.requests[0]]
    assert durable(store).indexed == [*range(1, 9)]


@pytest.mark.parametrize("is_sent_again", [False, True])
async def test_a_refused_request_costs_nothing_unless_its_retry_was_sent(store, is_sent_again):
    posted = SentRequest("scripted", "https://llm.test", Options(), "")
    retry, waiting = RetryScheduled(30.0, "HTTP 429"), asyncio.Event()
    session = talking(store, posted, retry, *([posted] if is_sent_again else []), waiting)
    sending = asyncio.ensure_future(send(session, "hello"))
    while not session.provider.requests:
        await asyncio.sleep(0)
    for _ in range(10):  # to the event
        await asyncio.sleep(0)
    sending.cancel()
    with pytest.raises(asyncio.CancelledError):
        await sending
    (used,) = usage_by(store.database, Grouping.PURPOSE)
    assert (used.billed, used.input_tokens > 0) == (is_sent_again, is_sent_again)
