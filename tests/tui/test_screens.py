"""Pictures of the states that matter; `pytest --snapshot-update` takes them anew."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
from textual.widgets import OptionList
from textual.widgets._toast import Toast

from jitchat.errors import Unreachable
from jitchat.session_options import SessionOptions
from jitchat.tui.app import JitchatApp
from jitchat.tui.widgets.inspector import Inspector
from jitchat.window.budget import Budget
from tests.support import ScriptedProvider
from tests.tui.drawn import streams
from tests.tui.support import TestBackend, demo_app, idle, ready, type_text, until

if TYPE_CHECKING:
    from textual.pilot import Pilot

    from jitchat.store.store import ColdStore
    from jitchat.tui.chat.screen import ChatScreen
    from tests.tui.conftest import Picture

QUESTION = "what did we settle on for the deploy window?"
BEGINNING = "The window is **Tues"
REST = "day 02:00 UTC**, as decided in #9:\n\n- deploy at `02:00`\n- watch for an hour"
SMALL, LARGE = (80, 24), (120, 36)

both_sizes = pytest.mark.parametrize(
    "size",
    [
        pytest.param(SMALL, id="small"),
        pytest.param(LARGE, id="large", marks=pytest.mark.long("whole")),
    ],
)


async def next_mode(pilot: Pilot[None]) -> None:
    screen = await ready(pilot)
    planned = screen.previews.planned
    await pilot.press("shift+tab")
    await until(pilot, lambda: screen.previews.planned > planned, "the next mode's window")
    await pilot.pause()


async def send(pilot: Pilot[None]) -> ChatScreen:
    screen = await ready(pilot)
    await pilot.press("enter")
    provider = screen.backend.provider
    await until(pilot, lambda: provider.requests, "the request")  # type: ignore[attr-defined]
    return screen


async def ask(pilot: Pilot[None]) -> None:
    await ready(pilot)
    await type_text(pilot, QUESTION)
    await send(pilot)
    await idle(pilot)
    await ready(pilot)


async def last_row(pilot: Pilot[None]) -> None:
    """Of the inspector: the turns that were no candidates."""
    screen = await ready(pilot)
    screen.query_one(Inspector).point_at("left out")
    await pilot.press("end")
    rows = screen.query_one("#segments", OptionList)
    await until(pilot, lambda: rows.scroll_y == rows.max_scroll_y, "the last row in view")


@both_sizes
async def test_from_the_first_screen_to_the_first_answer(
    picture: Picture, backend: TestBackend, size: tuple[int, int]
) -> None:
    go_on = asyncio.Event()
    backend.provider = ScriptedProvider(script=(BEGINNING, go_on, REST))
    async with demo_app(backend).run_test(size=size) as pilot:
        screen = await ready(pilot)
        await picture(pilot, "first-run")
        await pilot.press("f1")
        await picture(pilot, "help")
        await pilot.press("escape")
        if size == LARGE:
            await pilot.press("ctrl+r", *"hazel")
            found = pilot.app.screen.query_one(OptionList)
            await until(pilot, lambda: found.option_count == 1, "the turn that has it")
            await picture(pilot, "conversations")
            await pilot.press("escape", "escape")
        await type_text(pilot, QUESTION)
        await picture(pilot, "draft-in-jit")
        if size == LARGE:
            screen.query_one(Inspector).point_at("retrieved")
            await pilot.press("enter")
            await picture(pilot, "exact-text")
            await pilot.press("escape")
        await last_row(pilot)
        await picture(pilot, "never-candidates")
        await pilot.press("escape")
        if size == LARGE:
            await next_mode(pilot)
            await picture(pilot, "draft-in-full")
            await next_mode(pilot)
            await picture(pilot, "draft-in-recency")
            await next_mode(pilot)
        else:
            await pilot.press("f2")
        await send(pilot)
        await until(pilot, lambda: streams(screen), "first words")
        if size == LARGE:
            await picture(pilot, "streaming")
        go_on.set()
        await idle(pilot)
        await ready(pilot)
        await picture(pilot, "answered")


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


@both_sizes
async def test_code(picture: Picture, backend: TestBackend, size: tuple[int, int]) -> None:
    backend.provider = ScriptedProvider(script=(CODE,))
    async with demo_app(backend).run_test(size=size) as pilot:
        await ask(pilot)
        await pilot.press("f6", "home", "end")
        await picture(pilot, "wrapped")
        await pilot.press("alt+y")
        await picture(pilot, "cut")


async def test_over_budget(picture: Picture, backend: TestBackend) -> None:
    backend.options = SessionOptions(budget=Budget(limit=4_096, reserve=1_024))
    async with demo_app(backend).run_test(size=LARGE) as pilot:
        await ready(pilot)
        await type_text(pilot, QUESTION)
        await next_mode(pilot)
        await picture(pilot, "large")


async def test_failed(picture: Picture, backend: TestBackend) -> None:
    error = Unreachable("openai cannot be reached at http://127.0.0.1:9.", "Is it running?")
    backend.provider = ScriptedProvider(script=(error,))
    async with demo_app(backend).run_test(size=LARGE, notifications=True) as pilot:
        await ask(pilot)
        await until(pilot, lambda: pilot.app.screen.query(Toast), "why not")
        await picture(pilot, "large")


async def test_empty_conversation(picture: Picture, backend: TestBackend, store: ColdStore) -> None:
    app = JitchatApp(backend, store.create("New conversation"))
    async with app.run_test(size=LARGE) as pilot:
        await ready(pilot)
        await picture(pilot, "large")
