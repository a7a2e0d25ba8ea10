"""What a person does in the chat, and what they see."""

from __future__ import annotations

import asyncio
import threading

import pytest

from jitchat.errors import StoreFull, Unreachable
from jitchat.session_options import SessionOptions
from jitchat.tui.app import JitchatApp
from jitchat.tui.widgets.inspector import Inspector
from jitchat.tui.widgets.prompt import Prompt
from jitchat.tui.widgets.top_line import TopLine
from jitchat.values import Conversation, Mode, Role, Status
from jitchat.window.budget import Budget
from jitchat.window.window import Kind
from tests.support import ScriptedProvider
from tests.tui.drawn import blocks, part, positions
from tests.tui.support import TestBackend, chat, demo_app, idle, notices, ready, type_text, until

QUESTION = "what did we settle on for the deploy window?"


def shown(widget: object, name: str) -> str:
    return str(widget.query_one(name).render())  # type: ignore[attr-defined]


async def test_the_first_run_shows_the_window_f2_hides_it_and_shift_tab_changes_its_mode(
    backend: TestBackend,
) -> None:
    async with demo_app(backend).run_test(size=(140, 40)) as pilot:
        screen = await ready(pilot)
        top = screen.query_one(TopLine)
        assert "Release planning (demo)" in shown(top, "#title")
        assert shown(top, "#status") == "scripted scripted-1 · none · ~estimate"
        assert "next window" in shown(screen, "#inspector-title")
        assert screen.query_one(Prompt).has_focus
        assert screen.previews.window is not None
        assert screen.previews.window.mode is Mode.JIT
        screen.query_one(Inspector).point_at("recent")
        await pilot.press("f2")
        await pilot.pause()
        assert not screen.query_one(Inspector).display
        assert screen.query_one(Prompt).has_focus, "it returns to the prompt"
        await pilot.press("f2")
        assert screen.query_one(Inspector).display

        seen = []
        for _ in Mode:
            planned = screen.previews.planned
            await pilot.press("shift+tab")
            await until(
                pilot, lambda p=planned: screen.previews.planned > p, "the next mode's window"
            )
            assert screen.previews.window is not None
            seen.append((screen.previews.window.mode, screen.previews.window.used))
        assert [mode for mode, _ in seen] == [*Mode][3:] + [*Mode][:3]
        used = dict(seen)
        assert used[Mode.FULL] > max(used[Mode.JIT], used[Mode.RECENCY])
        assert used[Mode.OBSERVE] == used[Mode.DOCUMENT] == used[Mode.JIT]
        assert isinstance(backend.provider, ScriptedProvider)
        assert backend.provider.requests == []


async def test_the_window_on_screen_has_its_exact_texts_and_is_the_one_that_is_sent(
    backend: TestBackend,
) -> None:
    async with demo_app(backend).run_test(size=(140, 40)) as pilot:
        screen = await ready(pilot)
        await type_text(pilot, QUESTION)
        assert "next window" in shown(screen, "#inspector-title")

        inspector = screen.query_one(Inspector)
        inspector.point_at("retrieved")
        await pilot.pause()
        await pilot.press("enter")
        await until(pilot, lambda: pilot.app.screen is not screen, "the text")
        exact = pilot.app.screen.query_one("#exact").text  # type: ignore[attr-defined]
        assert screen.previews.window is not None
        first = next(s for s in screen.previews.window.segments if s.kind is Kind.RETRIEVED)
        assert exact == first.text
        await pilot.press("escape")
        inspector.point_at("left out")
        await pilot.pause()
        await pilot.press("enter")
        await until(pilot, lambda: pilot.app.screen is not screen, "the text")
        assert pilot.app.screen.query_one("#exact").text  # type: ignore[attr-defined]
        await pilot.press("escape")
        screen.query_one(Prompt).focus()

        await pilot.press("enter")
        await until(pilot, lambda: screen.previews.sent, "the sent window")
        await idle(pilot)
        assert isinstance(backend.provider, ScriptedProvider)
        assert screen.previews.window is not None
        assert screen.previews.window.messages() == backend.provider.requests[0]
        assert screen.previews.window.tokens_of(Kind.RETRIEVED) > 0
        assert "sent window" in shown(screen, "#inspector-title")
        await type_text(pilot, "and")
        assert "next window" in shown(screen, "#inspector-title")


