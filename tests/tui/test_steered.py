"""Steering from the keyboard: pins, exclusions, turns for one message, a mode for one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from jitchat.transfer.demo import store_demo
from jitchat.tui.app import JitchatApp
from jitchat.tui.widgets.hint_line import HintLine
from jitchat.tui.widgets.inspector import Inspector
from jitchat.tui.widgets.prompt import Prompt
from jitchat.tui.widgets.transcript import Transcript
from jitchat.values import Mode
from jitchat.window.steering import NO_MORE, Hold, Once, Steering
from jitchat.window.window import Kind
from tests.support import ScriptedProvider
from tests.tui import drawn
from tests.tui.support import TestBackend, demo_app, idle, notices, ready, type_text, until

if TYPE_CHECKING:
    from textual.pilot import Pilot

    from jitchat.tui.chat.screen import ChatScreen
    from tests.tui.conftest import Picture

QUESTION = "what did we settle on for the deploy window?"


def steering(screen: ChatScreen) -> Steering:
    assert screen.session is not None
    return screen.session.steering


def kinds(screen: ChatScreen) -> dict[int, Kind]:
    assert screen.previews.window is not None
    return screen.previews.window.kind_of_turns()


def reason(screen: ChatScreen, turn: int) -> str:
    assert screen.previews.window is not None
    return next(row.reason for row in screen.previews.window.ledger if row.turn == turn)


def header(screen: ChatScreen, position: int) -> str:
    return drawn.header(screen, position)


def modes(screen: ChatScreen) -> list[str]:
    return [str(tab.render()).strip() for tab in screen.query(".mode.-on")]


def told(pilot: Pilot[None]) -> list[str]:
    return notices(pilot)


async def pressed(pilot: Pilot[None], screen: ChatScreen, *keys: str) -> None:
    """Press, and wait for the plan that follows."""
    planned = screen.previews.planned
    await pilot.press(*keys)
    await until(pilot, lambda: screen.previews.planned > planned, "the plan")
    await pilot.pause()


async def test_turns_are_pinned_and_excluded_in_the_transcript_and_taken_back(
    backend: TestBackend,
) -> None:
    async with demo_app(backend).run_test(size=(140, 40)) as pilot:
        screen = await ready(pilot)
        await type_text(pilot, QUESTION)
        assert kinds(screen)[9] is Kind.RETRIEVED
        transcript = screen.query_one(Transcript)
        assert screen.session is not None
        await transcript.show(screen.session.memory.turns, 9)
        transcript.focus()
        await pilot.pause()
        transcript.point_at(9)
        await pressed(pilot, screen, "x", "enter")
        assert steering(screen) == Steering(excluded=frozenset({9}))
        assert 9 not in kinds(screen)
        assert header(screen, 9).endswith("· excluded by you")
        assert any("#9 is excluded" in line for line in told(pilot))
        await pressed(pilot, screen, "p", "enter")
        assert steering(screen) == Steering(pinned=frozenset({9}))
        assert kinds(screen)[9] is Kind.PINNED
        assert header(screen, 9).endswith("· pinned by you")
        await pressed(pilot, screen, "alt+p")
        assert steering(screen) == Steering()
        for wanted in (Hold.PINNED, Hold.EXCLUDED, None):
            await pressed(pilot, screen, "u", "enter")
            assert steering(screen).of(9) is wanted
        assert "by you" not in header(screen, 9)
        await pilot.press("alt+z")
        await pilot.pause()
        assert "Nothing to undo: no turn was pinned or excluded." in told(pilot)


async def test_pins_are_there_again_when_the_conversation_is_opened(backend: TestBackend) -> None:
    conversation = store_demo(backend.store)
    backend.open_session(conversation).hold(60, Hold.PINNED)
    async with JitchatApp(backend, conversation).run_test(size=(140, 40)) as pilot:
        screen = await ready(pilot)
        assert "pinned by you" in header(screen, 60)
        await pilot.press("alt+p")
        await pilot.pause()
        assert any("Select a turn first" in line for line in told(pilot))
        await type_text(pilot, "/exclude #59")
        await pressed(pilot, screen, "enter")
        assert steering(screen) == Steering(frozenset({60}), frozenset({59}))
        assert "excluded by you" in header(screen, 59)
        await type_text(pilot, "/pin 99")
        await pilot.press("enter")
        await until(pilot, lambda: "There is no #99 here." in told(pilot), "the refusal")
        await pilot.press("ctrl+n")
        await until(pilot, lambda: not drawn.blocks(screen), "the new conversation")
        assert screen.steering.pins.changes == []


async def test_space_steers_one_message_and_the_row_says_so(backend: TestBackend) -> None:
    backend.provider = ScriptedProvider()
    async with demo_app(backend).run_test(size=(140, 40)) as pilot:
        screen = await ready(pilot)
        await type_text(pilot, QUESTION)
        inspector = screen.query_one(Inspector)
        inspector.point_at("retrieved")
        await pilot.pause()
        turn = inspector.chosen
        assert turn is not None
        await pressed(pilot, screen, "space")
        assert screen.steering.once == Once(dropped=frozenset({turn}))
        assert turn not in kinds(screen)
        assert reason(screen, turn) == "left out of this message by you"
        assert inspector.chosen == turn, "the cursor stays on the turn"
        await pressed(pilot, screen, "space")
        assert screen.steering.once == NO_MORE
        inspector.point_at("left out")
        await pilot.pause()
        other = inspector.chosen
        assert other is not None
        await pressed(pilot, screen, "space")
        assert kinds(screen)[other] is Kind.RETRIEVED
        assert reason(screen, other) == f"you asked for #{other}"
        inspector.point_at("system")
        await pilot.press("space")
        await pilot.pause()
        assert "Only the row of a turn can be left out or included." in told(pilot)
        screen.query_one(Prompt).focus()
        await pilot.press("enter")
        await until(pilot, lambda: screen.previews.sent is not None, "the window that is sent")
        await idle(pilot)
        assert screen.previews.sent is not None
        assert screen.previews.sent.kind_of_turns()[other] is Kind.RETRIEVED
        assert screen.steering.once == NO_MORE


async def test_a_turn_or_a_mode_that_is_named_and_a_mode_by_command_are_for_that_message(
    backend: TestBackend,
) -> None:
    provider = backend.provider = ScriptedProvider()
    async with demo_app(backend).run_test(size=(140, 40)) as pilot:
        screen = await ready(pilot)
        usual = screen.steering.mode
        await type_text(pilot, "#12 and @full: which port is it?")
        assert kinds(screen)[12] is Kind.RETRIEVED, "a turn that is named is fetched"
        assert screen.previews.window is not None
        reasons = [row.reason for row in screen.previews.window.ledger]
        assert not any("“12”" in each or '"12"' in each for each in reasons), "nor looked for"
        await type_text(pilot, " and @full here")
        assert "@full only works at the start" in str(screen.query_one("#cost").render())
        assert screen.steering.next_message.mode is Mode.JIT

        screen.query_one(Prompt).text = ""
        await type_text(pilot, "@full ")
        assert modes(screen) == ["full once"]
        await pilot.press("enter")
        await pilot.pause()
        assert "Type a message after @full." in told(pilot)
        await type_text(pilot, "and #99?")
        assert screen.previews.window is not None
        assert screen.previews.window.mode is Mode.FULL
        assert screen.previews.window.messages()[-1].content.endswith("and #99?")
        assert "@full" not in screen.previews.window.messages()[-1].content
        assert screen.query_one(HintLine).sentences[0].startswith("no #99 here · in ")
        await pilot.press("enter")
        await until(pilot, lambda: screen.previews.sent is not None, "the window that is sent")
        await idle(pilot)
        assert screen.previews.sent.mode is Mode.FULL
        assert provider.requests[-1][-1].content.endswith("and #99?")
        assert (modes(screen), screen.steering.mode) == ([usual.value], usual)
        screen.query_one(Prompt).insert("/once recency")
        await pressed(pilot, screen, "enter")
        assert modes(screen) == ["recency once"]
        assert screen.previews.window.mode is Mode.RECENCY
        await pilot.press("shift+tab")
        await pilot.pause()
        assert screen.steering.once_mode is None


@pytest.mark.parametrize("size", [(80, 24), (160, 48)], ids=["small", "large"])
async def test_what_was_decided_is_seen_in_the_conversation(
    backend: TestBackend, picture: Picture, size: tuple[int, int]
) -> None:
    conversation = store_demo(backend.store)
    session = backend.open_session(conversation)
    for turn, hold in ((59, Hold.PINNED), (60, Hold.EXCLUDED), (4, Hold.PINNED)):
        session.hold(turn, hold)
    async with JitchatApp(backend, conversation).run_test(size=size) as pilot:
        await ready(pilot)
        await type_text(pilot, f"@jit {QUESTION} see #12")
        await picture(pilot, "draft")
