"""The base of the chat's controllers: access to the screen and to its widgets."""

from __future__ import annotations

from collections.abc import Callable, Collection, Coroutine
from dataclasses import dataclass
from inspect import isawaitable
from typing import TYPE_CHECKING, Any

from textual.app import ComposeResult
from textual.containers import Container
from textual.message import Message
from textual.screen import Screen
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Static
from textual.worker import Worker

from jitchat.errors import JitchatError, WindowOverflow
from jitchat.text.figures import model_name
from jitchat.tui.chat.commands import Prompts
from jitchat.tui.figures import send_sentences
from jitchat.tui.key_names import KeyNames
from jitchat.tui.notices import READ_SECONDS, notify_error
from jitchat.tui.plain import plain_sentences
from jitchat.tui.widgets.above_prompt import ApprovalLine, AttachedLine
from jitchat.tui.widgets.budget_bar import BudgetBar
from jitchat.tui.widgets.completion_list import CompletionList
from jitchat.tui.widgets.hint_line import HintLine
from jitchat.tui.widgets.input_lines import FindLine
from jitchat.tui.widgets.inspector import Inspector
from jitchat.tui.widgets.prompt import Prompt
from jitchat.tui.widgets.top_line import TopLine
from jitchat.tui.widgets.transcript import Transcript
from jitchat.values import Usage
from jitchat.window.carriers import carriers
from jitchat.window.window import ContextWindow

if TYPE_CHECKING:
    from jitchat.index.indexer import Progress
    from jitchat.session import Session
    from jitchat.tui.backend import Backend


class Host:
    """A controller's interface to its screen; tests replace it with one without a terminal."""

    def __init__(self, screen: Screen[Any]) -> None:
        self._screen = screen

    def post(self, message: Message) -> None:
        """Post a message to the screen's handlers, from any thread."""
        self._screen.post_message(message)

    def in_thread(
        self, work: Callable[[], None], group: str, *, exclusive: bool = False
    ) -> Worker[None]:
        """Run blocking work in a thread; `exclusive` cancels the other workers of the group."""
        return self._screen.run_worker(work, thread=True, group=group, exclusive=exclusive)

    def run(
        self,
        work: Callable[[], Coroutine[Any, Any, None]],
        group: str,
        *,
        exclusive: bool = False,
    ) -> Worker[None]:
        """Run a coroutine in the background; `exclusive` cancels the other workers of the group.

        `work` makes the coroutine: one that is made before its worker begins may never be awaited.
        """
        return self._screen.run_worker(self.showing_errors(work), group=group, exclusive=exclusive)

    def cancel(self, *groups: str) -> None:
        """Cancel the workers of some groups; a started thread runs on, but nothing waits for it."""
        for group in groups:
            self._screen.workers.cancel_group(self._screen, group)

    def after(self, seconds: float, call: Callable[[], Any]) -> Timer:
        return self._screen.set_timer(seconds, call)

    def every(self, seconds: float, call: Callable[[], Any]) -> Timer:
        return self._screen.set_interval(seconds, call)

    def later(self, call: Callable[..., Any], *arguments: object) -> None:
        """Call after all pending messages have been handled, from any thread."""
        self._screen.call_later(self.showing_errors(call), *arguments)

    def after_frame(self, call: Callable[[], Any]) -> None:
        self._screen.call_after_refresh(call)

    def say(self, sentence: str, *, seconds: float | None = None) -> None:
        self._screen.notify(sentence, timeout=seconds, markup=False)

    def warn(self, sentence: str, *, seconds: float = READ_SECONDS) -> None:
        self._screen.notify(sentence, severity="warning", timeout=seconds, markup=False)

    def show_error(self, error: JitchatError) -> None:
        notify_error(self._screen, error)

    def end_notices(self, sentences: Collection[str]) -> None:
        """Remove notices that no longer hold."""
        app = self._screen.app
        for notice in list(app._notifications):  # noqa: SLF001  Textual has no other way
            if notice.message in sentences:
                app._unnotify(notice)  # noqa: SLF001
        for hint in self._screen.query(HintLine):
            hint.end_notices(sentences)

    def showing_errors(self, call: Callable[..., Any]) -> Callable[..., Coroutine[Any, Any, None]]:
        """Wrap a call so that a `JitchatError` is shown; otherwise it would end the app."""

        async def call_and_show_error(*arguments: object) -> None:
            try:
                if isawaitable(done := call(*arguments)):
                    await done
            except JitchatError as error:
                self.show_error(error)

        return call_and_show_error

    async def wait_for(self, screen: Screen[Any]) -> Any:  # noqa: ANN401  the screen's result
        """Push another screen and return its result. May only be called from a worker."""
        return await self._screen.app.push_screen_wait(screen)

    def push(self, screen: Screen[Any], left: Callable[[Any], Any] | None = None) -> None:
        """Push another screen; `left` is called with its result."""
        self._screen.app.push_screen(
            screen, self.showing_errors(left) if left is not None else None
        )


