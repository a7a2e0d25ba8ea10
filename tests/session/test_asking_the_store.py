"""A model requests turns from the store: when it can, what it gets, and what is stored."""

from __future__ import annotations

import json

import pytest

from jitchat.events import WindowBuilt
from jitchat.providers.http.provider import HttpProvider
from jitchat.providers.protocols.openai import OpenAiProtocol
from jitchat.providers.reader import ReaderProvider
from jitchat.replay import Replay, sent_on_path
from jitchat.session_options import SessionOptions
from jitchat.store.models import ModelLessons
from jitchat.tools.offering import Asking, OfferRules
from jitchat.values import REQUEST_CONTEXT, Mode, ToolCall
from jitchat.why import Explained, why
from jitchat.window.budget import Budget
from jitchat.window.cost import choosing_sentences
from jitchat.window.not_shown import kept_line
from jitchat.window.tokens import request_tokens
from jitchat.window.window import Kind, Verdict
from tests.providers.streams import endpoint
from tests.session.sending import failures, reply_text, send, stored_turns
from tests.support import ScriptedProvider, conversation_of, session_on, talk

FACT = "The harbour master is called Odile Brandt."


def asking(store, provider, when: Asking = Asking.AUTO, **options):
    texts = ["Who is the harbour master?", FACT]
    texts += [f"Note {number}: " + "ropes and paint and tar " * 40 for number in range(60)]
    made = SessionOptions(budget=Budget(12_000), offers=OfferRules(when), **options)
    return session_on(store, conversation_of(store, talk(*texts)), provider, options=made)


def call(query: str = "harbour master") -> ToolCall:
    return ToolCall("c", REQUEST_CONTEXT, f'{{"query": "{query}"}}')


@pytest.mark.parametrize(
    ("when", "modes"),
    [
        (Asking.OFF, set()),
        (Asking.AUTO, {Mode.JIT}),
        (Asking.ON, {Mode.JIT, Mode.RECENCY}),
    ],
)
def test_request_context_is_offered_if_turns_are_left_out(store, when, modes):
    session = asking(store, ScriptedProvider(), when)
    for mode in (Mode.JIT, Mode.RECENCY):
        window = session.preview("and?", mode)
        assert bool(window.tools) == (mode in modes)
        assert ("kept and not shown" in window.messages()[-1].content) == (mode in modes)


def test_the_window_says_what_it_does_not_show_and_still_adds_up(store):
    session = asking(store, ScriptedProvider(), Asking.ON)
    window = session.preview("and?", Mode.RECENCY)
    history = session.planning.history_before(1_000)
    first = next(each.turn for each in window.segments if each.kind is Kind.RECENT)
    line = f"#1–#{first - 1} are kept and not shown; request_context finds them.\n"
    assert kept_line(history, window.segments) == line
    assert window.messages()[-1].content.startswith(f"{line}\n[")
    texts = request_tokens(session.counter, window.messages())
    assert window.used == texts + window.tokens_of(Kind.TOOLS)
    assert window.used <= window.budget.budget


def test_the_first_message_and_a_complete_window_do_not_mention_omitted_turns(store):
    options = SessionOptions(offers=OfferRules(Asking.ON))
    empty = session_on(store, store.create("New"), options=options)
    assert not empty.preview("hello", Mode.JIT).tools
    short = session_on(store, conversation_of(store, talk("one", "two")), options=options)
    assert "kept" not in short.preview("hello", Mode.JIT).messages()[-1].content


@pytest.mark.parametrize("when", [Asking.AUTO, Asking.ON])
def test_if_nothing_is_left_out_the_tool_is_not_offered_and_costs_nothing(store, when):
    options = SessionOptions(offers=OfferRules(when))
    session = session_on(store, conversation_of(store, talk("one", "two")), options=options)
    for mode in (Mode.JIT, Mode.RECENCY):
        window = session.preview("and?", mode)
        assert not window.tools
    (left_out,) = session.preview("and?", Mode.JIT).others_of(Kind.TOOLS)
    assert (left_out.name, left_out.tokens > 100) == (REQUEST_CONTEXT, True)
    assert left_out.reason == "the whole conversation is shown"


def test_with_asking_jit_never_costs_more_than_full(store):
    options = SessionOptions(offers=OfferRules(Asking.AUTO))
    texts = [f"Note {number}: " + "ropes and paint and tar " * 12 for number in range(50)]
    for size in range(2, 51, 3):
        conversation = conversation_of(store, talk(*texts[:size]))
        session = session_on(store, conversation, options=options)
        jit, full = (session.preview("which ropes?", mode) for mode in (Mode.JIT, Mode.FULL))
        assert jit.used <= full.used == jit.full_tokens
        left_out = kept_line(session.planning.history_before(1_000), jit.segments)
        assert bool(jit.tools) == bool(left_out)


async def test_requested_turns_are_a_segment_with_their_provenance(store):
    provider = ScriptedProvider((call(),), later=[("Odile Brandt.",)])
    session = asking(store, provider, Asking.ON)
    events = await send(session, "And who was that?", Mode.RECENCY)
    assert not failures(events)
    window = [event.window for event in events if isinstance(event, WindowBuilt)][-1]
    requested = [each for each in window.segments if each.kind is Kind.REQUESTED]
    assert 2 in {segment.turn for segment in requested}
    (told,) = window.requests
    assert told.asked == "“harbour master”"
    assert told.tokens == sum(segment.tokens for segment in requested)
    assert told.sentence(window.figure).startswith("asked for “harbour master” → #")
    row = next(row for row in window.ledger if row.turn == 2)
    assert row.verdict is Verdict.REQUESTED
    assert "asked for “harbour master”, step 1" in row.reason
    replay = Replay(store, session.memory.conversation.id)
    last = replay.open(replay.sends()[-1])
    assert last.window == window
    assert last.is_as_sent


