"""A stage for controllers without a terminal: nothing is drawn, and time passes by hand."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any
from unittest.mock import NonCallableMagicMock

from textual.worker import active_worker

from jitchat.draft import EMPTY, Draft, as_draft, joined
from jitchat.store.drafts import Drafts
from jitchat.tui.chat.branches import Branches
from jitchat.tui.chat.choices import Choices
from jitchat.tui.chat.commands import Prompts
from jitchat.tui.chat.ending import Ending
from jitchat.tui.chat.host import Surfaces
from jitchat.tui.chat.opening import DraftKeeper, Indexing, Opening
from jitchat.tui.chat.previews import Meter, Previews
from jitchat.tui.chat.sends import Sends
from jitchat.tui.chat.steering import Steering
from jitchat.tui.widgets.budget_bar import BudgetBar
from jitchat.tui.widgets.hint_line import HintLine
from jitchat.tui.widgets.inspector import Inspector
from jitchat.tui.widgets.top_line import TopLine
from jitchat.tui.widgets.transcript import Transcript

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection

    from textual.message import Message

    from jitchat.errors import JitchatError
    from jitchat.session import Session
    from jitchat.values import Conversation
    from tests.tui.support import TestBackend


class StageTimer:
    """A timer that goes off when the test says so."""

    def __init__(self, seconds: float, call: Callable[[], Any]) -> None:
        self.seconds, self.call, self.stopped = seconds, call, False

    def stop(self) -> None:
        self.stopped = True


class StageWorker:
    """Work that was handed over; of a thread's, only whether it still counts."""

    def __init__(self, group: str, work: Awaitable[None] | None = None) -> None:
        self.group, self.is_cancelled = group, False
        self.task = asyncio.ensure_future(self._do(work)) if work is not None else None

    @property
    def is_finished(self) -> bool:
        return self.task is None or self.task.done()

    def cancel(self) -> None:
        self.is_cancelled = True
        if self.task is not None:
            self.task.cancel()

    async def wait(self) -> None:
        if self.task is not None:
            with suppress(asyncio.CancelledError):
                await self.task

    async def _do(self, work: Awaitable[None]) -> None:
        active_worker.set(self)  # type: ignore[arg-type]
        await work


class StageHost:
    """In place of `Host`: work in threads is done at once, or when `run_threads` is called."""

    def __init__(self, *, waits: bool = False) -> None:
        self.waits = waits
        self.posted: list[Message] = []
        self.calls: list[Callable[[], Any]] = []
        """For later."""
        self.threads: list[tuple[StageWorker, Callable[[], None]]] = []
        self.workers: list[StageWorker] = []
        self.timers: list[StageTimer] = []
        self.sentences: list[str] = []

    def post(self, message: Message) -> None:
        self.posted.append(message)

    def in_thread(
        self, work: Callable[[], None], group: str, *, exclusive: bool = False
    ) -> StageWorker:
        worker = self._worker(group, None, exclusive=exclusive)
        self.threads.append((worker, work))
        if not self.waits:
            self.run_threads()
        return worker

    def run_threads(self) -> None:
        while self.threads:
            worker, work = self.threads.pop(0)
            token = active_worker.set(worker)  # type: ignore[arg-type]
            work()
            active_worker.reset(token)

    def run(
        self,
        work: Callable[[], Awaitable[None]],
        group: str,
        *,
        exclusive: bool = False,
    ) -> StageWorker:
        return self._worker(group, work(), exclusive=exclusive)

    async def finish(self) -> None:
        """Wait for the coroutines that were handed over."""
        for worker in self.workers:
            await worker.wait()

    def cancel(self, *groups: str) -> None:
        for worker in self.workers:
            if worker.group in groups:
                worker.cancel()

    def after(self, seconds: float, call: Callable[[], Any]) -> StageTimer:
        self.timers.append(StageTimer(seconds, call))
        return self.timers[-1]

    every = after

    def fire(self, seconds: float) -> None:
        """Let the timers of so many seconds go off that were not stopped."""
        due = [timer for timer in self.timers if timer.seconds == seconds]
        self.timers = [timer for timer in self.timers if timer not in due]
        for timer in due:
            if not timer.stopped:
                timer.call()

    def later(self, call: Callable[..., Any], *arguments: object) -> None:
        self.calls.append(partial(call, *arguments))

    def after_frame(self, call: Callable[[], Any]) -> None:
        call()

    def say(self, sentence: str, *, seconds: float | None = None) -> None:
        self.sentences.append(sentence)

    warn = say

    def show_error(self, error: JitchatError) -> None:
        self.sentences.append(str(error))

    def end_notices(self, sentences: Collection[str]) -> None:
        self.sentences = [each for each in self.sentences if each not in sentences]

    def _worker(self, group: str, work: Awaitable[None] | None, *, exclusive: bool) -> StageWorker:
        if exclusive:
            self.cancel(group)
        self.workers.append(StageWorker(group, work))
        return self.workers[-1]


