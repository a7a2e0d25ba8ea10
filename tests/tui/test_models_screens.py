"""Pictures of the list of models and of the dialog for a key."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from jitchat.errors import Unreachable
from jitchat.tui.screens.models import ModelsScreen
from jitchat.tui.widgets.prompt import Prompt
from tests.support import ScriptedProvider
from tests.tui.choices import GROQ, OLLAMA, OPENAI, READER
from tests.tui.listing import drawn, enter_text, opened
from tests.tui.support import TestBackend, demo_app, ready, until

SMALL, LARGE = (80, 24), (120, 36)
Snap = Callable[..., bool]

both_sizes = pytest.mark.parametrize("size", [SMALL, LARGE], ids=["small", "large"])


@pytest.fixture(autouse=True)
def still(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Prompt, "cursor_blink", False)
    monkeypatch.setattr(Input, "cursor_blink", False)


@pytest.fixture(autouse=True)
def answering(models: TestBackend) -> None:
    models.provider = ScriptedProvider(name="openrouter", model="openai/gpt-5-mini")


@both_sizes
def test_list(snap_compare: Snap, models: TestBackend, size: tuple[int, int]) -> None:
    assert snap_compare(demo_app(models), terminal_size=size, run_before=opened)


@both_sizes
def test_search(snap_compare: Snap, models: TestBackend, size: tuple[int, int]) -> None:
    async def run(pilot: Pilot[None]) -> None:
        await opened(pilot)
        await enter_text(pilot, "openai/gpt")

    assert snap_compare(demo_app(models), terminal_size=size, run_before=run)


def test_nothing_found(snap_compare: Snap, models: TestBackend) -> None:
    async def run(pilot: Pilot[None]) -> None:
        await opened(pilot)
        await enter_text(pilot, "no such thing")

    assert snap_compare(demo_app(models), terminal_size=SMALL, run_before=run)


@both_sizes
def test_asking_and_refused(
    snap_compare: Snap,
    models: TestBackend,
    size: tuple[int, int],
    monkeypatch: pytest.MonkeyPatch,
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

    async def run(pilot: Pilot[None]) -> None:
        await opened(pilot)
        screen = pilot.app.screen
        assert isinstance(screen, ModelsScreen)
        screen._start_asking("ollama")
        screen._start_asking("groq")
        await until(pilot, lambda: "refused the connection" in drawn(pilot), "the refusal")
        await pilot.pause()

    assert snap_compare(demo_app(models), terminal_size=size, run_before=run)


@both_sizes
def test_key(snap_compare: Snap, models: TestBackend, size: tuple[int, int]) -> None:
    async def run(pilot: Pilot[None]) -> None:
        await opened(pilot)
        await enter_text(pilot, "openai")
        await pilot.press("enter")
        await pilot.pause()
        await enter_text(pilot, "sk-1234567890")

    assert snap_compare(demo_app(models), terminal_size=size, run_before=run)


def test_key_refused(snap_compare: Snap, models: TestBackend) -> None:
    async def run(pilot: Pilot[None]) -> None:
        await opened(pilot)
        await enter_text(pilot, "openai")
        await pilot.press("enter")
        await pilot.pause()
        await enter_text(pilot, "nope")
        await pilot.press("enter")
        refusal = pilot.app.screen.query_one("#key-refusal")
        await until(pilot, lambda: str(refusal.render()), "the reason")
        await pilot.pause()

    assert snap_compare(demo_app(models), terminal_size=SMALL, run_before=run)


@pytest.mark.parametrize("size", [SMALL], ids=["small"])
@pytest.mark.parametrize("there", ["one", "several", "nothing"])
def test_first_screen(
    snap_compare: Snap, models: TestBackend, size: tuple[int, int], there: str
) -> None:
    models.provider = ScriptedProvider(name="reader", model="reader")
    one = replace(OLLAMA, models=OLLAMA.models[:1])
    models.providers = {
        "one": [READER, OPENAI, one],
        "several": [READER, GROQ, OLLAMA],
        "nothing": [READER, OPENAI],
    }[there]

    async def run(pilot: Pilot[None]) -> None:
        screen = await ready(pilot)
        await until(pilot, lambda: str(screen.query_one("#offer").render()), "the offer")
        await pilot.pause()

    assert snap_compare(demo_app(models), terminal_size=size, run_before=run)