async def test_a_stopped_reply_keeps_what_came_and_before_its_first_word_gives_the_text_back(
    backend: TestBackend,
) -> None:
    provider = backend.provider = ScriptedProvider(script=("The window is ", asyncio.Event()))
    async with demo_app(backend).run_test(size=(140, 40)) as pilot:
        screen = await ready(pilot)
        prompt = screen.query_one(Prompt)
        await type_text(pilot, QUESTION)
        await pilot.press("enter")
        await until(pilot, lambda: screen.session.memory.turns[-1].position == 61, "the turn")
        await until(pilot, lambda: "The window is" in _last_text(screen), "the first words")
        await pilot.press("escape")
        await idle(pilot)
        last = backend.store.turns("demo")[-1]
        assert (last.role, last.content, last.status) == (
            Role.ASSISTANT,
            "The window is ",
            Status.CANCELLED,
        )
        assert "cancelled" in _last_header(screen)
        assert prompt.text == ""

        provider.script = (asyncio.Event(),)
        await type_text(pilot, "and who watches?")
        await pilot.press("enter")
        await until(pilot, lambda: len(provider.requests) == 2, "the request")
        await pilot.press("escape")
        await idle(pilot)
        assert prompt.text == "and who watches?"
        assert backend.store.turns("demo")[-1].status is Status.UNANSWERED


