"""What is told while a request is not answered yet: a countdown, and what was changed in it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from jitchat.errors import ContextOverflow
from jitchat.providers.provider import RetryScheduled
from tests.support import ScriptedProvider
from tests.tui.support import TestBackend, chat, demo_app, idle, notices, ready, type_text, until

if TYPE_CHECKING:
    from textual.pilot import Pilot


def hint(pilot: Pilot[None]) -> str:
    return str(chat(pilot).query_one("#cost").render())


def toasts(pilot: Pilot[None]) -> list[str]:
    return notices(pilot)


async def send(pilot: Pilot[None], *script: object) -> None:
    screen = await ready(pilot)
    assert screen.session is not None
    screen.session.provider = ScriptedProvider(script)
    await type_text(pilot, "hello")
    await pilot.press("enter")


class Small(ScriptedProvider):
    """Refuses what is larger than 4,000 tokens."""

    async def stream(self, messages, options):
        if options.context > 4_000:
            raise ContextOverflow("Too large.", "", 4_400, 4_000)
        async for piece in super().stream(messages, options):
            yield piece


async def test_a_retry_is_counted_down_to_the_answer_or_esc_and_a_limit_that_was_learnt_is_told(
    backend: TestBackend,
) -> None:
    answered = asyncio.Event()
    async with demo_app(backend).run_test(size=(140, 40)) as pilot:
        await send(pilot, RetryScheduled(30.0, "HTTP 429: slow\x1b[31m down"), answered, "Hello.")
        await until(pilot, lambda: "retrying in 30 s" in hint(pilot), "the countdown")
        assert hint(pilot) == "retrying in 30 s · HTTP 429: slow␛[31m down"
        await until(pilot, lambda: "retrying in 29 s" in hint(pilot), "the next second")
        answered.set()
        screen = chat(pilot)
        await until(pilot, lambda: screen.opening.conversation.turns == 62, "the reply")
        assert "retrying" not in hint(pilot)
        await idle(pilot)

        assert screen.session is not None
        screen.session.provider = Small()
        await type_text(pilot, "what did we settle on for the deploy window?")
        await pilot.press("enter")
        await until(pilot, lambda: screen.opening.conversation.turns == 64, "the reply")
        assert any("4,000 tokens" in toast for toast in toasts(pilot))
        assert screen.previews.window is not None
        assert screen.previews.window.budget.limit == 4_000
        assert screen.previews.window.budget.limit_source == "learnt from a refusal"
        await idle(pilot)

        await send(pilot, RetryScheduled(30.0, "busy"), asyncio.Event())
        await until(pilot, lambda: "retrying in" in hint(pilot), "the countdown")
        await pilot.press("escape")
        await until(pilot, lambda: not screen.busy, "the end")
        assert screen.query_one("#prompt").text == "hello"
        await until(pilot, lambda: "retrying" not in hint(pilot), "another hint")
