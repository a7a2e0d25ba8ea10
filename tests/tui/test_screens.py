"""Pictures of the states that matter; `pytest --snapshot-update` takes them anew."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine

import pytest
from textual.pilot import Pilot
from textual.widgets import OptionList

from jitchat.errors import Unreachable
from jitchat.memory.cold.store import ColdStore
from jitchat.session import SessionOptions
from jitchat.tui.app import JitchatApp
from jitchat.tui.widgets.inspector import Inspector
from jitchat.tui.widgets.prompt import Prompt
from jitchat.window.budget import Budget
from tests.support import ScriptedProvider
from tests.tui.support import TestBackend, chat, demo_app, idle, ready, type_text, until

QUESTION = "what did we settle on for the deploy window?"
ANSWER = "**Tuesday 02:00 UTC**, as decided in #9:\n\n- deploy at `02:00`\n- watch for an hour"
SMALL, LARGE = (80, 24), (120, 36)

Steps = Callable[[Pilot[None]], Awaitable[None]]
Snap = Callable[..., bool]


@pytest.fixture(autouse=True)
def still(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Prompt, "cursor_blink", False)


def steps(*more: Callable[[Pilot[None]], Coroutine[None, None, None]]) -> Steps:
    async def run(pilot: Pilot[None]) -> None:
        await ready(pilot)
        for step in more:
            await step(pilot)
        await pilot.pause()

    return run


async def draft(pilot: Pilot[None]) -> None:
    await type_text(pilot, QUESTION)


async def ask(pilot: Pilot[None]) -> None:
    await type_text(pilot, QUESTION)
    await pilot.press("enter")
    provider = chat(pilot).backend.provider  # type: ignore[attr-defined]
    await until(pilot, lambda: provider.requests, "the request")
    await idle(pilot)
    await ready(pilot)


async def ask_and_wait(pilot: Pilot[None]) -> None:
    await type_text(pilot, QUESTION)
    await pilot.press("enter")
    screen = await ready(pilot)
    await until(pilot, lambda: len(screen.query("TurnView.assistant.-streaming")), "first words")


def press(*keys: str) -> Callable[[Pilot[None]], Coroutine[None, None, None]]:
    async def run(pilot: Pilot[None]) -> None:
        screen = await ready(pilot)
        for key in keys:
            planned = screen.planned
            await pilot.press(key)
            if key == "shift+tab":
                await until(pilot, lambda p=planned: screen.planned > p, "the next mode's window")
        await pilot.pause()

    return run


async def point(pilot: Pilot[None]) -> None:
    screen = await ready(pilot)
    screen.query_one(Inspector).point_at("retrieved")
    await pilot.press("enter")
    await pilot.pause()


@pytest.mark.parametrize("size", [SMALL, LARGE], ids=["small", "large"])
def test_first_run(snap_compare: Snap, backend: TestBackend, size: tuple[int, int]) -> None:
    assert snap_compare(demo_app(backend), terminal_size=size, run_before=steps())


@pytest.mark.parametrize("size", [SMALL, LARGE], ids=["small", "large"])
def test_draft_in_jit(snap_compare: Snap, backend: TestBackend, size: tuple[int, int]) -> None:
    assert snap_compare(demo_app(backend), terminal_size=size, run_before=steps(draft))


@pytest.mark.parametrize("size", [SMALL, LARGE], ids=["small", "large"])
def test_answered(snap_compare: Snap, backend: TestBackend, size: tuple[int, int]) -> None:
    backend.provider = ScriptedProvider(script=(ANSWER,))
    assert snap_compare(demo_app(backend), terminal_size=size, run_before=steps(ask))


CODE = """Here:

```python
# A comment that is there to be read as well, and that is longer than the screen is wide, by far.
def settle(window: str = "Tuesday 02:00", *, hours: int = 1, watchers: tuple[str, ...] = ()):
    return window.startswith("Tuesday") and hours >= 1 and not watchers  # all of it
```

# One
## Two
### Three

> Quoted, with `code` and [a link](https://example.org).

| turn | says |
|---|---|
| 9 | Tuesday |
"""


@pytest.mark.parametrize("size", [SMALL, LARGE], ids=["small", "large"])
@pytest.mark.parametrize("keys", [(), ("alt+y",)], ids=["cut", "wrapped"])
def test_code(
    snap_compare: Snap, backend: TestBackend, size: tuple[int, int], keys: tuple[str, ...]
) -> None:
    backend.provider = ScriptedProvider(script=(CODE,))
    run = steps(ask, press("f6", "home", "end", *keys))
    assert snap_compare(demo_app(backend), terminal_size=size, run_before=run)


def test_draft_in_full(snap_compare: Snap, backend: TestBackend) -> None:
    run = steps(draft, press("shift+tab"))
    assert snap_compare(demo_app(backend), terminal_size=LARGE, run_before=run)


def test_draft_in_recency(snap_compare: Snap, backend: TestBackend) -> None:
    run = steps(draft, press("shift+tab", "shift+tab"))
    assert snap_compare(demo_app(backend), terminal_size=LARGE, run_before=run)


def test_streaming(snap_compare: Snap, backend: TestBackend) -> None:
    backend.provider = ScriptedProvider(script=("The window is **Tues", asyncio.Event()))
    run = steps(ask_and_wait)
    assert snap_compare(demo_app(backend), terminal_size=LARGE, run_before=run)


def test_over_budget(snap_compare: Snap, backend: TestBackend) -> None:
    backend.options = SessionOptions(budget=Budget(limit=4_096, reserve=1_024))
    run = steps(draft, press("shift+tab"))
    assert snap_compare(demo_app(backend), terminal_size=LARGE, run_before=run)


def test_failed(snap_compare: Snap, backend: TestBackend) -> None:
    error = Unreachable("openai cannot be reached at http://127.0.0.1:9.", "Is it running?")
    backend.provider = ScriptedProvider(script=(error,))
    assert snap_compare(demo_app(backend), terminal_size=LARGE, run_before=steps(ask))


def test_empty_conversation(snap_compare: Snap, backend: TestBackend, store: ColdStore) -> None:
    app = JitchatApp(backend, store.create("New conversation"))
    assert snap_compare(app, terminal_size=LARGE, run_before=steps())


def test_exact_text(snap_compare: Snap, backend: TestBackend) -> None:
    run = steps(draft, point)
    assert snap_compare(demo_app(backend), terminal_size=LARGE, run_before=run)


async def last_row(pilot: Pilot[None]) -> None:
    screen = await ready(pilot)
    screen.query_one(Inspector).point_at("left out")
    await pilot.press("end")
    rows = screen.query_one("#segments", OptionList)
    await until(pilot, lambda: rows.scroll_y == rows.max_scroll_y, "the last row in view")
    await pilot.pause()


@pytest.mark.parametrize("size", [SMALL, LARGE], ids=["small", "large"])
def test_never_candidates(snap_compare: Snap, backend: TestBackend, size: tuple[int, int]) -> None:
    run = steps(draft, last_row)
    assert snap_compare(demo_app(backend), terminal_size=size, run_before=run)


@pytest.mark.parametrize("size", [SMALL, LARGE], ids=["small", "large"])
def test_help(snap_compare: Snap, backend: TestBackend, size: tuple[int, int]) -> None:
    assert snap_compare(demo_app(backend), terminal_size=size, run_before=steps(press("f1")))


def test_conversations(snap_compare: Snap, backend: TestBackend) -> None:
    run = steps(press("ctrl+r", *"hazel"))
    assert snap_compare(demo_app(backend), terminal_size=LARGE, run_before=run)