async def test_calls_of_one_answer_share_the_remaining_budget(store):
    calls = [
        ToolCall(f"c{number}", REQUEST_CONTEXT, json.dumps({"query": f"rope paint tar {number}"}))
        for number in range(6)
    ]
    provider = ScriptedProvider(tuple(calls), later=[("Ropes.",)])
    texts = [f"Note {number}: " + "ropes and paint and tar " * 40 for number in range(60)]
    made = SessionOptions(budget=Budget(5_000, size=1_500), offers=OfferRules(Asking.ON))
    session = session_on(store, conversation_of(store, talk(*texts)), provider, options=made)
    events = await send(session, "What of the ropes?", Mode.RECENCY)
    assert not failures(events)
    window = [event.window for event in events if isinstance(event, WindowBuilt)][-1]
    assert window.used <= window.budget.budget
    assert len(window.requests) == len(calls)


async def test_later_windows_do_not_repeat_the_request(store):
    provider = ScriptedProvider((call(),), later=[("Odile Brandt.",), ("Yes.",)])
    session = asking(store, provider, Asking.ON)
    await send(session, "And who was that?", Mode.RECENCY)
    assert session.memory.turns[-2].use.answers.name == REQUEST_CONTEXT
    await send(session, "and now?", Mode.RECENCY)
    later = provider.requests[-1]
    assert not any(message.use for message in later)
    assert any("And who was that?" in message.content for message in later)


async def test_the_reader_requests_turns_if_its_window_has_no_answer(store):
    session = asking(store, ReaderProvider(lambda *_: (1, 1)), Asking.ON)
    events = await send(session, "Who is the harbour master?", Mode.RECENCY)
    assert not failures(events)
    assert reply_text(events) == f"“{FACT}” (#2, assistant)"
    assert len([event for event in events if isinstance(event, WindowBuilt)]) == 2


async def test_the_reader_requests_once_and_then_says_that_there_is_no_answer(store):
    session = asking(store, ReaderProvider(lambda *_: (1, 1)), Asking.ON)
    events = await send(session, "What does the zebra quantum cost?", Mode.RECENCY)
    assert reply_text(events).startswith("No answer in this window")
    assert len([event for event in events if isinstance(event, WindowBuilt)]) == 2


async def test_without_the_tool_the_reader_answers_from_its_window_alone(store):
    session = asking(store, ReaderProvider(lambda *_: (1, 1)), Asking.OFF)
    events = await send(session, "Who is the harbour master?", Mode.RECENCY)
    assert reply_text(events).startswith("No answer in this window")


def test_a_model_without_tool_support_is_offered_none_and_the_window_says_so(store):
    reason = "the model does not support tools"
    said = f"1 tool not offered, ~{{0:,}} tokens, because {reason}: request_context (~{{0:,}})"
    for takes in (False, None):
        session = asking(store, ScriptedProvider(), Asking.ON, takes_tools=takes)
        window = session.preview("and?", Mode.JIT)
        price = sum(tool.tokens for tool in window.others_of(Kind.TOOLS))
        assert bool(window.tools) == (takes is None) == (price == 0)
        assert (said.format(price) in choosing_sentences(window)) == (takes is False)
    learnt = ModelLessons(store.database, "here", "m")
    provider = HttpProvider(endpoint(), OpenAiProtocol(), quirks=learnt)
    session = asking(store, provider, Asking.ON, learnt=learnt)
    assert session.preview("and?", Mode.JIT).tools
    learnt.refuse("tools")
    assert not session.preview("and?", Mode.JIT).tools


async def test_why_explains_the_window_of_the_last_step(store):
    session = asking(store, ScriptedProvider((call(),), later=[("Odile Brandt.",)]), Asking.ON)
    events = await send(session, "And who was that?", Mode.RECENCY)
    said = stored_turns(events)[0]
    window, _ = sent_on_path(session.memory, said)
    assert window.step == 1
    explained = Explained(window, said.content, said)
    assert "asked for “harbour master”, step 1" in str(why(session.memory, explained, 2))


async def test_requested_turns_take_no_place_on_the_shortlist(store):
    provider = ScriptedProvider((call(),), later=[("Odile Brandt.",)])
    session = asking(store, provider, Asking.ON)
    await send(session, "And who was that?", Mode.RECENCY)
    requested = next(turn for turn in session.memory.turns if turn.use.answers)
    found = session.memory.retrieve("Who was the harbour master?", 1_000)
    assert found.candidates
    assert requested.position not in {row.turn for row in found.candidates}


async def test_the_reader_does_not_request_text_pasted_around_the_question(store):
    session = asking(store, ReaderProvider(lambda *_: (1, 1)), Asking.ON)
    log = "".join(f"2026-03-01 INFO request {number} took 9 ms\n" for number in range(300))
    await send(session, f"{log}\nWho is the harbour master?", Mode.RECENCY)
    (called,) = next(turn for turn in session.memory.turns if turn.use.calls).use.calls
    assert "Who is the harbour master?" in called.arguments
    assert len(called.arguments) < 500