async def test_a_request_that_failed_or_was_not_stored_gives_the_text_back_also_at_the_next_start(
    backend: TestBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise StoreFull("The disk is full.", "Free some space.")

    provider = backend.provider = ScriptedProvider(
        script=(Unreachable("No server at [b]x[/b].", "Start it."),)
    )
    app = demo_app(backend)
    async with app.run_test(size=(140, 40)) as pilot:
        screen = await ready(pilot)
        await type_text(pilot, QUESTION)
        with monkeypatch.context() as refusing:
            refusing.setattr(backend.store, "append", full)
            await pilot.press("enter")
            await until(pilot, lambda: notices(pilot), "the refusal")
            await until(pilot, lambda: screen.query_one(Prompt).text, "the text in the prompt")
            assert screen.query_one(Prompt).text == QUESTION
            await idle(pilot)
        assert provider.requests == []

        await pilot.press("enter")
        await until(pilot, lambda: provider.requests, "the request")
        await until(pilot, lambda: screen.query_one(Prompt).text, "the text in the prompt")
        assert screen.query_one(Prompt).text == QUESTION
        assert "No server at [b]x[/b]. Start it." in notices(pilot)
    again = type(app)(backend, backend.store.conversation("demo"))
    async with again.run_test(size=(140, 40)) as pilot:
        screen = await ready(pilot)
        assert screen.query_one(Prompt).text == QUESTION
        provider.script = ("Tuesday.",)
        await pilot.press("enter")
        await until(pilot, lambda: "Tuesday." in _last_text(screen), "the answer")
        await idle(pilot)
        assert [t.position for t in backend.store.turns("demo", after=60)] == [61, 62]


async def test_enter_before_the_conversation_is_open_sends_once_it_is(
    backend: TestBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = threading.Event()
    real = backend.open_session

    def slow(conversation: Conversation) -> object:
        opened.wait(10)
        return real(conversation)

    monkeypatch.setattr(backend, "open_session", slow)
    async with demo_app(backend).run_test(size=(140, 40)) as pilot:
        screen = chat(pilot)
        screen.query_one(Prompt).insert(QUESTION)
        await pilot.press("enter")
        assert screen.query_one(Prompt).text == ""
        opened.set()
        await until(pilot, lambda: len(backend.store.turns("demo")) == 62, "question and answer")
        await idle(pilot)


async def test_full_that_does_not_fit_is_refused_with_the_overshoot(backend: TestBackend) -> None:
    backend.options = SessionOptions(budget=Budget(limit=4_096, reserve=1_024))
    async with demo_app(backend).run_test(size=(140, 40)) as pilot:
        screen = await ready(pilot)
        await type_text(pilot, QUESTION)
        planned = screen.previews.planned
        screen.choices.use_mode("full")
        await until(pilot, lambda: screen.previews.planned > planned, "the refusal")
        note = shown(screen, "#inspector-note")
        assert "more than the budget of 3,072" in note
        assert "Nothing is cut, so it cannot be sent." in note
        assert screen.previews.window is None
        await pilot.press("enter")
        await until(pilot, lambda: screen.query_one(Prompt).text, "the text in the prompt")
        assert screen.query_one(Prompt).text == QUESTION
        assert isinstance(backend.provider, ScriptedProvider)
        assert backend.provider.requests == []


async def test_an_old_conversation_is_found_and_a_new_one_is_empty_and_named_by_its_first_message(
    backend: TestBackend,
) -> None:
    async with demo_app(backend).run_test(size=(140, 40)) as pilot:
        screen = await ready(pilot)
        await pilot.press("ctrl+r")
        await pilot.pause()
        await pilot.press(*"hazelnut")
        await pilot.press("enter")
        await until(
            pilot,
            lambda: 22 in positions(screen),
            "turn 22 on screen",
        )
        await ready(pilot)

        await pilot.press("ctrl+n")
        await until(pilot, lambda: screen.opening.conversation.id != "demo", "the new conversation")
        await ready(pilot)
        await pilot.press("ctrl+n")
        assert len(backend.store.conversations()) == 2, "an empty one is used again"
        await ready(pilot)
        await type_text(pilot, "Plan a birthday party for Birgit")
        await pilot.press("enter")
        await until(pilot, lambda: screen.opening.conversation.turns == 2, "question and answer")
        assert screen.opening.conversation.title == "Plan a birthday party for Birgit"


async def test_the_mode_is_kept_for_its_conversation_and_for_new_ones(backend: TestBackend) -> None:
    async with demo_app(backend).run_test(size=(140, 40)) as pilot:
        screen = await ready(pilot)
        await type_text(pilot, "/mode full")
        await pilot.press("enter")
        await until(pilot, lambda: screen.steering.mode is Mode.FULL, "the mode")
        await pilot.press("ctrl+n")
        await until(pilot, lambda: screen.opening.conversation.id != "demo", "the new conversation")
        await ready(pilot)
        assert screen.steering.mode is Mode.FULL
        screen.choices.use_mode("recency")
    again = JitchatApp(backend, backend.store.conversation("demo"))
    async with again.run_test(size=(140, 40)) as pilot:
        screen = await ready(pilot)
        assert screen.steering.mode is Mode.FULL, "picked in this conversation"
        await until(pilot, lambda: screen.previews.window is not None, "the window")
        assert screen.previews.window.mode is Mode.FULL
        await pilot.press("ctrl+n")
        await until(pilot, lambda: screen.opening.conversation.id != "demo", "the new conversation")
        assert (await ready(pilot)).steering.mode is Mode.RECENCY, "picked last"


async def test_ctrl_c_empties_the_prompt_and_ctrl_z_brings_the_text_back(
    backend: TestBackend,
) -> None:
    never = asyncio.Event()
    backend.provider = ScriptedProvider(script=("The window is ", never))
    app = demo_app(backend)
    async with app.run_test(size=(140, 40)) as pilot:
        screen = await ready(pilot)
        prompt = screen.query_one(Prompt)
        await type_text(pilot, QUESTION)
        await pilot.press("ctrl+c")
        assert (prompt.text, app._exit) == ("", False)
        assert "Prompt cleared. Ctrl+_ restores it." in notices(pilot)
        await pilot.press("ctrl+underscore")
        assert prompt.text == QUESTION
        prompt.select_all()
        await pilot.press("ctrl+c")
        assert (prompt.text, app.clipboard) == (QUESTION, QUESTION)
        await pilot.press("end", "enter")
        await until(pilot, lambda: "The window is" in _last_text(screen), "the first words")
        planned = screen.previews.planned
        prompt.insert("and then?")
        await pilot.press("ctrl+c")
        await idle(pilot)
        assert prompt.text == "and then?", "what streams is stopped first"
        await until(
            pilot, lambda: screen.previews.planned > planned, "the window for what was typed"
        )
        assert "next window" in shown(screen, "#inspector-title")


async def test_quitting(backend: TestBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    app, ends = demo_app(backend), []
    quit_app = app.exit
    monkeypatch.setattr(app, "exit", lambda *_, **__: ends.append("asked"))
    async with app.run_test(size=(140, 40)) as pilot:
        await ready(pilot)
        for number, keys in enumerate((("ctrl+d",), ("ctrl+q",), ("ctrl+c", "ctrl+c"))):
            for key in keys:
                assert len(ends) == number, keys
                await pilot.press(key)
            await until(pilot, lambda n=number: len(ends) == n + 1, f"the end by {keys}")
        quit_app()
        assert app._exit


def _last_text(screen: object) -> str:
    block = blocks(screen)[-1]  # type: ignore[arg-type]
    return block.text if block.turn.role is Role.ASSISTANT else ""


def _last_header(screen: object) -> str:
    return part(blocks(screen)[-1], "header")  # type: ignore[arg-type]
