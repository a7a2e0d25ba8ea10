"""The window that was sent last: it stays on screen, and views without a text are about it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jitchat.tui.app import JitchatApp
from jitchat.tui.views.view import View
from jitchat.tui.widgets.hint_line import HintLine
from jitchat.tui.widgets.inspector import Inspector
from jitchat.tui.widgets.prompt import Prompt
from jitchat.values import Mode
from tests.tui.support import TestBackend, chat, demo_app, idle, ready, type_text, until

if TYPE_CHECKING:
    from textual.pilot import Pilot

    from jitchat.tui.chat.screen import ChatScreen
    from jitchat.window.window import ContextWindow

QUESTION = "what did we settle on for the deploy window?"


def shown(screen: ChatScreen, name: str) -> str:
    return str(screen.query_one(name).render())


async def asked(pilot: Pilot[None]) -> ChatScreen:
    screen = await ready(pilot)
    await type_text(pilot, QUESTION)
    await pilot.press("enter")
    await until(pilot, lambda: screen.previews.sent, "the sent window")
    await idle(pilot)
    return screen


async def typed(pilot: Pilot[None], text: str) -> None:
    """Key by key, as a command is."""
    await pilot.press(*("space" if letter == " " else letter for letter in text))


async def view_of(pilot: Pilot[None]) -> View:
    await until(pilot, lambda: isinstance(pilot.app.screen, View), "the view")
    await pilot.pause()
    assert isinstance(pilot.app.screen, View)
    return pilot.app.screen


async def views_are_about_the_last_message(pilot: Pilot[None], window: ContextWindow) -> None:
    screen = chat(pilot)
    for command in ("/why 12", "/ledger", "/compare", "/wire", "/budget"):
        screen.query_one(Prompt).insert(command)
        await pilot.press("enter")
        view = await view_of(pilot)
        assert view.subject.sent is not None, command
        assert (view.subject.sent.position, view.subject.window) == (61, window), command
        await left(pilot)
        assert screen.query_one(Prompt).text == "", command


async def left(pilot: Pilot[None]) -> None:
    """Back in the chat: what a command looks for is not typed in the view, which Esc closes."""
    await pilot.press("escape")
    await until(pilot, lambda: pilot.app.screen is chat(pilot), "the chat")


async def a_view_with_a_text_is_about_that_text(pilot: Pilot[None]) -> None:
    await typed(pilot, "/why 12 which port is it?")
    await pilot.press("enter")
    view = await view_of(pilot)
    assert (view.subject.draft, view.subject.sent) == ("which port is it?", None)
    answer = view.query_one("#ledger-answer")
    await until(pilot, lambda: "#12" in str(answer.render()), "why not")
    await pilot.press("backspace", "escape")
    assert pilot.app.screen is view, "the first Esc is for what was typed in the view"
    await left(pilot)
    await typed(pilot, "/compare @full which port?")
    await pilot.press("enter")
    view = await view_of(pilot)
    assert (view.subject.draft, view.subject.mode) == ("which port?", Mode.FULL)
    await left(pilot)


async def test_a_view_with_a_text_is_about_it_and_others_about_the_last_message_also_when_reopened(
    backend: TestBackend,
) -> None:
    async with demo_app(backend).run_test(size=(140, 40)) as pilot:
        screen = await asked(pilot)
        sent = screen.previews.sent
        assert sent is not None
        await typed(pilot, "/why 12")
        assert screen.previews.window is screen.previews.sent is sent, "no command is planned"
        screen.query_one(Prompt).clear()
        await views_are_about_the_last_message(pilot, sent)
        await a_view_with_a_text_is_about_that_text(pilot)
    again = JitchatApp(backend, backend.store.conversation("demo"))
    async with again.run_test(size=(140, 40)) as pilot:
        screen = await ready(pilot)
        await until(pilot, lambda: screen.previews.has_sends, "what is known of sends")
        await views_are_about_the_last_message(pilot, sent)


async def test_a_command_is_not_planned_and_its_help_stands_below(backend: TestBackend) -> None:
    async with demo_app(backend).run_test(size=(140, 40)) as pilot:
        screen = await ready(pilot)
        assert screen.session is not None
        drafts: list[str] = []
        preview = screen.session.preview
        screen.session.preview = lambda draft, *rest: drafts.append(draft) or preview(draft, *rest)  # type: ignore[method-assign,assignment,func-returns-value]
        hint = screen.query_one(HintLine)
        told = hint.sentences
        await typed(pilot, "/why 12")
        await until(pilot, lambda: not screen.previews.working, "the window")
        await pilot.pause()
        assert shown(screen, "#cost").startswith("/why · Explain why turn 12")
        await pilot.press("ctrl+c")
        await until(pilot, lambda: not screen.previews.working, "the window")
        await pilot.pause()
        assert hint.sentences == told
        assert set(drafts) <= {""}
        await typed(pilot, "/new house")
        await pilot.press("enter")
        await pilot.pause()
        assert screen.query_one(Prompt).text == "/new house"


async def test_the_head_of_the_inspector_switches_between_the_sent_window_and_the_next(
    backend: TestBackend,
) -> None:
    async with demo_app(backend).run_test(size=(140, 40)) as pilot:
        screen = await ready(pilot)
        assert shown(screen, "#inspector-title").startswith(" next window")
        await asked(pilot)
        sent = screen.previews.sent

        async def switch(way: str) -> None:
            if way == "click":
                title = shown(screen, "#inspector-title")
                other = " next " if title.startswith(" sent window") else " sent "
                await pilot.click("#inspector-title", offset=(title.index(other) + 2, 0))
            elif way == "arrow":
                screen.query_one(Inspector).query_one("#segments").focus()
                await pilot.press("right")
            elif way == "command":
                await typed(pilot, "/window")
                await pilot.press("enter")
            else:
                await pilot.press("alt+s")

        for way in ("key", "arrow", "click", "command"):
            screen.query_one(Prompt).focus()
            assert shown(screen, "#inspector-title").startswith(" sent window  next "), way
            await switch(way)
            await until(
                pilot,
                lambda: screen.previews.sent is None and screen.previews.window,
                f"next, by {way}",
            )
            await pilot.pause()
            assert shown(screen, "#inspector-title").startswith(" sent  next window "), way
            if way == "key":
                await pilot.press("f4")
                view = await view_of(pilot)
                assert view.subject.sent is None, "the user looks at the next one"
                await pilot.press("escape")
                await until(pilot, lambda: pilot.app.screen is screen, "the chat")
            await until(pilot, lambda: not screen.previews.working, "its plan")
            await switch(way)
            await until(
                pilot,
                lambda: screen.previews.window == sent and screen.previews.sent,
                f"sent, by {way}",
            )
            await pilot.pause()
            assert shown(screen, "#inspector-title").startswith(" sent window  next "), way
