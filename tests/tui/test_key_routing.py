"""Where a key goes: nothing that is typed is lost, and no letter alone sends or pays."""

from __future__ import annotations

import asyncio
import random
from itertools import cycle, islice, product
from typing import TYPE_CHECKING

from textual import events

from jitchat.providers.provider import Finished
from jitchat.tui.widgets.hint_line import HintLine
from jitchat.tui.widgets.inspector import Inspector
from jitchat.tui.widgets.prompt import Prompt
from jitchat.tui.widgets.transcript import Transcript
from tests.support import ScriptedProvider
from tests.tui.support import TestBackend, chat, demo_app, idle, ready, type_text, until

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.pilot import Pilot

    from jitchat.tui.chat.screen import ChatScreen

QUESTION = "what did we settle on for the deploy window?"
LETTERS = "rectwpxum!yY"
"""Each is, or was, a key of a pane."""


async def in_pane(pilot: Pilot[None], pane: str) -> ChatScreen:
    """With a window that was sent, the focus in a pane."""
    screen = await ready(pilot)
    await type_text(pilot, QUESTION)
    await pilot.press("enter")
    await until(pilot, lambda: screen.previews.sent, "the sent window")
    await idle(pilot)
    await focus(pilot, pane)
    return screen


async def focus(pilot: Pilot[None], pane: str) -> None:
    """Of the chat; in the inspector, on a turn."""
    screen = chat(pilot)
    if pane == "prompt":
        screen.query_one(Prompt).focus()
    elif pane == "conversation":
        screen.query_one(Transcript).focus()
    else:
        screen.query_one(Inspector).point_at("recent")
    await pilot.pause()


def key_of(character: str) -> events.Key:
    names = {" ": "space", "!": "exclamation_mark", ",": "comma"}
    return events.Key(names.get(character, character), character)


def footer(screen: ChatScreen) -> str:
    return str(screen.query_one("#keys").render())


def hint(screen: ChatScreen) -> str:
    return str(screen.query_one("#cost").render())


async def test_what_is_typed_or_pasted_into_any_pane_arrives_whole_in_order_and_does_nothing_else(
    backend: TestBackend, rounds: Callable[[int, int], int]
) -> None:
    chance = random.Random("burst")
    panes, pauses = ("prompt", "conversation", "inspector"), (None, 0.0, 0.002)
    async with demo_app(backend).run_test(size=(140, 40)) as pilot:
        screen = await in_pane(pilot, "prompt")
        prompt = screen.query_one(Prompt)
        steering = screen.session.steering  # type: ignore[union-attr]
        firsts = cycle(LETTERS)
        pairs = list(product(panes, pauses))
        for pane, pause in pairs[:: rounds(4, 1)]:  # each pane and each pause once, or all nine
            for first in islice(firsts, rounds(1, len(LETTERS))):
                text = first + "".join(chance.choice(f"{LETTERS}aosi, RE") for _ in range(198))
                text += "."
                prompt.text = ""
                await focus(pilot, pane)
                for character in text:
                    pilot.app.post_message(key_of(character))
                    if pause is not None:
                        await asyncio.sleep(pause)
                await until(pilot, lambda: prompt.text.endswith("."), "the last key")
                assert prompt.text == text, (pane, pause)
                assert prompt.has_focus, (pane, pause)
        for pane in ("conversation", "inspector"):
            prompt.text = ""
            await focus(pilot, pane)
            pilot.app.post_message(key_of("p"))
            pilot.app.post_message(events.Paste("remember\nthis"))
            await until(pilot, lambda: "this" in prompt.text, "the paste")
            assert prompt.text == "premember\nthis", pane
        assert pilot.app.screen is screen
        assert screen.session.steering == steering  # type: ignore[union-attr]
        assert isinstance(backend.provider, ScriptedProvider)
        assert len(backend.provider.requests) == 1


async def test_the_footer_shows_the_keys_of_the_pane_and_a_letter_or_a_click_asks_before_it_costs(
    backend: TestBackend,
) -> None:
    async with demo_app(backend).run_test(size=(160, 48)) as pilot:
        screen = await in_pane(pilot, "conversation")
        await the_footer_shows_the_keys_of_the_pane(pilot, screen)
        await pilot.resize_terminal(80, 24)
        await until(pilot, lambda: screen.query_one("#keys").size.width < 80, "the new width")
        await focus(pilot, "conversation")
        await pilot.press("end")
        await the_footer_shows_the_keys_of_the_pane(pilot, screen)
        await pilot.resize_terminal(140, 40)
        await focus(pilot, "conversation")
        await pilot.press("end")
        await a_letter_or_a_click_on_it_asks_and_enter_alone_does_it(pilot, screen)
        await the_key_of_any_pane_asks_and_leaves_the_draft(pilot, screen)


