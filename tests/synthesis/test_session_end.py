"""When the memory document is written, from what, and what becomes of it if that fails."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from jitchat.memory import Memory
from jitchat.statements import MemoryDocument, Section
from jitchat.store.documents import DocumentStore, Operation
from jitchat.synthesis.document_writer import ExtractiveWriter, SessionTurns, Written
from jitchat.synthesis.session_end import IDLE, SessionEnd, end_left_sessions
from jitchat.values import Mode
from jitchat.window.steering import Hold, Once
from jitchat.window.window import Kind
from tests.support import conversation_of, session_on, talk, turn
from tests.synthesis.sessions import texts

if TYPE_CHECKING:
    from jitchat.session import Session
    from jitchat.store.store import ColdStore

PORT = "The gateway's port is 8443."
THREE = tuple(Operation)


async def say(session: Session, text: str) -> None:
    async for _ in session.send(text, Mode.DOCUMENT):
        pass


@pytest.fixture
def session(store: ColdStore) -> Session:
    return session_on(store, conversation_of(store, []))


def documents(store: ColdStore, project: str = "default") -> DocumentStore:
    return DocumentStore(store.database, project, store.now)


def kinds(session: Session, size: int = 8_000) -> list[tuple[Kind, int | None]]:
    budget = session.options.budget.of_size(size)
    window = session.preview("And now?", Mode.DOCUMENT, Once(budget=budget))
    return [(segment.kind, segment.turn) for segment in window.segments]


async def test_a_session_is_three_operations_and_its_turns_are_in_the_document_then(
    session: Session, store: ColdStore
):
    await say(session, PORT + " Thank you." * 200)  # the document is smaller than that
    await say(session, "That is all.")
    assert documents(store).versions() == []
    assert (Kind.RECENT, 1) in kinds(session)
    ended = await session.ending.end()
    assert ended is not None
    assert ended.operations == THREE
    assert (ended.turns, ended.left) == (4, 0)
    assert texts(ended.document) == [PORT]
    shown = kinds(session, size=600)
    assert (Kind.DOCUMENT, None) in shown
    assert (Kind.RECENT, 1) not in shown
    assert "3 store operations" in ended.sentence


async def test_a_session_in_which_nothing_was_said_is_three_operations_and_no_version(
    session: Session, store: ColdStore
):
    await say(session, PORT)
    await session.ending.end()
    again = await session.ending.end()
    assert again is not None
    assert again.operations == THREE
    assert len(documents(store).versions()) == 1


async def test_nothing_is_written_in_mid_session(session: Session, store: ColdStore):
    for text in (PORT, "I live in Porto.", "What do you know?"):
        await say(session, text)
        kinds(session)
    assert documents(store).versions() == []
    assert session.memory.context is not None
    assert session.memory.context.operations == THREE[:2]


@dataclass
class FailingWriter:
    """Says that what is built in had to write it, as a model's writer does."""

    calls: int = field(default=0)

    async def write(self, previous: MemoryDocument, session: SessionTurns) -> Written:
        self.calls += 1
        written = await ExtractiveWriter().write(previous, session)
        return replace(written, why="small-1: its answer is an empty document", calls=1)

    async def aclose(self) -> None:
        pass


async def test_a_writer_that_fails_is_three_operations_and_said(session: Session):
    await say(session, PORT)
    ended = await SessionEnd(session.memory, FailingWriter()).end()
    assert ended is not None
    assert ended.operations == THREE
    assert "(small-1: its answer is an empty document)" in ended.sentence


async def test_what_is_not_written_in_time_is_still_this_session(
    session: Session, store: ColdStore
):
    await say(session, PORT)
    ended = await session.ending.end(within=0)
    assert ended is not None
    assert (ended.turns, ended.left) == (0, 2)
    assert ended.operations == THREE
    assert (Kind.RECENT, 1) in kinds(session)
    assert texts((await session.ending.end()).document) == [PORT]


class HangingWriter:
    async def write(self, previous: MemoryDocument, session: SessionTurns) -> Written:
        await asyncio.Event().wait()
        raise AssertionError

    async def aclose(self) -> None:
        pass


async def test_a_model_that_does_not_answer_is_cut_off_and_nothing_is_lost(session: Session):
    await say(session, PORT)
    ended = await SessionEnd(session.memory, HangingWriter()).end(within=0.01)
    assert ended is not None
    assert ended.left == 2
    assert (Kind.RECENT, 1) in kinds(session)