_STRIP_FROM = 16
"""Rows of the terminal from which the budget bar has a strip next to the inspector."""


class Surfaces:
    """The chat's widgets, and the methods that show a window in all of them."""

    def __init__(self, backend: Backend) -> None:
        keys = KeyNames(backend.settings.keys)
        self.top = TopLine()
        self.transcript = Transcript()
        self.inspector = Inspector(in_chat=True)
        self.find = FindLine()
        self.bar = BudgetBar()
        self.offer = Static(id="offer")
        """Suggests models to use instead of the reader and the built-in embedder."""
        self.approval = ApprovalLine(keys)
        self.trouble = ""
        """State of MCP servers that are not ready, for the top line; usually empty."""
        self.prompts = Prompts(frozenset(backend.settings.mcp))
        """Prompts of MCP servers, as typed after `/`."""
        self.attached = AttachedLine(id="attached")
        self.prompt = Prompt()
        self.completions = CompletionList()
        self.hint = HintLine(keys)
        self.below: list[Widget] = []
        """Widgets below the hint line, such as the bar of the tour."""

    def compose(self) -> ComposeResult:
        yield self.top
        with Container(id="panes"):
            yield self.transcript
            yield self.inspector
        yield self.find
        yield self.bar
        yield self.offer
        yield self.approval
        yield self.attached
        yield self.prompt
        yield self.hint
        yield self.completions
        yield from self.below

    def show_status(self, session: Session, progress: Progress | None) -> None:
        """Show the progress of the hot index, then the model, embedder and token counter."""
        state = "vectors missing" if session.memory.index.lacks_vectors else ""
        if progress is not None:
            work = "loading the index:" if progress.loads else "indexing"
            state = f"{work} {progress.done:,} of {progress.of:,}"
        self.show_state(state, session)

    def show_state(self, state: str, session: Session) -> None:
        """Show an activity before the model, embedder and token counter."""
        provider, counter = session.provider, session.counter
        model = "" if provider.model == provider.name else model_name(provider.model)
        counted = f"{'' if counter.exact else '~'}{counter.name}"
        embedder = session.memory.index.embedder.id
        state = " · ".join(filter(None, (self.trouble, state)))
        self.top.show_status(state, provider.name, model, embedder, counted)

    def show_window(
        self, window: ContextWindow, session: Session | None, *, sent: bool, usage: Usage | None
    ) -> None:
        """Show a window in every widget, with the usage reported for it."""
        self.bar.refusal = None
        self.bar.window = window
        self.inspector.show(window, sent=sent, usage=usage)
        self.attached.show(self.prompt.files, None if sent else window)
        cost = session.comparison(window, usage, sent=sent).cost if session is not None else ""
        plain = plain_sentences(window, cost, sent=sent)
        self.hint.show_cost(*send_sentences(window, cost), plain=plain)
        self.transcript.mark(carriers(window))

    def show_inspector(self, *, shown: bool) -> None:
        """Show or hide the inspector; while it is hidden, a sentence describes the window."""
        self.inspector.set_class(not shown, "-hidden")
        self.bar.magnify(shown and self.bar.app.size.height >= _STRIP_FROM)
        self.hint.is_plain = not shown

    def show_refusal(self, error: JitchatError) -> None:
        """Show in every widget why there is no window."""
        self.clear_window(error.what)
        if isinstance(error, WindowOverflow):
            self.bar.refusal = error
        self.inspector.refuse(error)

    def clear_window(self, hint: str = "") -> None:
        """Remove the figures of the window from every widget."""
        self.bar.window = self.bar.refusal = None
        self.inspector.clear()
        self.attached.show(self.prompt.files, None)
        self.hint.show_cost(hint)
        self.transcript.mark(lambda _: None)

    def show_working(self, working: bool) -> None:
        """Mark the window on screen as about to be replaced."""
        self.bar.working = working
        self.inspector.show_working(working)
        self.hint.show_working(working)

    def show_faded(self, faded: bool) -> None:
        self.bar.screen.query("BudgetBar, #inspector-title, #cost").set_class(faded, "-faded")


@dataclass(eq=False)
class Controller:
    """A part of the chat screen with its own state and references to the controllers it calls."""

    host: Host
    backend: Backend
    surfaces: Surfaces

    @property
    def keys(self) -> KeyNames:
        return KeyNames(self.backend.settings.keys)
