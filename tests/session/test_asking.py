"""One message sent in several modes at once: all replies belong to one turn."""

from __future__ import annotations

import asyncio
import shutil
import threading
from contextvars import ContextVar
from dataclasses import dataclass, field
from itertools import permutations
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from jitchat.compare_modes import ModeComparison
from jitchat.errors import EmptyDraft, JitchatError, Unreachable, WindowOverflow
from jitchat.events import (
    AnswerProgress,
    Event,
    ReasoningDelta,
    ReasoningFound,
    ReplyDelta,
    RetryScheduled,
    TurnStored,
    UsageReported,
    WindowBuilt,
)
from jitchat.memory import Memory
from jitchat.providers.catalogue.table import Prices
from jitchat.session import Session
from jitchat.session_options import SessionOptions
from jitchat.store.database import Database
from jitchat.store.path import parent_of
from jitchat.store.replies import ReplyWriter
from jitchat.store.store import ColdStore
from jitchat.tools.offering import Asking, OfferRules
from jitchat.values import REQUEST_CONTEXT, Message, Mode, Role, Status, ToolCall, Turn, Usage
from jitchat.window.budget import Budget
from jitchat.window.steering import Once
from tests.session.sending import durable, send, typed
from tests.support import ScriptedProvider, conversation_of, session_on, talk

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence

    from jitchat.providers.provider import Options, Piece

_MODE: ContextVar[Mode] = ContextVar("mode")
TALK = talk("Which port?", "Port 8443.", "And the logo?", "It is green.")
PIECES = {mode: (f"{mode}, ", "in two.") for mode in Mode}
THREE = (Mode.JIT, Mode.FULL, Mode.RECENCY)
TEXTS = {mode: f"{mode}, in two." for mode in Mode}


@dataclass
class Choir(ScriptedProvider):
    """Answers each mode with its own script."""

    scripts: dict[Mode, Sequence[str | JitchatError | asyncio.Event]] = field(
        default_factory=lambda: dict(PIECES)
    )

    async def stream(self, messages: Sequence[Message], options: Options) -> AsyncIterator[Piece]:
        voice = ScriptedProvider(self.scripts[_MODE.get()])
        async for piece in voice.stream(messages, options):
            yield piece


@dataclass
class Ear:
    """Records events, and tells the provider which mode the next request is for."""

    heard: list[tuple[Mode, Event]] = field(default_factory=list)
    then: Callable[[Mode, Event], object] = lambda mode, event: None

    def __call__(self, mode: Mode, event: Event) -> None:
        _MODE.set(mode)
        self.heard.append((mode, event))
        self.then(mode, event)


def choir(store: ColdStore, **scripts: Sequence[object]) -> Session:
    """A session on a short talk."""
    given = {Mode(name): script for name, script in scripts.items()}
    provider = Choir(scripts=PIECES | given)  # type: ignore[arg-type]
    return session_on(store, conversation_of(store, TALK), provider)


def every_turn(store: ColdStore, conversation: str) -> list[Turn]:
    from jitchat.store.store import TURN_COLUMNS, turn_from

    with store.database.read() as connection:
        rows = connection.execute(
            f"SELECT {TURN_COLUMNS} FROM turns t WHERE conversation = ? ORDER BY position",
            (conversation,),
        )
        return [turn_from(row) for row in rows]


def require_kept(session: Session, asking: ModeComparison, talked: int = len(TALK)) -> list[Turn]:
    """Check that nothing is stored partially: one user turn, with each reply under it."""
    memory = session.memory
    turns = every_turn(memory.store, memory.conversation.id)[talked:]
    assert durable(memory.store).streaming == 0
    assert not [turn for turn in turns if turn.status is Status.STREAMING]
    assert [turn.role for turn in turns] == [Role.USER] + [Role.ASSISTANT] * (len(turns) - 1)
    said, *replies = turns
    assert {parent_of(reply) for reply in replies} <= {said.position}
    assert (said.status is Status.UNANSWERED) == (not replies)
    assert sorted(asking.replies.values()) == [reply.position for reply in replies]
    assert memory.turns[-1].position == (asking.goes_on or said.position)
    return replies


ORDERS = list(permutations(Mode))[::17]
"""Enough of all orders that each mode is first in one of them."""


