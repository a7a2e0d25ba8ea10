"""A message to a conversation that is not indexed, or only partly."""

from __future__ import annotations

from dataclasses import replace

from jitchat.events import TurnIndexed, TurnsRetrieved
from jitchat.index.indexer import BATCH
from jitchat.memory import Memory
from jitchat.session import Session
from jitchat.session_options import SessionOptions
from jitchat.window.tokens import EstimateCounter
from tests.session.sending import send, talking
from tests.support import ScriptedProvider, conversation_of, talk


async def test_a_send_does_not_wait_for_a_long_backlog(store):
    session = talking(store)
    many = [replace(session.memory.turns[0], content=f"late {n}") for n in range(300)]
    store.append(session.memory.conversation.id, many)
    events = await send(session, "hello")
    indexed = [event.entry.turn for event in events if isinstance(event, TurnIndexed)]
    assert indexed == [*range(5, 5 + BATCH)]


async def test_the_first_message_finds_a_conversation_that_is_not_indexed_yet(store):
    turns = talk("The ferry is called Gannet.", *(f"Chatter of morning {n}." for n in range(70)))
    memory = Memory(store, conversation_of(store, turns))
    session = Session(memory, ScriptedProvider(), EstimateCounter(), SessionOptions())
    events = await send(session, "what is the ferry called?")
    (found,) = (event.retrieval for event in events if isinstance(event, TurnsRetrieved))
    assert found.hits[0].turn == 1
