"""A message with no reply or a partial one: neither the draft nor the partial reply is lost."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import httpx
import pytest

from jitchat.errors import (
    KeyRefused,
    NotAnAnswer,
    RequestRefused,
    StreamCut,
    Unreachable,
    WindowOverflow,
)
from jitchat.events import WindowBuilt
from jitchat.providers.provider import Finished, ReplyDelta
from jitchat.session_options import SessionOptions
from jitchat.values import Mode, Status, Usage
from jitchat.window.budget import Budget
from tests.providers.dialects import DIALECTS
from tests.providers.streams import provider, streamed
from tests.providers.test_fuzzed_streams import chunked, mutated, valid
from tests.session.sending import (
    durable,
    failures,
    kinds,
    reply_text,
    send,
    stored_turns,
    talking,
)
from tests.support import ScriptedProvider, sent_window

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

DOWN = Unreachable("openai cannot be reached.", "Is the server running?")
ERRORS = [
    DOWN,
    KeyRefused("The provider refused the key.", "Check it."),
    RequestRefused("The provider refused the request.", "Check it."),
    NotAnAnswer("A web page.", "Check it."),
    StreamCut("The answer stopped half way.", "Send again."),
]


@pytest.mark.parametrize("error", ERRORS)
async def test_a_failed_request_returns_the_draft_and_leaves_the_turn_unanswered(store, error):
    session = talking(store, error)
    events = await send(session, "hello")
    assert kinds(events) == ["TurnStored", "TurnsRetrieved", "WindowBuilt", "SendFailed"]
    (failed,) = failures(events)
    assert failed.error is error
    assert failed.draft == "hello"
    found = durable(store)
    assert found.turns[-1] == (5, "user", "hello", "unanswered")
    assert found.streaming == 0
    assert found.windows[0][1:] == (None, None, None, None)


async def test_an_unanswered_turn_is_in_no_later_window(store):
    session = talking(store, DOWN)
    await send(session, "never mind this one")
    session.provider = ScriptedProvider(("Noted.",))
    for mode in Mode:
        assert "never mind" not in str(session.preview("hello", mode).messages())
    await send(session, "hello", Mode.FULL)
    assert "never mind" not in str(session.provider.requests[0])
    assert [row[3] for row in durable(store).turns[-3:]] == ["unanswered", "complete", "complete"]


async def test_an_unanswered_turn_previewed_during_its_request_is_left_out_too(store):
    session = talking(store, DOWN)

    def look(event: object) -> None:
        if isinstance(event, WindowBuilt):
            assert "never mind" in str(session.preview("next", Mode.FULL).messages())

    await send(session, "never mind this one", watch=look)
    assert "never mind" not in str(session.preview("next", Mode.FULL).messages())


async def test_the_same_text_sent_again_is_the_same_turn(store):
    session = talking(store, DOWN)
    (said,) = stored_turns(await send(session, "hello"))
    session.provider = ScriptedProvider(("Hi.",))
    preview = session.preview("hello", Mode.JIT)
    events = await send(session, "hello")
    again, reply = stored_turns(events)
    assert (again.id, again.position, again.status) == (said.id, 5, Status.COMPLETE)
    assert reply.position == 6
    assert next(e.window for e in events if isinstance(e, WindowBuilt)) == preview
    assert [row[0] for row in durable(store).turns] == [*range(1, 7)]
    assert sent_window(session, again) == preview


async def test_another_text_is_another_turn(store):
    session = talking(store, DOWN)
    await send(session, "hello")
    assert stored_turns(await send(session, "hullo"))[0].position == 6


async def test_a_truncated_answer_is_kept_and_reported(store):
    session = talking(store, "Half an ", "ans", StreamCut("It broke.", "Send again."))
    events = await send(session, "hello")
    reply = stored_turns(events)[1]
    assert (reply.content, reply.status) == ("Half an ans", Status.CUT)
    assert kinds(events)[-3:] == ["TurnStored", "SendFailed", "TurnIndexed"]
    found = durable(store)
    assert found.turns[-2:] == [
        (5, "user", "hello", "complete"),
        (6, "assistant", "Half an ans", "cut"),
    ]
    assert found.streaming == 0
    assert found.windows[0][1] == reply.id
    assert "Half an ans" in str(session.preview("go on", Mode.JIT).messages())


@pytest.mark.parametrize(
    ("reason", "status"),
    [("stop", Status.COMPLETE), ("length", Status.CUT), ("content_filter", Status.CUT)],
)
async def test_an_answer_stopped_by_the_provider_is_truncated_without_an_error(
    store, reason, status
):
    events = await send(talking(store, "As far as", Finished(reason)), "hello")
    assert stored_turns(events)[1].status is status
    assert failures(events) == []


async def test_an_answer_that_ends_without_a_finish_is_truncated(store):
    class Stopping(ScriptedProvider):
        async def stream(self, messages, options) -> AsyncIterator[object]:
            yield ReplyDelta("As far")

    session = talking(store)
    session.provider = Stopping()
    events = await send(session, "hello")
    assert stored_turns(events)[1].status is Status.CUT


@pytest.mark.parametrize(
    "script",
    [
        ("",),
        (Usage(1, 1),),
        ("", Finished("stop"), ""),
        ("\n\n",),
        ("\n", " \t\n", Finished("stop")),
        ("\u3000\u00a0",),
        ("\u200b", "\ufeff\n"),
    ],
)
async def test_an_empty_answer_is_a_failure(store, script):
    session = talking(store, *script)
    events = await send(session, "hello")
    (failed,) = failures(events)
    assert isinstance(failed.error, NotAnAnswer)
    assert "returned an empty answer" in failed.error.what
    assert durable(store).turns[-1] == (5, "user", "hello", "unanswered")


async def test_a_window_that_does_not_fit_is_reported_before_anything_is_sent(store):
    session = talking(store)
    session.options = SessionOptions(budget=Budget(limit=200, reserve=100))
    events = await send(session, "hello " * 200, Mode.FULL)
    assert kinds(events) == ["TurnStored", "TurnsRetrieved", "SendFailed"]
    (failed,) = failures(events)
    assert isinstance(failed.error, WindowOverflow)
    assert failed.draft == "hello " * 200
    assert session.provider.requests == []
    assert durable(store).turns[-1][3] == "unanswered"
    assert durable(store).windows == []


async def test_a_defect_is_raised_and_leaves_nothing_half_done(store):
    class Broken(ScriptedProvider):
        async def stream(self, messages, options) -> AsyncIterator[object]:
            yield ReplyDelta("As far")
            raise ZeroDivisionError

    session = talking(store)
    session.provider = Broken()
    with pytest.raises(ZeroDivisionError):
        await send(session, "hello")
    found = durable(store)
    assert found.turns[-1] == (6, "assistant", "As far", "cut")
    assert found.streaming == 0


async def test_after_any_error_the_next_message_goes_through(store):
    session = talking(store)
    for error in ERRORS:
        for script in ((error,), ("some", error)):
            session.provider = ScriptedProvider(script)
            assert failures(await send(session, f"before {error}"))
            session.provider = ScriptedProvider(("Fine.",))
            assert not failures(await send(session, f"after {error}"))


async def test_after_any_stream_the_session_continues(store, rounds):
    session = talking(store)
    for seed in range(rounds(20, 600)):
        rng = random.Random(seed)
        data, _ = valid(DIALECTS[0], rng)
        session.provider = provider(streamed(*chunked(mutated(data, rng), rng)))
        events = await send(session, f"round {seed}", Mode.RECENCY)
        text = reply_text(events)
        last = durable(store).turns[-1]
        if text:
            assert last[1] == "assistant"
            assert last[3] in ("complete", "cut")
        else:
            assert last[1:] == ("user", f"round {seed}", "unanswered")
            assert failures(events)
    assert durable(store).streaming == 0
    session.provider = provider(
        httpx.Response(200, json={"choices": [{"message": {"content": "k"}}]})
    )
    assert not failures(await send(session, "still there?"))
