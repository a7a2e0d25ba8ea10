"""A stage for controllers without a terminal: nothing is drawn, and time passes by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from unittest.mock import create_autospec

from jitchat.tui.chat.host import Surfaces
from jitchat.tui.widgets.budget_bar import BudgetBar
from jitchat.tui.widgets.hint_line import HintLine
from jitchat.tui.widgets.inspector import Inspector
from jitchat.tui.widgets.prompt import Prompt
from jitchat.tui.widgets.top_line import TopLine
from jitchat.tui.widgets.transcript import Transcript

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from textual.message import Message

    from jitchat.errors import JitchatError


class StageTimer:
    """A timer that goes off when the test says so."""

    def __init__(self, call: Callable[[], Any]) -> None:
        self.call, self.stopped = call, False

    def stop(self) -> None:
        self.stopped = True


class StageHost:
    """In place of `Host`: work in threads is done at once, or when `run_threads` is called."""

    def __init__(self, *, waits: bool = False) -> None:
        self.waits = waits
        self.posted: list[Message] = []
        self.threads: list[Callable[[], None]] = []
        self.running: list[Coroutine[Any, Any, None]] = []
        self.cancelled: list[str] = []
        self.timers: list[StageTimer] = []
        self.sentences: list[str] = []

    def post(self, message: Message) -> None:
        self.posted.append(message)

    def in_thread(self, work: Callable[[], None], group: str, *, exclusive: bool = False) -> None:
        self.threads.append(work)
        if not self.waits:
            self.run_threads()

    def run_threads(self) -> None:
        while self.threads:
            self.threads.pop(0)()

    def run(self, work: Coroutine[Any, Any, None], group: str, *, exclusive: bool = False) -> None:
        self.running.append(work)

    async def finish(self) -> None:
        """Run the coroutines that were handed over, one after another."""
        while self.running:
            await self.running.pop(0)

    def cancel(self, *groups: str) -> None:
        self.cancelled += groups

    def after(self, seconds: float, call: Callable[[], Any]) -> StageTimer:
        self.timers.append(StageTimer(call))
        return self.timers[-1]

    every = after

    def fire(self) -> None:
        """Let every timer go off that was not stopped."""
        timers, self.timers = self.timers, []
        for timer in timers:
            if not timer.stopped:
                timer.call()

    def say(self, sentence: str, *, seconds: float | None = None) -> None:
        self.sentences.append(sentence)

    warn = say

    def tell(self, error: JitchatError) -> None:
        self.sentences.append(str(error))


def stage_surfaces() -> Any:
    """Widgets that take every call and draw nothing; the prompt is empty."""
    surfaces = create_autospec(Surfaces, instance=True)
    for name, widget in {
        "top": TopLine, "transcript": Transcript, "inspector": Inspector, "bar": BudgetBar,
        "prompt": Prompt, "hint": HintLine,
    }.items():  # fmt: skip
        setattr(surfaces, name, create_autospec(widget, instance=True))
    surfaces.prompt.draft = ""
    surfaces.prompt.submitted = []
    surfaces.hint.sentences = ()
    surfaces.transcript.chosen = None
    return surfaces
