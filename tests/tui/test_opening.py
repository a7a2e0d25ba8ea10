"""One conversation after another: nothing of the one that was left is taken for the next."""

from __future__ import annotations

import asyncio
import gc
import threading
from typing import TYPE_CHECKING

import pytest

from jitchat.errors import EmbedderUnavailable, StoreUnreadable
from jitchat.session_options import SessionOptions
from jitchat.tui.chat.opening import DraftKeeper
from jitchat.tui.chat.screen import ChatScreen
from jitchat.tui.widgets.budget_bar import BudgetBar
from jitchat.tui.widgets.inspector import Inspector
from jitchat.tui.widgets.prompt import Prompt
from jitchat.tui.widgets.transcript import Transcript
from jitchat.window.budget import Budget
from jitchat.window.window import Kind
from tests.support import conversation_of, talk
from tests.tui.drawn import on_screen, positions
from tests.tui.support import TestBackend, chat, demo_app, idle, notices, ready, until

if TYPE_CHECKING:
    from jitchat.values import Conversation


class Gates(dict[str, threading.Event]):
    """By conversation; `reached` are those that came to theirs, `passed` those that went on."""

    reached: list[str]
    passed: list[str]


@pytest.fixture
def gates(backend: TestBackend, monkeypatch: pytest.MonkeyPatch) -> Gates:
    """Conversations that open only when their gate does."""
    shut = Gates()
    shut.reached, shut.passed = [], []
    real = backend.open_session

    def slow(conversation: Conversation) -> object:
        made = real(conversation)
        shut.reached.append(conversation.id)
        shut.get(conversation.id, _open_gate()).wait(10)
        shut.passed.append(conversation.id)
        return made

    monkeypatch.setattr(backend, "open_session", slow)
    return shut


def _open_gate() -> threading.Event:
    gate = threading.Event()
    gate.set()
    return gate


def last_texts(backend: TestBackend, conversation: str, count: int = 2) -> list[str]:
    return [turn.content for turn in backend.store.turns(conversation)][-count:]


async def test_the_first_frame_shows_how_the_conversation_ends(
    backend: TestBackend, monkeypatch
) -> None:
    seen: list[list[int]] = []
    draw = ChatScreen._compositor_refresh

    def drawn(screen: ChatScreen) -> None:
        rows = on_screen(screen.query_one(Transcript))
        seen.append([int(row.split()[0][1:]) for row in rows if row.startswith("#")])
        draw(screen)

    monkeypatch.setattr(ChatScreen, "_compositor_refresh", drawn)
    async with demo_app(backend).run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: seen, "a frame")
        assert seen[0][-1] == 60
        await ready(pilot)
        assert all(turns[-1] == 60 for turns in seen)


async def test_of_two_messages_before_it_is_open_none_is_lost(backend: TestBackend, gates) -> None:
    gates["demo"] = threading.Event()
    async with demo_app(backend).run_test(size=(140, 40)) as pilot:
        prompt = chat(pilot).query_one(Prompt)
        for text in ("first message", "second message"):
            prompt.insert(text)
            await pilot.press("enter")
            await pilot.pause()
        assert prompt.text == "second message"
        gates["demo"].set()
        await until(pilot, lambda: len(backend.store.turns("demo")) == 62, "the answer")
        await idle(pilot)
        assert last_texts(backend, "demo")[0] == "first message"


async def test_a_message_to_a_conversation_that_cannot_be_opened_stays(backend: TestBackend):
    backend.refusal = EmbedderUnavailable("No model.", "Name another.")
    async with demo_app(backend).run_test(size=(140, 40)) as pilot:
        screen = chat(pilot)
        await until(pilot, lambda: screen.opening.refusal is not None, "the refusal")
        screen.query_one(Prompt).insert("my long message")
        await pilot.press("enter")
        await pilot.pause()
        assert screen.query_one(Prompt).text == "my long message"


async def test_a_message_that_waits_goes_nowhere_else(backend: TestBackend, gates) -> None:
    gates["demo"] = threading.Event()
    async with demo_app(backend).run_test(size=(140, 40)) as pilot:
        screen = chat(pilot)
        screen.query_one(Prompt).insert("about the release")
        await pilot.press("enter")
        await pilot.pause()
        await screen.conversations.begin()
        gates["demo"].set()
        await until(pilot, lambda: screen.session is not None, "the new conversation")
        await pilot.pause()
        assert screen.query_one(Prompt).text == ""
        await screen.open(backend.store.conversation("demo"))
        assert screen.query_one(Prompt).text == "about the release"
        assert backend.provider.requests == []  # type: ignore[attr-defined]