class StagePrompt:
    """A text, with what the chat does to it."""

    def __init__(self) -> None:
        self.message, self.submitted, self.has_focus, self.typing = EMPTY, [], True, False

    @property
    def draft(self) -> str:
        return self.message.text

    @draft.setter
    def draft(self, text: str) -> None:
        self.message = Draft.by_user(text)

    def swap(self, draft: Draft | str) -> Draft:
        before, self.message = self.message, as_draft(draft)
        return before

    def take_draft(self) -> Draft:
        return self.swap(EMPTY)

    def give_back(self, draft: Draft | str) -> None:
        self.message = joined((as_draft(draft), self.message))

    def empty(self) -> bool:
        return bool(self.swap(EMPTY))

    def know_sent(self, draft: Draft) -> None:
        """What was sent before is walked through by keys only."""

    def use_history(self, prompts: object) -> None:
        """What was sent before is walked through by keys only."""

    def focus(self) -> None:
        """There is no other place to type in."""


def stage_surfaces() -> Any:
    """Widgets that take every call and draw nothing; the prompt is empty."""
    surfaces = NonCallableMagicMock(spec=Surfaces)
    for name, widget in {
        "top": TopLine, "transcript": Transcript, "inspector": Inspector, "bar": BudgetBar,
        "hint": HintLine,
    }.items():  # fmt: skip
        setattr(surfaces, name, NonCallableMagicMock(spec=widget))
    surfaces.prompt = StagePrompt()
    hint = surfaces.hint
    hint.sentences = hint.plain = ()
    hint.show_cost.side_effect = lambda *sentences, **_: setattr(hint, "sentences", sentences)
    hint.show_usage.side_effect = hint.show_cost
    hint.put_ahead.side_effect = lambda note: hint.show_cost(
        *(f"{note} · {each}" for each in hint.sentences), note
    )
    surfaces.transcript.chosen = None
    surfaces.prompts = Prompts()
    return surfaces


class Stage:
    """The controllers of a chat as its screen wires them, on a conversation that is open."""

    def __init__(self, backend: TestBackend, conversation: Conversation) -> None:
        self.backend = backend
        self.host = host = StageHost()
        self.surfaces = surfaces = stage_surfaces()
        self.prompt = surfaces.prompt
        self.drafts = Drafts(backend.store.database)
        self.keeper = DraftKeeper(host, self.drafts, self._typed, list)  # type: ignore[arg-type]
        shared: Any = host, backend, surfaces
        self.steering = steering = Steering(*shared)
        self.ending = Ending(*shared)
        self.opening = opening = Opening(*shared, self.keeper, self.ending, conversation)
        self.indexing = Indexing(*shared, opening)
        self.previews = previews = Previews(*shared, opening, steering)
        self.choices = Choices(*shared, opening, steering, previews)
        self.meter = Meter(*shared, opening, steering, previews)
        self.sends = Sends(*shared, opening, steering, previews)
        self.branches = Branches(*shared, opening, steering, previews, self.indexing, self.sends)

    @property
    def session(self) -> Session:
        assert self.opening.session is not None
        return self.opening.session

    async def open(self) -> Stage:
        """Open the conversation, and take the session that was loaded."""
        await self.opening.leave()
        await self.opening.open(self.opening.conversation, None, EMPTY)
        ready = self.host.posted.pop()
        assert isinstance(ready, Opening.Ready)
        await self.opening.take(ready.session)
        self.host.posted.clear()
        return self

    def _typed(self) -> Draft:
        return self.branches.typed()

    def type(self, text: str) -> None:
        self.prompt.draft = text
        self.previews.follow_draft()

    async def finish(self) -> None:
        """Wait for what was begun, and hand on what came of it as the screen does."""
        await self.host.finish()
        await self.deliver()

    async def deliver(self, *kinds: type[Message]) -> None:
        """Hand on what was posted; with `kinds`, only those, and the rest stays."""
        posted, self.host.posted = self.host.posted, []
        for message in posted:
            if kinds and not isinstance(message, kinds):
                self.host.posted.append(message)
            elif isinstance(message, Previews.Planned):
                self.previews.take(message)
            elif isinstance(message, Sends.Reported):
                await self.sends.take(message)
            elif isinstance(message, Sends.Ended):
                await self.sends.end(message)