@pytest.mark.parametrize("order", ORDERS, ids="-".join)
async def test_all_replies_belong_to_one_turn_in_any_order_of_arrival(store, order):
    """The second chunk of each mode waits for the complete reply of the previous one in `order`."""
    gates = {mode: asyncio.Event() for mode in order}
    scripts = {mode: (f"{mode}, ", gates[mode], "in two.") for mode in order}
    session = choir(store, **scripts)
    begun: set[Mode] = set()

    def next_one(mode: Mode, event: Event) -> None:
        match event:
            case ReplyDelta():
                begun.add(mode)
                if len(begun) == len(order):
                    gates[order[0]].set()
            case TurnStored(turn) if turn.role is Role.ASSISTANT and mode is not order[-1]:
                gates[order[order.index(mode) + 1]].set()

    asking = ModeComparison(session, "Which one?")
    await asking.run(Ear(then=next_one))
    replies = require_kept(session, asking)
    by_position = {reply.position: reply for reply in replies}
    assert {mode: by_position[place].content for mode, place in asking.replies.items()} == TEXTS
    assert {reply.status for reply in replies} == {Status.COMPLETE}
    assert asking.goes_on == asking.replies[Mode.JIT]
    windows = durable(store).windows
    assert sorted(window[1] for window in windows) == sorted(reply.id for reply in replies)
    session.provider = ScriptedProvider()
    await send(session, "And then?")
    assert [turn.position for turn in session.memory.turns[-3:-1]] == [
        asking.goes_on,
        6 + len(Mode),
    ]


async def test_a_reply_that_began_first_and_is_saved_last_is_an_alternative_too(store, monkeypatch):
    save, began, others = ReplyWriter.save, list[ReplyWriter](), threading.Event()

    def saved_late(writer: ReplyWriter) -> None:
        began.append(writer)
        if writer is began[0]:
            assert others.wait(10)
        save(writer)
        others.set()

    monkeypatch.setattr(ReplyWriter, "save", saved_late)
    asking = ModeComparison(session := choir(store), "Which one?")
    await asking.run(Ear())
    assert len(require_kept(session, asking)) == len(Mode)


async def test_cancelled_at_any_event_partial_replies_are_kept_and_nothing_is_left_open(store):
    number = heard = 0
    while heard >= number:
        session, ear, number = choir(store), Ear(), number + 1
        asking = ModeComparison(session, "Which one?", modes=THREE)
        task = asyncio.ensure_future(asking.run(ear))
        ear.then = lambda *_, t=task, e=ear, n=number: len(e.heard) == n and t.cancel()
        await asyncio.wait([task])
        heard = len(ear.heard)
        require_kept(session, asking)
        assert all(answer.is_over for answer in asking.answers.values()) or number <= 3
        texts = [answer.text for answer in asking.answers.values() if answer.text]
        stored = every_turn(store, session.memory.conversation.id)[len(TALK) + 1 :]
        assert sorted(texts) == sorted(turn.content for turn in stored)
    assert number > 15


async def test_cancelled_half_way_each_partial_answer_is_kept(store):
    never = asyncio.Event()
    session = choir(store, recency=("Part of", never), jit=(never,))
    asking = ModeComparison(session, "Which one?", modes=THREE)
    task = asyncio.ensure_future(asking.run(ear := Ear()))
    came = asyncio.Event()

    def look(mode: Mode, event: Event) -> None:
        answers = asking.answers
        if answers[Mode.FULL].reply and answers[Mode.RECENCY].text and answers[Mode.JIT].window:
            came.set()

    ear.then = look
    await came.wait()
    task.cancel()
    await asyncio.wait([task])
    kept = {reply.content: reply.status for reply in require_kept(session, asking)}
    assert kept == {TEXTS[Mode.FULL]: Status.COMPLETE, "Part of": Status.CANCELLED}
    assert set(asking.replies) == {Mode.FULL, Mode.RECENCY}
    stopped = asking.answers[Mode.JIT]
    assert (stopped.is_over, stopped.reply, stopped.error) == (True, None, None)
    assert asking.answers[Mode.FULL].reply


