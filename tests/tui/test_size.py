"""The size of a conversation's windows, and what is carried from one to the next."""

from __future__ import annotations

import pytest

from jitchat.session_options import SessionOptions
from jitchat.store.pins import OwnInstructions
from jitchat.tui.chat.commands import NONE
from jitchat.tui.chat.completion import Begun, Kind, known_choices
from jitchat.window.budget import PER_REQUEST, Budget
from tests.tui.conftest import Picture
from tests.tui.support import SMALL, TestBackend, demo_app, idle, notices, ready, type_text, until


async def command(pilot, text: str) -> None:
    await type_text(pilot, text)
    await pilot.press("enter")
    await pilot.pause()


async def sized(pilot, size: int) -> None:
    previews = pilot.app.screen.previews
    await until(pilot, lambda: previews.window.budget.size == size, f"windows of {size}")


async def test_a_size_is_set_in_one_conversation_and_taken_back(backend: TestBackend) -> None:
    async with demo_app(backend).run_test(size=(100, 30)) as pilot:
        screen = await ready(pilot)
        await command(pilot, "/size 4,000")
        await sized(pilot, 4_000)
        assert any("at most 4,000 tokens" in notice for notice in notices(pilot))
        assert OwnInstructions(backend.store.database).get("demo").size == 4_000

        await screen.conversations.begin()
        await ready(pilot)
        await sized(pilot, SMALL.size)
        await screen.open(backend.store.conversation("demo"))
        await ready(pilot)
        await sized(pilot, 4_000)
        await command(pilot, "/size auto")
        await sized(pilot, SMALL.size)
        assert OwnInstructions(backend.store.database).get("demo").size == "auto"


@pytest.mark.parametrize("typed", ["", "many", "0", "-4", "9999999999"])
async def test_what_is_no_size_is_refused(backend: TestBackend, typed: str) -> None:
    async with demo_app(backend).run_test(size=(100, 30)) as pilot:
        await ready(pilot)
        pilot.app.screen.personas.use_size(typed)
        await pilot.pause()
        assert "/size takes a number of tokens, such as 8000, or auto." in notices(pilot)
        assert OwnInstructions(backend.store.database).get("demo").size is None


def test_the_usual_size_is_completed() -> None:
    (choice,) = known_choices(Begun(Kind.SIZE, 6, "a"), NONE)
    assert choice.text == "auto"


async def test_the_next_window_goes_on_from_the_one_that_was_sent(
    backend: TestBackend, picture: Picture
) -> None:
    backend.options = SessionOptions(budget=Budget(size=3_000, size_source="usual for the model"))
    async with demo_app(backend).run_test(size=(160, 48)) as pilot:
        screen = await ready(pilot)
        await command(pilot, "what did we settle on for the deploy window?")
        await idle(pilot)
        sent = screen.previews.window
        assert screen.surfaces.hint.plain[0].startswith("composed anew: ")
        await type_text(pilot, "which port does the API use?")
        await until(pilot, lambda: screen.previews.window.since, "the window that goes on")
        window = screen.previews.window
        assert window.since == sent.draft.turn == 61
        assert f" to the ~{sent.used - PER_REQUEST:,} tokens" in screen.surfaces.hint.plain[-1]
        await picture(pilot, "carried", "small", "wide")
        await pilot.press("f2")
        await picture(pilot, "carried-plain", "small", "wide")
