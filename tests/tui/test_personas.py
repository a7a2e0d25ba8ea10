"""The system prompt and personas on screen."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from textual.widgets import TextArea

from jitchat.errors import SettingsError
from jitchat.settings import Settings
from jitchat.settings.sections import NamedPersona
from jitchat.store.pins import OwnInstructions
from jitchat.tui.chat.commands import Command, command_in
from jitchat.tui.dialogs.choice import ChoiceScreen
from jitchat.tui.dialogs.system import SystemScreen
from jitchat.tui.views.wire import legend
from jitchat.values import Instructions
from jitchat.window.parts import SYSTEM_PROMPT as SYSTEM
from jitchat.window.render import READING
from jitchat.window.window import Kind
from tests.support import ScriptedProvider
from tests.tui.support import demo_app, idle, notices, ready, until

if TYPE_CHECKING:
    from tests.tui.conftest import Picture
    from tests.tui.support import TestBackend

SIZE = (120, 36)
REVIEWER = NamedPersona("reviewer", "You review code.\nBe terse.", "openai", "gpt-5.4")


@pytest.fixture
def personal(backend: TestBackend) -> TestBackend:
    personas = {"reviewer": REVIEWER, "poet": NamedPersona("poet", "Answer in [b]verse[/b].")}
    backend.settings = replace(Settings(), personas=personas)
    return backend


async def command(pilot, text: str) -> None:
    pilot.app.screen.surfaces.prompt.insert(text)
    await pilot.press("enter")
    await pilot.pause()


async def shown(pilot, name: str) -> None:
    """Wait until the next window's system prompt has this origin."""
    previews = pilot.app.screen.previews
    await until(pilot, lambda: previews.window.name_of(Kind.SYSTEM) == name, name)


def kept(screen) -> Instructions:
    return OwnInstructions(screen.backend.store.database).get(screen.opening.conversation.id)


async def test_a_persona_is_chosen_changed_for_one_conversation_and_saved_by_another_name(
    personal: TestBackend, picture: Picture
) -> None:
    async with demo_app(personal).run_test(size=SIZE) as pilot:
        screen = await ready(pilot)
        await command(pilot, "/persona")
        await until(pilot, lambda: isinstance(pilot.app.screen, ChoiceScreen), "the list")
        await picture(pilot, "personas", "small")
        await pilot.press("down", "enter")
        await shown(pilot, "system · persona reviewer")
        assert screen.surfaces.top._text.marks == "persona reviewer"
        assert screen.previews.window.segments[0].text == REVIEWER.system
        in_wire = [text for _, text in legend(screen.previews.window)]
        assert any("S system · persona reviewer" in text for text in in_wire)

        await command(pilot, "/system")
        await until(pilot, lambda: isinstance(pilot.app.screen, SystemScreen), "the text")
        await picture(pilot, "system", "small")
        pilot.app.screen.query_one(TextArea).insert(" Say why.")
        await pilot.press("ctrl+s")
        await shown(pilot, "system · persona reviewer · instructions for this conversation")
        own = f"{REVIEWER.system} Say why."
        assert kept(screen) == Instructions(own, "reviewer")

        await command(pilot, "/system")
        await until(pilot, lambda: isinstance(pilot.app.screen, SystemScreen), "the text")
        await pilot.press("ctrl+n", *"strict", "enter")
        await shown(pilot, "system · persona strict")
        assert personal.settings.personas["strict"].system == own
        assert kept(screen) == Instructions(None, "strict")

        await screen.conversations.begin()
        await ready(pilot)
        await shown(pilot, "system")
        assert screen.surfaces.top._text.marks == ""


async def test_a_running_reply_keeps_its_system_prompt_and_the_next_window_has_the_new_one(
    personal: TestBackend,
) -> None:
    may_end = asyncio.Event()
    personal.provider = provider = ScriptedProvider(script=("Yes", may_end, "."))
    async with demo_app(personal).run_test(size=SIZE) as pilot:
        screen = await ready(pilot)
        await command(pilot, "hello")
        await until(pilot, lambda: provider.requests, "the request")
        await command(pilot, "/system Two lines.\n  Kept as they are.")
        after = "After this reply, this conversation has its own system prompt."
        await until(pilot, lambda: after in notices(pilot), "the notice")
        may_end.set()
        await idle(pilot)
        await until(pilot, lambda: screen.session.options.system != SYSTEM, "the text")
        assert screen.session.options.system == "Two lines.\n  Kept as they are."
        (request,) = provider.requests
        assert request[0].content == f"{SYSTEM}\n\n{READING}"
        assert screen.previews.window.name_of(Kind.SYSTEM) == "system", (
            "it is the one that was sent"
        )
        await command(pilot, "/persona poet")
        await shown(pilot, "system · persona poet")


async def test_a_missing_persona_is_reported_when_its_conversation_is_opened(
    personal: TestBackend,
) -> None:
    app = demo_app(personal)
    OwnInstructions(personal.store.database).put("demo", Instructions(None, "gone"))
    async with app.run_test(size=SIZE) as pilot:
        await ready(pilot)
        told = "The persona gone is no longer configured. The default settings are used."
        assert told in notices(pilot)
        await command(pilot, "/persona nobody")
        assert any("there is no persona 'nobody'" in each for each in notices(pilot))


async def test_a_conversation_is_opened_without_its_persona_if_that_cannot_be_used(
    personal: TestBackend,
) -> None:
    app = demo_app(personal)
    OwnInstructions(personal.store.database).put("demo", Instructions(None, "reviewer"))
    personal.refusal = SettingsError("No model is set for the provider work.", "Add one.")
    async with app.run_test(size=SIZE) as pilot:
        await until(pilot, lambda: pilot.app.screen.opening.refusal, "the refusal")
        await command(pilot, "/persona none")
        await ready(pilot)
        assert kept(pilot.app.screen) == Instructions(None, "")


def test_a_system_prompt_is_used_verbatim() -> None:
    assert command_in("/system a\n b  c") == Command("system", "a\n b  c")
    assert command_in("/persona two words") is None