async def test_whoever_opens_a_conversation_types_at_once_and_sees_that_one_alone(
    backend: TestBackend, gates
) -> None:
    """Neither the one before it, nor one that opens late; and a warning is told at the start."""
    backend.warning = "The key would be sent to models.test unencrypted: use https."
    other = conversation_of(backend.store, talk("one", "two"))
    left = conversation_of(backend.store, talk("left"))
    wanted = conversation_of(backend.store, talk("wanted"))
    broken = conversation_of(backend.store, talk("x", "y"))
    gates[left.id], gates[wanted.id] = threading.Event(), threading.Event()
    async with demo_app(backend).run_test(size=(140, 40)) as pilot:
        screen = await ready(pilot)
        assert notices(pilot) == [backend.warning]
        screen.query_one(Inspector).point_at(Kind.SYSTEM)
        await until(pilot, lambda: screen.query_one(Inspector).has_focus_within, "the inspector")
        await screen.open(other)
        await pilot.press("h", "i")
        assert screen.query_one(Prompt).text == "hi"

        await screen.open(left)
        await until(pilot, lambda: left.id in gates.reached, "the one to be left, at its gate")
        await screen.open(wanted)
        gates[left.id].set()
        await until(pilot, lambda: left.id in gates.passed, "the one that was left")
        await pilot.pause()
        assert screen.session is None
        gates[wanted.id].set()
        await until(pilot, lambda: screen.session is not None, "the session")
        assert screen.session.memory.conversation == screen.opening.conversation == wanted  # type: ignore[union-attr]
        await ready(pilot)

        backend.refusal = StoreUnreadable("It is broken.", "Mend it.")
        await screen.open(broken)
        await until(pilot, lambda: screen.opening.refusal is not None, "the refusal")
        assert screen.previews.window is None
        assert screen.query_one(BudgetBar).window is None
        assert screen.query_one(Inspector).query_one("#segments").option_count == 0  # type: ignore[attr-defined]


async def test_turns_keep_their_order_while_the_rest_is_read(backend: TestBackend) -> None:
    made = conversation_of(backend.store, talk(*(f"point {n}" for n in range(1, 301))))
    async with demo_app(backend).run_test(size=(80, 24)) as pilot:
        screen = await ready(pilot)
        await screen.open(made)
        await until(pilot, lambda: screen.indexing.indexed and screen.previews.window, "the window")
        transcript = screen.query_one(Transcript)
        for _ in range(7):
            transcript.scroll_to(y=8, animate=False)
            await pilot.pause()
            transcript.scroll_to(y=0, animate=False)
            await pilot.pause(0.02)
        shown = positions(screen)
        assert shown == list(range(shown[0], shown[-1] + 1))
        assert shown[0] < 280


async def test_a_draft_over_the_budget_freezes_nothing_at_each_key(backend: TestBackend) -> None:
    backend.options = SessionOptions(budget=Budget(limit=2_500, reserve=2_048))
    async with demo_app(backend).run_test(size=(140, 40)) as pilot:
        screen = chat(pilot)
        await until(
            pilot, lambda: screen.previews.planned and screen.indexing.indexed, "the first plan"
        )
        screen.choices.use_mode("full")
        await pilot.pause(0.1)
        before = gc.get_freeze_count()
        for _ in range(5):
            planned = screen.previews.planned
            await pilot.press("a")
            await until(pilot, lambda p=planned: screen.previews.planned > p, "the plan")
        assert screen.previews.window is None
        assert gc.get_freeze_count() <= before


async def test_what_is_typed_while_another_conversation_opens_is_kept(
    backend: TestBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = conversation_of(backend.store, talk("About walruses."))
    reached, go_on = threading.Event(), threading.Event()
    keep_now = DraftKeeper.keep_now

    async def keep_slowly(keeper: DraftKeeper) -> None:
        await keep_now(keeper)
        reached.set()
        await asyncio.to_thread(go_on.wait, 10)

    async with demo_app(backend).run_test() as pilot:
        screen = await ready(pilot)
        screen.surfaces.prompt.insert("which ")
        monkeypatch.setattr(DraftKeeper, "keep_now", keep_slowly)
        opens = asyncio.create_task(screen.open(other))
        await asyncio.to_thread(reached.wait, 10)
        screen.surfaces.prompt.insert("port?")
        go_on.set()
        await opens
        assert screen.opening.conversation.id == other.id
        assert screen.surfaces.prompt.message.text == "which port?"
