"""Recall from other conversations: which are searched, quoted, requested and explained."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest

from jitchat.memory import Memory
from jitchat.providers.tools import arguments_of
from jitchat.session_options import SessionOptions
from jitchat.store.path import Path
from jitchat.store.pins import Pins
from jitchat.tools.request_context import RequestContext
from jitchat.tools.source import Step
from jitchat.values import REQUEST_CONTEXT, Mode, Reach, Role, ToolCall, Turn
from jitchat.why import why_other
from jitchat.window.cost import choosing_sentences
from jitchat.window.window import Kind
from tests.support import session_on

DAY = datetime(2026, 3, 1, 9, tzinfo=UTC)
TEXTS = (
    "Where does the relay of the harbour listen?",
    "The relay of the harbour listens on port 9641.",
    "And who paints the crane?",
    "Birgit paints the crane in May.",
)


def put(store, title: str, *texts: str, project: str = "default", temporary: bool = False):
    made = store.create(title, title.lower(), project, temporary=temporary)
    roles = (Role.USER, Role.ASSISTANT)
    store.append(
        made.id,
        [
            Turn(0, roles[place % 2], text, DAY + timedelta(minutes=place))
            for place, text in enumerate(texts)
        ],
    )
    memory = Memory(store, store.conversation(made.id))
    list(memory.index.catch_up())
    return store.conversation(made.id)


@pytest.fixture
def other(store):
    return put(store, "Harbour", *TEXTS)


def opened(store, reach: Reach = Reach.PROJECT, **more):
    here = put(store, "Here", "Good morning.", "Good morning to you.", **more)
    return session_on(store, here, options=SessionOptions(reach=reach))


def names(session, draft: str = "On which port does the relay of the harbour listen?"):
    return [row.name for row in session.preview(draft, Mode.JIT).others_of(Kind.RETRIEVED)]


def test_by_default_nothing_is_recalled_from_other_conversations(store, other):
    session = opened(store, Reach.CONVERSATION)
    assert names(session) == []
    assert session.memory.others is None


def test_a_turn_of_another_conversation_is_found_and_quoted(store, other):
    session = opened(store)
    window = session.preview("On which port does the relay of the harbour listen?", Mode.JIT)
    assert "harbour#2" in [row.name for row in window.others_of(Kind.RETRIEVED)]
    assert "<turn harbour#2 “Harbour”" in window.messages()[-1].content
    told = " ".join(why_other(window, "harbour#2"))
    assert told.startswith("harbour#2 of “Harbour” is in the window, ~")
    assert "in “Harbour”" in told
    assert why_other(window, "harbour#9")[0].startswith("harbour#9 was never a candidate")
    assert not [each for each in window.segments if each.kind is Kind.RETRIEVED and each.turn]


def test_only_the_projects_conversations_are_searched_by_default(store):
    put(store, "Work", *TEXTS, project="work")
    assert names(opened(store)) == []
    assert "work#2" in names(
        session_on(store, store.conversation("here"), options=SessionOptions(reach=Reach.ALL))
    )


def test_a_temporary_conversation_neither_searches_others_nor_is_searched(store, other):
    put(store, "Secret", *TEXTS, temporary=True)
    found = names(opened(store, Reach.ALL))
    assert found
    assert not [name for name in found if name.startswith("secret")]
    session = session_on(
        store, store.conversation("secret"), options=SessionOptions(reach=Reach.ALL)
    )
    assert session.memory.others is None


def test_a_turn_excluded_in_its_conversation_is_not_found(store, other):
    session = opened(store)
    assert "harbour#2" in names(session)
    Pins(store.database).put(store.turns_of("harbour", Path(((2, 2),)))[0], "excluded")
    assert "harbour#2" not in names(session)


def test_turns_added_by_another_process_are_found(store, other):
    session = opened(store)
    draft = "What does the lighthouse keeper read?"
    assert names(session, draft) == []
    put(store, "Lighthouse", "The lighthouse keeper reads Moby Dick.")
    assert names(session, draft) == ["lighthouse#1"]


def test_scores_of_this_conversation_have_the_same_scale(store, other):
    session = opened(store)
    names(session)
    session.memory.add_user_turn("The relay of the harbour listens on port 9641, does it not.")
    list(session.memory.index.catch_up())
    found = session.memory.retrieve("Where does the relay of the harbour listen?", 4).elsewhere
    assert found.own_scores is not None
    assert 3 in dict(found.own_scores)


def ask(session, **arguments):
    window = session.preview("and?", Mode.RECENCY)
    source = RequestContext(session.memory, session.planning.history_before, session.counter)
    call = ToolCall("c", REQUEST_CONTEXT, json.dumps(arguments))
    return source._output(call, arguments_of(call), Step(window, 2_000))


def test_a_model_finds_and_reads_turns_of_other_conversations(store, other):
    session = opened(store)
    found = ask(session, query="port of the relay of the harbour")
    assert "<turn harbour#2 “Harbour”" in found.result.content
    assert found.requested is not None
    assert "harbour#2" in found.requested.elsewhere
    assert [each.turn for each in found.segments] == [None] * len(found.segments)
    assert "harbour#2" in {
        f"{each.source.conversation}#{each.source.first}" for each in found.segments if each.source
    }
    read = ask(session, turn="harbour#4")
    assert "Birgit paints the crane in May." in read.result.content
    assert "harbour#4 is whole" in read.result.content
    assert "There is no turn harbour#9 in reach." in ask(session, turn="harbour#9").result.content


def test_turns_that_are_not_searched_cannot_be_read_by_name(store, other):
    put(store, "Work", *TEXTS, project="work")
    assert "no turn work#2 in reach" in ask(opened(store), turn="work#2").result.content
    here = session_on(store, store.conversation("here"))
    assert "only turns of this one are in reach" in ask(here, turn="harbour#2").result.content


def test_the_tool_says_that_it_searches_other_conversations(store, other):
    reaching, here = opened(store), session_on(store, other)
    texts = [
        RequestContext(each.memory, each.planning.history_before, each.counter)
        .tools()[0]
        .description
        for each in (reaching, here)
    ]
    assert "and of others, named like chat-3#12," in texts[0]
    assert "others" not in texts[1]


def test_too_many_conversations_to_search_are_reported(store, other, monkeypatch):
    for title in ("Quay", "Crane"):
        put(store, title, *TEXTS)
    monkeypatch.setattr("jitchat.index.other_conversations.MOST_TURNS", len(TEXTS))
    session = opened(store)
    window = session.preview("On which port does the relay of the harbour listen?", Mode.JIT)
    assert {row.name.partition("#")[0] for row in window.others_of(Kind.RETRIEVED)} == {"crane"}
    told = "not searched, too many turns in scope: 2 conversations, the least recently used"
    assert told in choosing_sentences(window)[-1]