async def test_what_another_process_wrote_meanwhile_is_read_and_kept(
    session: Session, store: ColdStore
):
    await say(session, PORT)
    kinds(session)  # the document is read here
    other = session_on(store, conversation_of(store, []))
    await say(other, "My sister Ana Ribeiro lives in Rome.")
    await other.ending.end()
    ended = await session.ending.end()
    assert ended is not None
    assert ended.operations == THREE
    assert set(texts(ended.document)) == {PORT, "My sister Ana Ribeiro lives in Rome."}
    assert ended.document.version == 2


async def test_a_crash_before_the_end_loses_nothing_and_the_next_start_ends_the_session(
    session: Session, store: ColdStore, clock
):
    await say(session, PORT)
    name = session.memory.conversation.id
    assert await end_left_sessions(store, ExtractiveWriter(), "another") == []  # it may go on
    store.now = lambda: clock() + IDLE + timedelta(minutes=1)
    assert await end_left_sessions(store, ExtractiveWriter(), name) == []  # it is open
    (ended,) = await end_left_sessions(store, ExtractiveWriter(), "another")
    assert texts(ended.document) == [PORT]
    assert await end_left_sessions(store, ExtractiveWriter(), "another") == []


async def test_a_session_is_over_when_nothing_was_said_for_twenty_minutes(
    session: Session, store: ColdStore, clock
):
    await say(session, PORT)
    assert not session.ending.is_over()
    store.now = lambda: clock() + IDLE
    assert session.ending.is_over()
    await session.ending.end()
    assert not session.ending.is_over()


async def test_a_conversation_that_was_only_read_is_in_no_document(store: ColdStore, clock):
    memory = Memory(store, conversation_of(store, talk("Hello there.", "Hello.")))
    store.now = lambda: clock() + IDLE
    ending = SessionEnd(memory)
    assert not ending.is_due()
    assert await ending.end_if_due() is None


async def test_a_temporary_conversation_reads_and_writes_no_document(
    session: Session, store: ColdStore
):
    await say(session, PORT)
    await session.ending.end()
    temporary = session_on(store, store.create("Off the record", temporary=True))
    await say(temporary, "The secret word is Rosebud.")
    assert (Kind.DOCUMENT, None) not in kinds(temporary)
    assert await temporary.ending.end() is None
    assert not temporary.ending.is_due()
    assert "Rosebud" not in str(documents(store).latest())


async def test_conversations_of_a_project_share_its_document_and_no_other(
    session: Session, store: ColdStore
):
    await say(session, PORT)
    await session.ending.end()
    beside = session_on(store, conversation_of(store, []))
    assert (Kind.DOCUMENT, None) in kinds(beside)
    elsewhere = conversation_of(store, [])
    store.database.execute(
        "UPDATE conversations SET project = 'other' WHERE id = ?", (elsewhere.id,)
    )
    assert (Kind.DOCUMENT, None) not in kinds(session_on(store, elsewhere))


async def test_what_was_said_on_a_branch_that_was_left_is_in_no_window_and_goes(
    session: Session, store: ColdStore
):
    await say(session, "I live in Lisbon.")
    await say(session, PORT)
    await session.ending.end()
    fork = replace(session.memory.turns[0])
    async for _ in session.send(
        "The gateway's port is 9641.", Mode.DOCUMENT, Once(after=fork.position + 1)
    ):
        pass
    window = session.preview("And now?", Mode.DOCUMENT)
    shown = "".join(segment.text for segment in window.segments)
    assert "8443" not in shown
    assert "9641" in shown
    assert "Lisbon" in shown
    ended = await session.ending.end()
    assert set(texts(ended.document, Section.FACTS)) == {
        "I live in Lisbon.",
        "The gateway's port is 9641.",
    }


async def test_an_excluded_turn_is_not_read_by_the_writer(session: Session):
    await say(session, "The secret word is Rosebud.")
    await say(session, PORT)
    session.hold(1, Hold.EXCLUDED)
    ended = await session.ending.end()
    assert texts(ended.document) == [PORT]


async def test_a_long_session_is_written_in_batches_and_one_version(store: ColdStore):
    said = [f"The server number {at} has the address 10.0.0.{at}." for at in range(450)]
    session = session_on(store, conversation_of(store, []))
    store.append(
        session.memory.conversation.id, [turn(at, text) for at, text in enumerate(said, 1)]
    )
    session.memory.refresh()
    ended = await session.ending.end()
    assert ended.turns == 450
    assert ended.operations == THREE
    assert len(documents(store).versions()) == 1
