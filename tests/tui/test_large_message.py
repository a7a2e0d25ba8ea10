"""A very large message: the user chooses which part is sent; all of it is stored."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from jitchat.tui.dialogs.large_message import LargeMessageScreen
from tests.support import ScriptedProvider
from tests.tui.support import demo_app, idle, ready, until

if TYPE_CHECKING:
    from tests.tui.support import TestBackend

LOG = "".join(f"request {number} of the harbour took {number % 90} ms\n" for number in range(1_500))
TEXT = f"{LOG}ERROR the crane is stuck at berth 14\n{LOG}".strip()


@pytest.mark.parametrize(
    ("keys", "sent"),
    [
        ([*"crane", "enter"], "stuck at berth 14"),
        (["ctrl+o"], "this is a preview, all of it is kept"),
    ],
)
async def test_a_part_is_sent_and_the_whole_message_is_stored(
    backend: TestBackend, keys, sent
) -> None:
    backend.provider = ScriptedProvider(("Understood.",))
    async with demo_app(backend).run_test(size=(80, 24)) as pilot:
        screen = await ready(pilot)
        screen.surfaces.prompt.insert(TEXT)
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, LargeMessageScreen), "the question")
        await pilot.pause()
        await pilot.press(*keys)
        await until(pilot, lambda: backend.provider.requests, "the request")
        await idle(pilot)
        (request,) = backend.provider.requests
        assert sent in request[-1].content
        assert len(request[-1].content) < len(TEXT) / 4
        assert screen.session.memory.turns[-2].content == TEXT


async def test_going_back_restores_the_prompt_and_sends_nothing(
    backend: TestBackend,
) -> None:
    backend.provider = ScriptedProvider(("Understood.",))
    async with demo_app(backend).run_test(size=(80, 24)) as pilot:
        screen = await ready(pilot)
        screen.surfaces.prompt.insert(TEXT)
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, LargeMessageScreen), "the question")
        await pilot.pause()
        await pilot.press("escape")
        await until(pilot, lambda: screen.surfaces.prompt.draft == TEXT, "the text")
        assert not backend.provider.requests
