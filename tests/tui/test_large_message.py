"""A very large message: sent whole if it fits; otherwise the user chooses which part is sent."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from jitchat.providers.catalogue.table import Prices
from jitchat.session_options import SessionOptions
from jitchat.spending import SpendingLimits
from jitchat.tui.dialogs.large_message import LargeMessageScreen
from jitchat.window.budget import Budget
from tests.support import ScriptedProvider
from tests.tui.drawn import blocks, part
from tests.tui.support import demo_app, idle, ready, until

if TYPE_CHECKING:
    from textual.pilot import Pilot

    from jitchat.tui.chat.screen import ChatScreen
    from tests.tui.support import TestBackend

LOG = "".join(f"request {number} of the harbour took {number % 90} ms\n" for number in range(1_500))
TEXT = f"{LOG}ERROR the crane is stuck at berth 14\n{LOG}".strip()


QUESTION = "which crane is stuck?"
ROOMY = Budget(limit=128_000, reserve=2_000)


async def enter(pilot: Pilot[None], text: str = TEXT) -> ChatScreen:
    """Paste a text, and press Enter."""
    screen = await ready(pilot)
    screen.surfaces.prompt.insert(text)
    await pilot.press("enter")
    return screen


async def asked(pilot: Pilot[None]) -> str:
    """Wait for the question, and return what it says."""
    await until(pilot, lambda: isinstance(pilot.app.screen, LargeMessageScreen), "the question")
    await pilot.pause()
    return str(pilot.app.screen.query_one("#large-note").render())


def notes(screen: ChatScreen) -> list[str]:
    return [part(block, "note") for block in blocks(screen)]


async def test_a_message_that_fits_is_sent_whole(backend: TestBackend) -> None:
    backend.provider = ScriptedProvider(("Understood.",))
    backend.options = SessionOptions(budget=ROOMY)
    async with demo_app(backend).run_test(size=(80, 24)) as pilot:
        screen = await enter(pilot, f"{TEXT}\n{QUESTION}")
        await until(pilot, lambda: backend.provider.requests, "the request")
        await idle(pilot)
        assert f"{TEXT}\n{QUESTION}" in backend.provider.requests[0][-1].content
        assert not any("sent in part" in note for note in notes(screen))


@pytest.mark.parametrize(
    ("keys", "sent", "told"),
    [
        ([*"crane", "enter"], "stuck at berth 14", "compacted by the extractor for “crane”"),
        (["ctrl+o"], "request 0 of the harbour", "The beginning and end of the message: "),
    ],
)
async def test_a_part_is_sent_the_turn_says_so_and_the_whole_message_is_stored(
    backend: TestBackend, keys, sent, told
) -> None:
    backend.provider = ScriptedProvider(("Understood.",))
    async with demo_app(backend).run_test(size=(80, 24)) as pilot:
        screen = await enter(pilot)
        assert "more than the budget of 30,720" in await asked(pilot)
        await pilot.press(*keys)
        await until(pilot, lambda: backend.provider.requests, "the request")
        await idle(pilot)
        (request,) = backend.provider.requests
        assert sent in request[-1].content
        assert len(request[-1].content) < len(TEXT) / 4
        assert screen.session.memory.turns[-2].content == TEXT
        (note,) = (note for note in notes(screen) if "sent in part" in note)
        assert told in note
        assert note.endswith(f" of {screen.session.counter.count(TEXT):,} tokens")


@pytest.mark.parametrize("key", ["escape", "enter", "ctrl+s"])
async def test_going_back_restores_the_prompt_and_sends_nothing(
    backend: TestBackend, key: str
) -> None:
    backend.provider = ScriptedProvider(("Understood.",))
    async with demo_app(backend).run_test(size=(80, 24)) as pilot:
        screen = await enter(pilot)
        await asked(pilot)
        await pilot.press(key)
        await pilot.press("escape")
        await until(pilot, lambda: screen.surfaces.prompt.draft == TEXT, "the text")
        assert not backend.provider.requests


async def test_what_would_exceed_a_spending_limit_is_sent_only_if_the_user_says_so(
    backend: TestBackend,
) -> None:
    backend.provider = ScriptedProvider(("Understood.",))
    limits = SpendingLimits(send=0.01)
    backend.options = SessionOptions(budget=ROOMY, spending=limits, prices=Prices(1.0, 1.0))
    async with demo_app(backend).run_test(size=(80, 24)) as pilot:
        screen = await enter(pilot)
        assert "This message so far: $0.00 of $0.0100, and this would add" in await asked(pilot)
        await pilot.press("enter")
        await until(pilot, lambda: screen.surfaces.prompt.draft == TEXT, "the text")
        assert not backend.provider.requests
        await pilot.press("enter")
        await asked(pilot)
        await pilot.press("ctrl+s")
        await until(pilot, lambda: backend.provider.requests, "the request")
        await idle(pilot)
        assert TEXT in backend.provider.requests[0][-1].content
