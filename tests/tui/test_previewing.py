"""The next window while the user types: nothing that is out of date is shown as current."""

from __future__ import annotations

import random
import threading
from typing import TYPE_CHECKING, Any

import pytest

from jitchat.tui.figures import WORKING, size_sentences
from jitchat.tui.widgets.budget_bar import BudgetBar
from jitchat.tui.widgets.prompt import Prompt
from jitchat.window.steering import NO_MORE, Once
from tests.tui.support import TestBackend, demo_app, ready, type_text, until

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.app import App
    from textual.widget import Widget

    from jitchat.tui.chat.screen import ChatScreen
    from jitchat.values import Mode
    from jitchat.window.window import ContextWindow

QUESTION = "what about the deploy window?"

FRAMES = 10
"""In so many frames every widget is drawn that changed, on a machine that does much besides."""


class Watch:
    """Looks at the surfaces whenever anything is drawn on the terminal."""

    def __init__(self, screen: ChatScreen) -> None:
        assert screen.session is not None
        self._screen, self._preview = screen, screen.session.preview
        self._planned: dict[tuple[str, Mode], ContextWindow] = {}
        self.gate = threading.Event()
        self.gate.set()
        self.made = 0
        """Plans that were begun."""
        self.marked = self.current = 0
        """Frames at which a window was being worked out, and at which it was there."""
        self._drawn: dict[str, Any] = {}
        self._behind = 0
        """Frames in a row at which a mark was set and not drawn: widgets are drawn one by one."""
        screen.session.preview = self._slowed  # type: ignore[method-assign]

    def _slowed(self, draft: str, mode: Mode, once: Once = NO_MORE) -> ContextWindow:
        self.made += 1
        self.gate.wait(10)
        window = self._planned[draft, mode] = self._preview(draft, mode, once)
        return window

    def watch(self, app: App[None]) -> None:
        """Note what is drawn of each surface, and look at all of it with each frame."""
        screen, drawn = self._screen, self._drawn
        prompt, bar = screen.query_one(Prompt), screen.query_one(BudgetBar)
        hint, title = screen.query_one("#working"), screen.query_one("#inspector-title")
        drawn.update(draft=prompt.draft)
        noting(screen, "_attend", lambda _: drawn.update(draft=prompt.draft))
        noting(bar, "render", lambda got: drawn.update(bar=(WORKING in got.plain, bar.window)))
        noting(hint, "render", lambda got: drawn.update(hint=str(got)))
        noting(title, "render", lambda got: drawn.update(title=str(got)))
        display: Callable[..., None] = app._display

        def looked(*arguments: object) -> None:
            self.look()
            display(*arguments)

        app._display = looked  # type: ignore[method-assign]
        for each in (prompt, bar, hint, title):
            each.refresh()

    def look(self) -> None:
        """Each surface either says that it waits, or shows the window of what is in the prompt."""
        if len(self._drawn) < 4 or self._screen.busy or self._screen.previews.sent is not None:
            return
        waits, window = self._drawn["bar"]
        self.marked += waits
        self.current += not waits
        current = {
            "bar": waits or self._is_current(window),
            "hint": bool(self._drawn["hint"]) or self._is_current(window),
            "title": self._drawn["title"] == f" next window  {size_sentences(window)[0]}"
            or WORKING in self._drawn["title"],
        }
        behind = [name for name, is_right in current.items() if not is_right]
        self._behind = self._behind + 1 if behind else 0
        assert self._behind < FRAMES, (behind, self._drawn["draft"])
        shown = self._screen.query_one(BudgetBar).window
        assert self._screen.previews.working or self._is_current(shown), self._drawn["draft"]

    def _is_current(self, window: ContextWindow | None) -> bool:
        """Whether it is the window of the draft that the screen was told of, or of a later one.

        A frame can have a letter of which the screen is told right after it.
        """
        drafts = {draft for (draft, _), each in self._planned.items() if each == window}
        return bool(drafts & {self._drawn["draft"], self._screen.query_one(Prompt).draft})


def noting(widget: Widget, method: str, note: Callable[[Any], object]) -> None:
    """Note what a method of a widget gives whenever it is called."""
    real = getattr(widget, method)

    def noted(*arguments: object) -> object:
        got = real(*arguments)
        note(got)
        return got

    setattr(widget, method, noted)


@pytest.mark.usefixtures("every_frame")
async def test_the_preview_never_shows_a_stale_window_as_current_under_fast_typing(
    backend: TestBackend,
) -> None:
    chance = random.Random(5)
    async with demo_app(backend).run_test(size=(140, 40)) as pilot:
        screen = await ready(pilot)
        await type_text(pilot, "so, ")
        watch = Watch(screen)
        screen.previews.plan()
        await until(pilot, lambda: not screen.previews.working, "the first window")
        watch.watch(pilot.app)
        for number, letter in enumerate(QUESTION):
            if chance.random() < 0.3:
                (watch.gate.clear if watch.gate.is_set() else watch.gate.set)()
            if chance.random() < 0.2:
                await pilot.press("backspace")
            if number % 10 == 9:
                await pilot.press("shift+tab")
            await pilot.press("space" if letter == " " else letter)
            if number % 7 == 6:
                watch.gate.set()
                await until(pilot, lambda: not screen.previews.working, "the window")
                await pilot.pause()
        watch.gate.set()
        await until(pilot, lambda: not screen.previews.working, "the last window")
        await pilot.pause()
        assert screen.previews.window is not None
        assert screen.previews.window.mode is screen.steering.mode
        assert watch.marked
        assert watch.current