async def test_cancelling_while_a_thread_stores_the_message(store, monkeypatch):
    session = choir(store)
    asking, storing, go_on = (
        ModeComparison(session, "Which one?"),
        threading.Event(),
        threading.Event(),
    )
    add = session.memory.add_user_turn

    def held(*args: object) -> object:
        storing.set()
        assert go_on.wait(10)
        return add(*args)

    monkeypatch.setattr(session.memory, "add_user_turn", held)
    task = asyncio.ensure_future(asking.run(Ear()))
    await asyncio.to_thread(storing.wait, 10)
    task.cancel()
    go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    turns = every_turn(store, session.memory.conversation.id)[len(TALK) :]
    assert [turn.status for turn in turns] == [Status.UNANSWERED]


async def test_killed_in_the_middle_all_partial_replies_belong_to_the_turn(store, tmp_path):
    gate, begun = asyncio.Event(), set[Mode]()
    scripts = {mode: (f"{mode}, ", gate, "in two.") for mode in Mode}
    session = choir(store, **scripts)
    saved = asyncio.Event()

    def copied(mode: Mode, event: Event) -> None:
        if isinstance(event, ReplyDelta):
            begun.add(mode)
            if len(begun) == len(Mode):
                saved.set()

    asking = ModeComparison(session, "Which one?")
    task = asyncio.ensure_future(asking.run(Ear(then=copied)))
    await saved.wait()
    while durable(store).streaming <= len(Mode):  # a row each, and one of the message
        await asyncio.sleep(0)
    for suffix in ("", "-wal"):
        path = Path(f"{store.database.path}{suffix}")
        shutil.copy(path, tmp_path / f"killed.db{suffix}")
    gate.set()
    await task
    database = Database(tmp_path / "killed.db")
    left = ColdStore(database)
    memory = Memory(left, left.conversation(session.memory.conversation.id))
    turns = every_turn(left, memory.conversation.id)[len(TALK) :]
    database.close()
    assert [turn.status for turn in turns[1:]] == [Status.INTERRUPTED] * len(Mode)
    assert {parent_of(turn) for turn in turns[1:]} == {turns[0].position}
    assert {turn.content for turn in turns[1:]} == {f"{mode}, " for mode in Mode}
    assert memory.turns[-2:] == [turns[0], memory.turns[-1]]


async def test_a_mode_that_fails_leaves_the_others_alone(store):
    error = Unreachable("Nobody is there.", "Start it.")
    session = choir(store, recency=(error,), jit=("Half", error))
    asking = ModeComparison(session, "Which one?")
    await asking.run(Ear())
    require_kept(session, asking)
    assert asking.answers[Mode.RECENCY].error is error
    assert asking.answers[Mode.JIT].error is error
    assert asking.answers[Mode.JIT].text == "Half"
    assert asking.answers[Mode.FULL].error is None
    assert set(asking.replies) == set(Mode) - {Mode.RECENCY}


async def test_only_the_chosen_modes_are_asked_and_the_first_one_continues(store):
    session = choir(store)
    asking = ModeComparison(session, "Which one?", modes=(Mode.RECENCY, Mode.FULL))
    await asking.run(Ear())
    assert list(asking.answers) == [Mode.FULL, Mode.RECENCY]
    assert len(require_kept(session, asking)) == 2
    assert asking.goes_on == asking.replies[Mode.RECENCY]


async def test_a_mode_that_does_not_fit_is_reported_and_the_others_answer(store):
    session = choir(store)
    session.options = SessionOptions(budget=Budget(limit=180, reserve=20))
    session.memory.store.append(session.memory.conversation.id, talk("long " * 300, "Yes."))
    asking = ModeComparison(session, "Which one?")
    await asking.run(Ear())
    assert isinstance(asking.answers[Mode.FULL].error, WindowOverflow)
    assert Mode.FULL not in asking.replies
    assert session.memory.turns[-2].status is Status.COMPLETE or not asking.replies


async def test_a_message_without_any_answer_can_be_sent_again(store):
    error = Unreachable("Nobody is there.", "Start it.")
    session = choir(store, **dict.fromkeys(Mode, (error,)))
    first = ModeComparison(session, "Which one?")
    await first.run(Ear())
    assert require_kept(session, first) == []
    session.provider.scripts = dict(PIECES)  # type: ignore[attr-defined]
    second = ModeComparison(session, "Which one?")
    await second.run(Ear())
    assert second.said == first.said
    assert len(require_kept(session, second)) == len(Mode)


