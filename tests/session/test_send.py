"""A message that is answered: the order of events, and what is durable when."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING

from jitchat.errors import EmptyDraft
from jitchat.events import TurnIndexed, TurnsRetrieved, UsageReported, WindowBuilt
from jitchat.providers.provider import Finished, Options, Piece
from jitchat.session_options import SessionOptions
from jitchat.store.packed import unpack
from jitchat.values import Message, Mode, Role, Status, Usage
from jitchat.window.budget import Budget
from jitchat.window.steering import Once
from jitchat.window.tool_prices import Style
from jitchat.window.window import ContextWindow, Kind
from tests.session.sending import (
    Durable,
    durable,
    failures,
    kinds,
    reply_text,
    send,
    stored_turns,
    talking,
)
from tests.support import ScriptedProvider, demo_session, sent_window

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

QUESTION = "what did we settle on for the deploy window?"
FOLLOW_UP = "and what about the other window, the one on Thursday?"


class Looking(ScriptedProvider):
    """Records what is durable when it is called."""

    store = None
    found: Durable | None = None

    async def stream(self, messages: Sequence[Message], options: Options) -> AsyncIterator[Piece]:
        self.found = durable(self.store)
        async for piece in super().stream(messages, options):
            yield piece


def built(events: list[object]) -> ContextWindow:
    return next(event.window for event in events if isinstance(event, WindowBuilt))


async def test_the_events_come_in_the_order_of_the_flow(store):
    events = await send(talking(store, "One ", "two."), "hello there harbour")
    assert kinds(events) == [
        "TurnStored",
        "TurnsRetrieved",
        "WindowBuilt",
        "ReplyDelta",
        "UsageReported",
        "TurnStored",
        "TurnIndexed",
    ]
    said, reply = stored_turns(events)
    assert (said.position, said.role, said.content) == (5, Role.USER, "hello there harbour")
    assert (reply.position, reply.role, reply.content) == (6, Role.ASSISTANT, "One two.")
    assert (said.status, reply.status) == (Status.COMPLETE, Status.COMPLETE)
    assert said.id
    assert reply.id
    assert said.created_at < reply.created_at
    assert reply_text(events) == "One two."


async def test_the_users_turn_and_the_window_are_durable_before_the_provider_is_called(store):
    session = talking(store)
    session.provider = Looking(("Yes.",))
    session.provider.store = store
    events = await send(session, "hello")
    found = session.provider.found
    assert found is not None
    assert found.turns[-1] == (5, "user", "hello", "complete")
    (window,) = [event for event in events if isinstance(event, WindowBuilt)]
    assert [row[0] for row in found.windows] == [window.digest]


async def test_the_provider_gets_the_window_that_is_shown_and_stored(store):
    session = demo_session(store, ScriptedProvider(("Tuesday.",)))
    for number, mode in enumerate(Mode):
        events = await send(session, QUESTION, mode)
        window, said = built(events), stored_turns(events)[0]
        assert session.provider.requests[number:] == [window.messages()], mode
        kept = sent_window(session, said)
        assert kept == window, mode
        assert kept.messages() == window.messages(), mode
        assert (kept.never_candidates is None) == (mode is Mode.FULL), mode
        assert durable(store).windows[number][0] == kept.digest == window.digest, mode
        assert window.mode is mode


async def test_a_stored_window_does_not_change_as_the_conversation_continues(store):
    session = demo_session(store, ScriptedProvider(("Tuesday.",)))
    first = await send(session, QUESTION)
    before = sent_window(session, stored_turns(first)[0])
    for draft in ("and the port?", "and the name?"):
        await send(session, draft)
    assert sent_window(session, stored_turns(first)[0]) == before


async def test_a_window_refers_to_its_turns_and_does_not_store_them_again(store):
    session = talking(store, exchanges=30)
    await send(session, "hello", Mode.FULL)
    with store.database.read() as connection:
        query = "SELECT p.content, t.content FROM pieces p LEFT JOIN turns t ON t.id = p.turn"
        rows = connection.execute(query).fetchall()
    texts = json.dumps([unpack(content, turn or "") for content, turn in rows])
    assert "of the harbour talk" not in texts
    assert "same_as" in texts


async def test_a_turn_that_was_never_sent_has_no_window(store):
    session = talking(store)
    assert sent_window(session, session.memory.turns[0]) is None


async def test_the_reported_usage_is_stored_with_the_window(store):
    events = await send(talking(store, "Yes.", Usage(1_234, 56, 700)), "hello")
    assert UsageReported(Usage(1_234, 56, 700)) in events
    reply = stored_turns(events)[1]
    assert durable(store).windows[0][1:] == (reply.id, 100, 10, 0), "the last report counts"


async def test_without_reported_usage_the_counts_are_unknown(store):
    class Silent(ScriptedProvider):
        async def stream(self, messages, options):
            yield Finished("stop")

    session = talking(store)
    session.provider = Silent()
    await send(session, "hello")
    assert durable(store).windows[0][2:] == (None, None, None)


async def test_both_turns_are_indexed_after_the_reply(store):
    session = talking(store, "The ferry leaves at nine.")
    events = await send(session, "when does the ferry leave?")
    indexed = [event.entry for event in events if isinstance(event, TurnIndexed)]
    assert [entry.turn for entry in indexed] == [5, 6]
    assert indexed[1].summary == "The ferry leaves at nine."
    assert durable(store).indexed == [1, 2, 3, 4, 5, 6]


async def test_indexing_catches_up_on_missed_turns(store):
    session = talking(store)
    store.append(session.memory.conversation.id, [replace(session.memory.turns[0], content="late")])
    await send(session, "hello")
    assert durable(store).indexed == [1, 2, 3, 4, 5, 6, 7]


async def test_a_second_message_builds_on_the_first(store):
    session = talking(store, "Noted.")
    await send(session, "the ferry is blue", Mode.RECENCY)
    events = await send(session, "which colour is it?", Mode.RECENCY)
    window = built(events)
    assert [m.content for m in window.messages()[-3:-1]][-1] == "Noted."
    assert "the ferry is blue" in "".join(m.content for m in window.messages())
    assert [turn.position for turn in stored_turns(events)] == [7, 8]
    assert [row[0] for row in durable(store).turns] == [*range(1, 9)]


async def test_the_mode_can_change_between_messages(store):
    session = demo_session(store, ScriptedProvider(("Fine.",)))
    windows = [built(await send(session, QUESTION, mode)) for mode in (*Mode, Mode.FULL)]
    assert [window.mode for window in windows] == [*Mode, Mode.FULL]
    full, recency, jit, *distilled, again = (window.used for window in windows)
    assert full > max(recency, jit)
    assert full > max(distilled), "nothing is distilled yet: they are chosen as in jit"
    assert again > full


async def test_a_preview_is_the_window_that_is_then_sent(store):
    session = demo_session(store, ScriptedProvider(("Fine.",)))
    for mode, draft in product(Mode, (QUESTION, QUESTION, FOLLOW_UP)):
        preview = session.preview(draft, mode)
        assert built(await send(session, draft, mode)) == preview, (mode, draft)


async def test_a_preview_changes_nothing(store):
    session = demo_session(store)
    before = durable(store)
    for mode in Mode:
        session.preview("draft", mode)
        session.preview("", mode)
        session.preview("  \n", mode, Once(budget=Budget(limit=6_000, reserve=100)))
    assert durable(store) == before
    assert session.provider.requests == []


async def test_an_empty_draft_is_previewed_without_retrieval(store):
    window = demo_session(store).preview("", Mode.JIT)
    assert window.shortlist.rows == ()
    recalled = [each.reason for each in window.segments if each.kind is Kind.RETRIEVED]
    assert all(reason.endswith("that is being worked on") for reason in recalled)


async def test_a_preview_can_have_its_own_budget(store):
    session = demo_session(store)
    small = session.options.budget.of_size(900)
    assert session.preview(QUESTION, Mode.JIT, Once(budget=small)).budget == small
    assert session.preview(QUESTION, Mode.JIT).budget == session.options.budget


async def test_an_empty_message_is_not_sent_or_stored(store):
    session = talking(store)
    before = durable(store)
    for draft in ("", " ", "\n\t ", "\u3000"):
        events = await send(session, draft)
        assert kinds(events) == ["SendFailed"], repr(draft)
        (failed,) = failures(events)
        assert isinstance(failed.error, EmptyDraft), repr(draft)
        assert failed.draft == draft
    assert durable(store) == before
    assert session.provider.requests == []


async def test_text_that_cannot_be_stored_is_repaired_before_it_is_used(store):
    session = talking(store, "a\ud800b\x00")
    preview = session.preview("x\ud83d\ude00\ud800\x00y", Mode.JIT)
    events = await send(session, "x\ud83d\ude00\ud800\x00y")
    assert [turn.content for turn in stored_turns(events)] == ["x😀\ufffd␀y", "a\ufffdb␀"]
    assert built(events) == preview
    assert session.provider.requests[0][-1].content.endswith("x😀\ufffd␀y")


async def test_instructions_and_request_options_come_from_the_session(store):
    class Noting(ScriptedProvider):
        asked: Options | None = None

        def stream(self, messages, options):
            self.asked = options
            return super().stream(messages, options)

    session = talking(store)
    session.provider = Noting()
    session.options = SessionOptions(system="Be a ferry.", request=Options(temperature=0.2))
    await send(session, "hello")
    assert session.provider.requests[0][0] == Message(Role.SYSTEM, "Be a ferry.")
    window = sent_window(session, session.memory.turns[-2])
    assert session.provider.asked == Options(
        temperature=0.2, context=window.budget.limit, room=window.budget.limit - window.used
    )


async def test_another_instances_turns_are_in_the_next_window(store):
    session = talking(store, "Noted.")
    first_look = session.preview("hello", Mode.FULL)
    store.append(
        session.memory.conversation.id,
        [replace(session.memory.turns[0], content="from elsewhere")],
    )
    assert len(session.preview("hello", Mode.FULL).segments) == len(first_look.segments) + 1
    events = await send(session, "hello", Mode.FULL)
    assert "from elsewhere" in [m.content for m in session.provider.requests[0]]
    assert stored_turns(events)[0].position == 6


async def test_each_turn_is_counted_once_however_many_messages_follow(store):
    session = talking(store, "Noted.", exchanges=20)
    counted: list[str] = []
    count = session.counter.count

    class Counting:
        name, exact, style = "counting", False, Style.LISTED

        def count(self, text: str) -> int:
            counted.append(text)
            return count(text)

    session.counter = Counting()
    session.preview("one", Mode.JIT)
    counted.clear()
    session.preview("two", Mode.JIT)
    assert not [text for text in counted if text.startswith(("turn 11 ", "turn 12 ", "turn 13 "))]


async def test_the_duration_of_a_search_is_measured(store):
    events = await send(talking(store), "hello")
    (found,) = [event for event in events if isinstance(event, TurnsRetrieved)]
    assert found.seconds >= 0
    assert json.dumps(found.seconds)
