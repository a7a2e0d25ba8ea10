"""Two programs send messages in one conversation: each reply knows the message that it answers."""

from __future__ import annotations

import os
from contextlib import aclosing, contextmanager
from typing import TYPE_CHECKING

import pytest

from jitchat.errors import JitchatError
from jitchat.events import WindowBuilt
from jitchat.regression_cases import exchange_of
from jitchat.values import Mode, Status
from tests.session.sending import regenerate, send, stored_turns
from tests.support import ScriptedProvider, conversation_of, session_on, talk
from tests.transfer.test_export import exported

if TYPE_CHECKING:
    from collections.abc import Iterator

    from jitchat.session import Session
    from jitchat.store.store import ColdStore

MODES = [Mode.FULL, Mode.RECENCY, Mode.JIT]


@contextmanager
def as_other_process(store: ColdStore) -> Iterator[None]:
    """Let the messages that are being answered be those of another process that is alive."""
    mark = "UPDATE streaming SET process = ?"
    store.database.execute(mark, (os.getppid(),))
    yield
    store.database.execute(mark, (os.getpid(),))


@pytest.fixture
def sessions(store) -> tuple[Session, Session]:
    conversation = conversation_of(store, talk("Where is the harbour?", "In the north."))
    return tuple(
        session_on(store, conversation, ScriptedProvider((f"Answer {name}.",))) for name in "AB"
    )


async def send_both(one: Session, other: Session, mode: Mode = Mode.JIT) -> str:
    """Send a message in both at once, with the first reply arriving first; return B's request."""
    store = one.memory.store
    first, second = one.send("Question A?", mode), other.send("Question B?", mode)
    async with aclosing(first), aclosing(second):
        await anext(first)
        with as_other_process(store):
            async for event in second:
                if isinstance(event, WindowBuilt):
                    break
        async for _ in first:
            pass
        async for _ in second:
            pass
    return str(other.provider.requests[0])


@pytest.mark.parametrize("mode", MODES)
async def test_no_window_holds_an_open_question_of_another_program(sessions, mode):
    one, other = sessions
    request = await send_both(one, other, mode)
    assert "Question B?" in request
    assert "Question A?" not in request
    await send(other, "And then?", mode)
    request = str(other.provider.requests[-1])
    assert all(text in request for text in ("Question A?", "Answer A.", "Question B?"))


async def test_a_message_of_a_program_that_is_gone_is_no_open_question(sessions):
    one, other = sessions
    one.memory.add_user_turn("Question A?")
    one.memory.store.database.execute("UPDATE streaming SET process = ?", (2**40,))
    await send(other, "Question B?")
    assert "Question A?" in str(other.provider.requests[0])


async def test_a_reply_stores_which_message_it_answers(sessions):
    one, other = sessions
    await send_both(one, other)
    one.memory.refresh()
    listed = [(turn.position, turn.content, turn.question) for turn in one.memory.turns[2:]]
    assert listed == [
        (3, "Question A?", None),
        (4, "Question B?", None),
        (5, "Answer A.", 3),
        (6, "Answer B.", None),
    ]
    found = [exchange_of(one, place) for place in (3, 4, 5, 6, None)]
    pairs = [(said.position, reply.position) for said, reply in found if said and reply]
    assert pairs == [(3, 5), (4, 6), (3, 5), (4, 6), (4, 6)]


@pytest.mark.parametrize(("asked", "path"), [(4, [3, 4, 5, 7]), (3, [3, 4, 7])])
async def test_another_reply_takes_the_place_of_the_reply_to_the_same_message(
    sessions, asked, path
):
    one, other = sessions
    await send_both(one, other)
    one.memory.refresh()
    said = one.memory.turn_at(asked)
    events = await regenerate(one, said, Mode.FULL)
    request = str(one.provider.requests[-1])
    assert said.content in request
    assert ("Question A?" in request) is (asked == 3)
    assert stored_turns(events)[-1].content == "Answer A."
    assert [turn.position for turn in one.memory.turns[2:]] == path
    assert exchange_of(one, 7)[0] == said
    versions = one.memory.store.branches(one.memory.conversation.id)
    assert [place for place in versions if place > 2] == [7]


async def test_a_message_without_a_reply_is_open_no_longer(sessions):
    one, _ = sessions
    one.provider.script = (JitchatError("The line is cut.", "Send again."),)
    await send(one, "Question A?")
    assert one.memory.turns[-1].status is Status.UNANSWERED
    assert one.memory.store.database.fetch_one("SELECT count(*) FROM streaming")[0] == 0


async def test_exports_say_which_message_a_reply_answers(sessions):
    one, other = sessions
    await send_both(one, other)
    store = one.memory.store
    markdown, page, lines = (exported(store, name) for name in ("markdown", "html", "jsonl"))
    assert "#5 assistant · to #3" in markdown
    assert "#6 assistant · to" not in markdown
    assert "#5 assistant · to #3" in page
    texts = ("Question A?", "Answer A.", "Question B?", "Answer B.")
    places = [lines.index(text) for text in texts]
    assert places == sorted(places)