async def the_footer_shows_the_keys_of_the_pane(pilot: Pilot[None], screen: ChatScreen) -> None:
    """From the last turn, which is a reply, under the cursor of the conversation."""
    keys = ("⏎ text", "r retry", "w window", "p pin", "x exclude", "m mattered", "! missing")
    await until(pilot, lambda: "m mattered" in footer(screen), "the keys of a reply")
    for word in keys:
        assert word in footer(screen), word
    assert "e edit" not in footer(screen), "a reply is under the cursor"
    shown = screen.query_one(HintLine)
    assert screen.query_one("#keys").region.right <= shown.region.right
    await pilot.press("up")
    await pilot.pause()
    assert "e edit" in footer(screen)
    assert "m mattered" not in footer(screen)
    screen.query_one(Inspector).point_at("recent")
    await pilot.pause()
    assert "␣ toggle once" in footer(screen)
    screen.query_one(Prompt).focus()
    await pilot.pause()
    assert "⏎ send" in footer(screen)


async def a_letter_or_a_click_on_it_asks_and_enter_alone_does_it(
    pilot: Pilot[None], screen: ChatScreen
) -> None:
    prompt = screen.query_one(Prompt)
    requests = screen.backend.provider.requests  # type: ignore[attr-defined]
    await pilot.press("r")
    assert hint(screen) == "Regenerate #62?"
    assert footer(screen).split() == ["⏎", "yes", "Esc", "no"]
    await pilot.press("escape")
    assert "Regenerate" not in hint(screen)
    assert screen.query_one(Transcript).has_focus

    await pilot.press("r", "down", "enter")
    await until(pilot, lambda: pilot.app.screen is not screen, "the text of the turn")
    await pilot.press("escape")
    assert len(requests) == 1, "another key leaves the question"

    await pilot.press("r")
    await pilot.click("#prompt")
    await pilot.press("enter")
    assert "Regenerate" not in hint(screen), "it is left with its pane"
    assert len(requests) == 1

    await focus(pilot, "conversation")
    await pilot.click("#keys", offset=(footer(screen).index("r retry"), 0))
    assert hint(screen) == "Regenerate #62?", "a click asks as the letter does"
    await pilot.press("h", "i")
    assert prompt.text == "hi", "no letter was typed for the click"

    prompt.text = ""
    await focus(pilot, "conversation")
    await pilot.press("r", "enter")
    await until(pilot, lambda: len(requests) == 2, "the request")
    await idle(pilot)
    assert prompt.text == ""


async def the_key_of_any_pane_asks_and_leaves_the_draft(
    pilot: Pilot[None], screen: ChatScreen
) -> None:
    prompt = screen.query_one(Prompt)
    requests = screen.backend.provider.requests  # type: ignore[attr-defined]
    prompt.focus()
    await type_text(pilot, "half a draft")
    await pilot.press("alt+r")
    assert hint(screen) == "Answer #61 again?"
    await pilot.press("s")
    assert prompt.text == "half a drafts"
    assert len(requests) == 2
    for number, answer in enumerate(("enter", "click"), start=3):
        await pilot.press("alt+r")
        if answer == "enter":
            await pilot.press("enter")
        else:
            await pilot.click("#keys", offset=(2, 0))
        await until(pilot, lambda n=number: len(requests) == n, f"the request by {answer}")
        await idle(pilot)
        assert prompt.text == "half a drafts"


async def test_a_command_that_costs_asks_as_its_key_does(backend: TestBackend) -> None:
    backend.provider = ScriptedProvider(script=("It is", Finished("length")))
    async with demo_app(backend).run_test(size=(140, 40)) as pilot:
        screen = await in_pane(pilot, "prompt")
        requests = backend.provider.requests
        for command, question, answer, count in (
            ("/continue", "Continue #62?", "escape", 1),
            ("/retry", "Answer #61 again?", "escape", 1),
            ("/retry", "Answer #61 again?", "enter", 2),
            ("/continue", "Continue #63?", "enter", 3),
        ):
            screen.query_one(Prompt).insert(command)
            await pilot.press("enter")
            await until(pilot, lambda asked=question: hint(screen) == asked, question)
            await pilot.press(answer)
            await idle(pilot)
            assert len(requests) == count, (command, answer)
        assert screen.query_one(Prompt).text == ""