async def test_an_answered_message_gets_more_replies_and_stays_answered(store):
    session = choir(store)
    said = session.memory.turns[2]
    error = Unreachable("Nobody is there.", "Start it.")
    asking = ModeComparison(session, said.content, Once(again=said))
    await asking.run(Ear())
    assert len(
        session.memory.store.branches(session.memory.conversation.id)[asking.goes_on]
    ) == 1 + len(Mode)
    session.provider.scripts = dict.fromkeys(Mode, (error,))  # type: ignore[attr-defined]
    again = ModeComparison(session, said.content, Once(again=said))
    await again.run(Ear())
    assert again.replies == {}
    assert session.memory.turns[-1].position == asking.goes_on
    assert session.memory.turns[2].status is Status.COMPLETE


async def test_an_empty_draft_is_neither_sent_nor_stored(store):
    session = choir(store)
    with pytest.raises(EmptyDraft):
        await ModeComparison(session, " \n").run(Ear())
    assert len(every_turn(store, session.memory.conversation.id)) == len(TALK)


async def test_times_and_figures_of_an_answer_come_from_its_own_window_and_events(store):
    session, now = choir(store, full=()), iter(range(100))
    ear = Ear()
    asking = ModeComparison(session, "Which one?", clock=lambda: float(next(now)))
    await asking.run(ear)
    built = {mode: event.window for mode, event in ear.heard if isinstance(event, WindowBuilt)}
    for mode, answer in asking.answers.items():
        assert answer.window is built[mode]
        assert answer.usage == Usage(100, 10)
        assert answer.counted == session.counter.count(answer.text)
    assert asking.answers[Mode.FULL].to_first is None
    jit = asking.answers[Mode.JIT]
    assert 0 < jit.to_first < jit.took  # type: ignore[operator]


def test_reasoning_counts_as_the_first_token_and_is_not_text() -> None:
    answer = AnswerProgress(Mode.JIT, left_at=1.0)
    answer = answer.after(RetryScheduled(3, "busy"), 1.5)
    assert answer.notice == "busy; retrying in 3 s"
    answer = answer.after(ReasoningDelta("Hm"), 5.5)
    answer = answer.after(ReplyDelta("thought"), 6.0)
    answer = answer.after(ReasoningFound(), 7.0)
    answer = answer.after(UsageReported(Usage(1, 2)), 8.0)
    assert (answer.to_first, answer.text, answer.notice, answer.usage) == (1.0, "", "", Usage(1, 2))


async def test_an_answers_cost_is_that_of_all_its_own_requests(store: ColdStore):
    call = ToolCall("1", REQUEST_CONTEXT, '{"query": "relay 3"}')
    session = session_on(
        store,
        conversation_of(store, talk(*(f"Relay {n} has port {n + 9_000}." for n in range(40)))),
        ScriptedProvider((call,), later=[("8443.",)]),
        options=SessionOptions(
            Budget(size=600), prices=Prices(100.0, 10_000.0), offers=OfferRules(Asking.ON)
        ),
    )
    await send(session, "which port has relay 3?", Mode.RECENCY)
    asked = ModeComparison(session, "which port had relay 3?", modes=(Mode.RECENCY,))
    await asked.run(lambda mode, event: None)
    assert asked.answers[Mode.RECENCY].cost == pytest.approx(2 * 0.11)


async def test_every_mode_is_sent_the_files_of_the_message(
    store: ColdStore, tmp_path: Path
) -> None:
    (tmp_path / "note.txt").write_text("The key is under the mat.")
    session = choir(store)
    session.folder = tmp_path
    draft = "Where is the key, by @note.txt?"
    ear = Ear()
    asking = ModeComparison(session, draft, typed(draft))
    await asking.run(ear)
    assert [file.name for file in session.memory.files] == ["note.txt"]
    windows = [event.window for _, event in ear.heard if isinstance(event, WindowBuilt)]
    assert len(windows) == len(asking.answers)
    for window in windows:
        assert "under the mat" in window.messages()[-1].content
