"""Answering again, editing, going on and looking at versions: nothing is overwritten."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from textual.app import App
from textual.widgets import TextArea

from jitchat.draft import GO_ON
from jitchat.providers.provider import Finished, ReasoningDelta, ReasoningFound
from jitchat.tui.app import JitchatApp
from jitchat.tui.dialogs.exact import PART, ExactScreen
from jitchat.tui.widgets.prompt import Prompt
from jitchat.tui.widgets.top_line import ModeTab
from jitchat.tui.widgets.transcript import Transcript
from tests.support import ScriptedProvider, conversation_of, talk
from tests.tui.drawn import block_at, blocks, header, offset_of, on_screen, part, positions, streams
from tests.tui.support import TestBackend, chat, idle, ready, until

if TYPE_CHECKING:
    import pytest
    from textual.pilot import Pilot

    from jitchat.tui.chat.screen import ChatScreen

TALK = talk("Which port?", "Port 8443.", "And the logo?", "It is green.")


def app_on(backend: TestBackend) -> JitchatApp:
    return JitchatApp(backend, conversation_of(backend.store, TALK))


def shown(screen: ChatScreen) -> list[int]:
    return positions(screen)


async def answered(pilot: Pilot[None], count: int) -> None:
    """Until so many turns are stored, and nothing is under way."""
    screen = chat(pilot)
    store, name = screen.backend.store, screen.opening.conversation.id
    await until(pilot, lambda: store.tree(name).last >= count, "the turns")
    await idle(pilot)


async def at(pilot: Pilot[None], *keys: str) -> ChatScreen:
    """Into the conversation, and some keys there."""
    screen = await ready(pilot)
    screen.query_one(Transcript).focus()
    await pilot.pause()
    await pilot.press(*keys)
    await pilot.pause()
    return screen


async def test_a_reply_is_given_again_and_both_are_looked_at_by_key_click_and_opening(
    backend: TestBackend,
) -> None:
    backend.provider = ScriptedProvider(script=("It is blue.",))
    async with app_on(backend).run_test(size=(100, 40)) as pilot:
        screen = await at(pilot, "r", "enter")
        await answered(pilot, 5)
        assert shown(screen) == [1, 2, 3, 5]
        assert "2 of 2" in header(screen, 5)
        await pilot.press("left")
        await until(pilot, lambda: shown(screen) == [1, 2, 3, 4], "the first version")
        assert "1 of 2" in header(screen, 4)
        await pilot.press("right")
        await until(pilot, lambda: shown(screen) == [1, 2, 3, 5], "the second version")
        await pilot.pause()
        await pilot.click(Transcript, offset=offset_of(screen.query_one(Transcript), "2 of 2"))
        await until(pilot, lambda: shown(screen) == [1, 2, 3, 4], "the other version")
        await screen.open(screen.opening.conversation, 5)
        await ready(pilot)
        assert shown(screen) == [1, 2, 3, 5]
        await screen.open(screen.opening.conversation, 4)
        await ready(pilot)
        assert shown(screen) == [1, 2, 3, 4]


async def test_the_exact_text_of_a_turn_is_opened_and_an_edited_message_is_sent_as_a_fork(
    backend: TestBackend,
) -> None:
    async with app_on(backend).run_test(size=(100, 40)) as pilot:
        screen = await at(pilot, "up", "enter")
        prompt = screen.query_one(Prompt)
        assert isinstance(pilot.app.screen, ExactScreen)
        assert pilot.app.screen._text == "And the logo?"
        await pilot.press("escape")
        assert pilot.app.screen is screen
        assert screen.query_one(Transcript).has_focus
        await pilot.press("h", "i")
        assert prompt.text == "hi"
        assert prompt.has_focus

        prompt.text = ""
        await at(pilot, "end", "up", "up", "up", "e", "enter")
        assert prompt.text == "Which port?"
        assert "editing #1" in str(screen.query_one("#cost").render())
        await pilot.press("backspace", *" exactly?", "enter")
        await answered(pilot, 6)
        assert shown(screen) == [5, 6]
        assert "2 of 2" in header(screen, 5)
        assert "editing" not in str(screen.query_one("#cost").render())
        texts = [turn.content for turn in backend.store.turns(screen.opening.conversation.id)]
        assert texts == ["Which port exactly?", "Understood."]


async def test_from_the_prompt_the_last_reply_is_given_again_and_the_last_message_edited(
    backend: TestBackend,
) -> None:
    async with app_on(backend).run_test(size=(100, 40)) as pilot:
        screen = await ready(pilot)
        prompt = screen.query_one(Prompt)
        await pilot.press("alt+r", "enter")
        await answered(pilot, 5)
        assert shown(screen) == [1, 2, 3, 5]
        assert prompt.text == ""
        prompt.insert("half a thought")
        await pilot.press("alt+e")
        assert prompt.text == "And the logo?"
        await pilot.press("escape")
        assert prompt.text == "half a thought"
        assert screen.steering.once.after is None


async def test_a_reply_that_was_cut_by_length_goes_on(backend: TestBackend) -> None:
    backend.provider = ScriptedProvider(script=("It is gre", Finished("length")))
    async with app_on(backend).run_test(size=(100, 40)) as pilot:
        screen = await at(pilot)
        await pilot.press("r", "enter")
        await answered(pilot, 5)
        assert "stopped: length — /continue resumes it" in part(block_at(screen, 5), "note")
        await pilot.press("c", "enter")
        await answered(pilot, 7)
        assert block_at(screen, 6).turn.content == GO_ON


async def test_reasoning_is_one_line_until_it_is_asked_for_and_a_stopped_reply_leaves_the_old_one(
    backend: TestBackend,
) -> None:
    gate = asyncio.Event()
    provider = ScriptedProvider(script=(ReasoningDelta("Hm.\nGreen?"), gate, "Green."))
    backend.provider = provider
    async with app_on(backend).run_test(size=(100, 40)) as pilot:
        screen = await at(pilot, "r", "enter")
        transcript = screen.query_one(Transcript)

        def thought() -> str:
            return part(blocks(screen)[-1], "reasoning")

        await until(pilot, lambda: "thinking" in thought(), "a line")
        assert thought() == "▾ thinking… Green?"
        gate.set()
        await answered(pilot, 5)
        assert thought() == "▸ reasoning · 10 characters"
        await pilot.press("t", "enter")
        assert thought().splitlines()[1:] == ["Hm.", "Green?"]
        await pilot.click(Transcript, offset=offset_of(transcript, "▾ reasoning"))
        assert thought() == "▸ reasoning · 10 characters"
        messages = screen.session.preview("and?", screen.steering.mode).messages()  # type: ignore[union-attr]
        assert "Hm." not in str(messages)

        provider.script = ("So: green", ReasoningFound(), "Green.")
        await at(pilot, "end", "r", "enter")
        await answered(pilot, 6)
        assert block_at(screen, 6).text == "Green."
        assert "9 characters" in thought()

        provider.script = (asyncio.Event(),)
        await at(pilot, "end", "r", "enter")
        await until(pilot, lambda: len(provider.requests) == 3, "the request")
        await pilot.press("escape")
        await idle(pilot)
        assert shown(screen) == [1, 2, 3, 6]
        assert screen.query_one(Prompt).text == ""


async def test_without_colours_cursor_and_mode_stand_out_and_unfolded_reasoning_from_its_start(
    backend: TestBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    backend.provider = ScriptedProvider(script=(ReasoningDelta("Hm.\n" * 60), "Green."))
    async with app_on(backend).run_test(size=(80, 24)) as pilot:
        screen = await at(pilot, "r", "enter")
        await answered(pilot, 5)
        await pilot.press("end", "t", "enter")
        transcript = screen.query_one(Transcript)
        await until(pilot, lambda: "#5" in on_screen(transcript)[0], "its header on top")
        assert all(piece.style.reverse for piece in transcript._rows[0].line)
        on = [tab for tab in screen.query(ModeTab) if tab.styles.text_style.reverse]
        assert [tab.mode for tab in on] == [screen.steering.mode]


async def test_nothing_is_done_to_turns_while_a_reply_is_on_its_way(backend: TestBackend) -> None:
    backend.provider = ScriptedProvider(script=("It is", asyncio.Event()))
    async with app_on(backend).run_test(size=(100, 40)) as pilot:
        screen = await at(pilot, "r", "enter")
        await until(pilot, lambda: streams(screen), "first words")
        for keys in (("r", "enter"), ("alt+e",), ("alt+g",), ("right",)):
            await pilot.press(*keys)
        assert screen.busy
        assert screen.steering.once.after is None
        assert len(backend.provider.requests) == 1  # type: ignore[attr-defined]


async def test_a_text_that_is_too_long_to_lay_out_is_shown_in_parts_and_copied_whole() -> None:
    text = "".join(f"{number:09}\n" for number in range(5_000))
    app: App[None] = App()
    async with app.run_test(size=(100, 30)) as pilot:
        await app.push_screen(ExactScreen("#1 user", text))
        shown = []
        for key in ("", "n", "n", "n", "p"):
            if key:
                await pilot.press(key)
            shown.append(app.screen.query_one(TextArea).text)
        assert shown == [text[:PART], text[PART : 2 * PART], text[2 * PART :], shown[2], shown[1]]
        await pilot.press("y")
        assert app.clipboard == text
