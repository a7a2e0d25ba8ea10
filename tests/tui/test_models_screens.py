"""Snapshots of the model picker and the API key dialog."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from jitchat.errors import Unreachable
from tests.support import ScriptedProvider
from tests.tui.choices import OLLAMA, OPENAI, READER
from tests.tui.listing import drawn, enter_text, opened
from tests.tui.support import TestBackend, demo_app, ready, until

if TYPE_CHECKING:
    from tests.tui.conftest import Picture

SMALL, LARGE = (80, 24), (120, 36)

both_sizes = pytest.mark.parametrize(
    "size",
    [
        pytest.param(SMALL, id="small"),
        pytest.param(LARGE, id="large", marks=pytest.mark.long("whole")),
    ],
)


@pytest.fixture(autouse=True)
def answering(models: TestBackend) -> None:
    models.provider = ScriptedProvider(name="openrouter", model="openai/gpt-5-mini")


@both_sizes
async def test_the_list_and_the_dialog_for_a_key(
    picture: Picture, models: TestBackend, size: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def ask(provider: str) -> object:
        if provider == "ollama":
            raise Unreachable(
                "ollama cannot be reached at http://localhost:11434: it refused the connection.",
                "Is the server running, and providers.ollama.base_url right?",
            )
        await never.wait()
        raise AssertionError

    never = asyncio.Event()
    monkeypatch.setattr(models, "fetch_models", ask)
    async with demo_app(models).run_test(size=size) as pilot:
        screen = await opened(pilot)
        await picture(pilot, "list")
        await enter_text(pilot, "openai/gpt")
        await picture(pilot, "search")
        await enter_text(pilot, "openai")
        await pilot.press("enter")
        await pilot.pause()
        await enter_text(pilot, "sk-1234567890")
        await picture(pilot, "key")
        if size == SMALL:
            await enter_text(pilot, "nope")
            await pilot.press("enter")
            refusal = pilot.app.screen.query_one("#key-refusal")
            await until(pilot, lambda: str(refusal.render()), "the reason")
            await picture(pilot, "key-refused")
        await pilot.press("escape")
        await enter_text(pilot, "")
        screen._start_asking("ollama")
        screen._start_asking("groq")
        await until(pilot, lambda: "cannot be reached" in drawn(pilot), "the refusal")
        await picture(pilot, "asking-and-refused")
        if size == SMALL:
            await enter_text(pilot, "no such thing")
            await picture(pilot, "nothing-found")


async def test_first_screen(picture: Picture, models: TestBackend) -> None:
    models.provider = ScriptedProvider(name="reader", model="reader")
    models.providers = [READER, OPENAI, replace(OLLAMA, models=OLLAMA.models[:1])]
    async with demo_app(models).run_test(size=SMALL) as pilot:
        screen = await ready(pilot)
        await until(pilot, lambda: str(screen.query_one("#offer").render()), "the offer")
        await picture(pilot, "no-key-yet")
