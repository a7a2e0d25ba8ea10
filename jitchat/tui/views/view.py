"""The frame that all views share: a title, what it shows in one line, a body, the keys.

On a wide terminal a view leaves room for the transcript beside it, unless it needs all of it;
on a narrow one it is a screen of its own. Opening one changes nothing.
"""

from __future__ import annotations

import asyncio
import threading
from collections import defaultdict
from collections.abc import Callable, Coroutine, Iterable
from dataclasses import dataclass, field
from functools import partial
from pathlib import PurePath
from typing import TYPE_CHECKING, ClassVar, TypeVar

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.reactive import reactive
from textual.screen import ModalScreen, Screen
from textual.widget import Widget
from textual.widgets import Static
from textual.worker import Worker

from jitchat.errors import JitchatError
from jitchat.text.sanitize import for_terminal
from jitchat.tui.actions import VIEWS
from jitchat.tui.chat.steering import PinHistory
from jitchat.tui.notices import notify_error
from jitchat.tui.widgets.hint_line import KeyLine
from jitchat.values import Mode, Status, Turn
from jitchat.window.steering import NO_MORE, Once
from jitchat.window.window import ContextWindow

if TYPE_CHECKING:
    from jitchat.session import Session
    from jitchat.tui.backend import Backend

_Result = TypeVar("_Result")
Body = Iterable[Widget]
WIDE = 150
"""Columns from which a view is a column beside the transcript."""


@dataclass(frozen=True, slots=True)
class Subject:
    """The chat as it was when the view was opened."""

    backend: Backend
    session: Session
    draft: str
    """What stands in the prompt."""
    mode: Mode
    """In which the draft would be sent."""
    once: Once = NO_MORE
    """What holds for the draft alone."""
    window: ContextWindow | None = None
    """The window on screen; None where none can be planned, or one is being worked out."""
    sent: Turn | None = None
    """The user's turn for which that window was sent; None for one that would be."""
    chosen: Turn | None = None
    """The turn under the transcript's cursor; None without a cursor."""
    is_busy: Callable[[], bool] = lambda: False
    """Tells whether a reply is on its way by now."""
    pins: PinHistory = field(default_factory=PinHistory)
    """The chat's own: what is pinned or excluded in a view is undone there, too."""
    explained: str = ""
    """The id of the turn that the ledger explains at first; empty for none."""

    @property
    def question(self) -> tuple[str, Once]:
        """The message that is looked at, and what holds for it: the sent one, else the prompt's.

        A message that was sent and not answered is asked like any other.
        """
        if self.sent is None:
            return self.draft, self.once
        sent = self.session.memory.turn_at(self.sent.position) or self.sent
        if sent.status is Status.UNANSWERED:
            return sent.content, NO_MORE
        return sent.content, Once(again=sent)


@dataclass(frozen=True, slots=True)
class GoTo:
    """Show a turn in the transcript; the conversation goes on where it is."""

    position: int
    planned: Planned | None = None
    """What is to be planned anew, too; None where nothing is."""


@dataclass(frozen=True, slots=True)
class Planned:
    """The next window is to be planned anew; in place of the desk's, where they are given."""

    once: Once | None = None
    mode: Mode | None = None


@dataclass(frozen=True, slots=True)
class SendAgain:
    """Answer a user's turn once more, as a fork."""

    said: Turn
    mode: Mode
    once: Once


@dataclass(frozen=True, slots=True)
class Branched:
    """The conversation has new turns, or goes on elsewhere."""

    position: int
    """The turn to show."""
    clears_draft: bool = False
    """Whether the draft became a turn of it."""


@dataclass(frozen=True, slots=True)
class Another:
    view: str
    planned: Planned | None = None
    """What is to be planned anew before that; None where nothing is."""


Outcome = Another | GoTo | Planned | SendAgain | Branched


class LatestRead:
    """Runs slow reads in a thread, one at a time; of those that wait, only the last counts."""

    def __init__(self) -> None:
        self._running = asyncio.Lock()
        self._wanted = self._shown = 0

    @property
    def is_pending(self) -> bool:
        """Whether what was asked for last is not shown yet."""
        return self._shown != self._wanted

    def run(
        self,
        read: Callable[[], _Result],
        show: Callable[[_Result], None],
        refuse: Callable[[JitchatError], None],
    ) -> Coroutine[None, None, None]:
        """Read; then show the result, or the error of ours, unless it is outdated by then."""
        self._wanted += 1
        number = self._wanted

        async def run() -> None:
            async with self._running:
                if number != self._wanted:
                    return
                try:
                    outcome = partial(show, await asyncio.to_thread(read))
                except JitchatError as error:
                    outcome = partial(refuse, error)
            if number == self._wanted:
                self._shown = number
                outcome()

        return run()


class Note(Static):
    """Text that is shown as it is, without markup."""

    def __init__(self, name: str | None = None, classes: str | None = None, text: str = "") -> None:
        super().__init__(text, id=name, classes=classes, markup=False)

    def show(self, text: str) -> None:
        """Show a text; an empty one takes no line."""
        self.update(text)
        self.display = bool(text)


class View(ModalScreen[Outcome | None]):
    """A view of one subject. Closing it without a choice gives None."""

    CSS_PATH: ClassVar[str | PurePath | list[str | PurePath] | None] = "view.tcss"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (WIDE, "-wide")]  # noqa: RUF012  Textual's own shape
    BINDINGS = [  # noqa: RUF012  Textual's own shape
        Binding("escape,q", "close", "Close", id="view_close"),
        Binding("y", "copy", "Copy", id="view_copy"),
        Binding("ctrl+c", "app.help_quit", show=False),
        *(Binding(action.keys, f"another('{name}')", show=False) for name, action in VIEWS.items()),
    ]
    NAME: ClassVar[str] = ""
    """Its title."""
    EXPLAINED: ClassVar[str] = ""
    """What it shows, in one line."""
    FILLS: ClassVar[bool] = False
    """Whether it takes all of a wide terminal."""
    confirms: reactive[bool] = reactive(False, bindings=True)
    """Whether it asks if requests are to be sent: the actions `ask` and `decline` answer that."""

    def __init__(self, subject: Subject) -> None:
        super().__init__(classes="view -fills" if self.FILLS else "view")
        self.subject = subject
        self.frame = Vertical(id="view-frame")
        self.box = Vertical(id="view-body")
        self._nothing = Note("view-nothing")
        self._reads: dict[str, LatestRead] = defaultdict(LatestRead)
        self._writing = threading.Lock()

    def compose(self) -> ComposeResult:
        # Textual sets this class on the first resize, after a frame for another width.
        width = self.app.size.width
        self.set_class(width >= WIDE, "-wide", update=False)
        self.set_class(width < WIDE, "-narrow", update=False)
        self.frame.border_title = self.NAME
        with self.frame:
            yield Note("view-explained", text=self.EXPLAINED)
            yield self._nothing
            with self.box:
                yield from self.body()
            yield KeyLine()

    def body(self) -> Body:
        """Make what stands between explanation and keys, from top to bottom."""
        raise NotImplementedError

    def copyable(self) -> str:
        raise NotImplementedError

    def load(
        self,
        read: Callable[[], _Result],
        show: Callable[[_Result], None],
        *,
        refuse: Callable[[JitchatError], None] | None = None,
        group: str = "load",
    ) -> None:
        """Read in a thread, then show the result, or an error of ours in place of the body.

        Of the reads of a group, only the one that was asked for last is shown.
        """
        refuse = refuse or (lambda error: self.show_nothing(str(error)))
        self.run_worker(self._reads[group].run(read, show, refuse), group=group)

    def is_loading(self, group: str = "load") -> bool:
        """Whether what was asked for last in a group is not shown yet."""
        return self._reads[group].is_pending

    def write(self, change: Callable[[], _Result], show: Callable[[_Result], None]) -> Worker[None]:
        """Change the store in a thread; each change is made, in order, also when the view is left.

        An error of ours is told.
        """

        def write() -> _Result:
            with self._writing:
                return change()

        async def run() -> None:
            try:
                result = await asyncio.to_thread(write)
            except JitchatError as error:
                notify_error(self, error)
            else:
                show(result)

        return self.run_worker(run(), group="write")

    def show_nothing(self, why: str, *, hides: bool = True) -> None:
        """Say why there is nothing to show, and what would fill it; empty: there is something.

        The body is hidden where `hides`.
        """
        self._nothing.show(for_terminal(why))
        self.box.display = not (why and hides)

    def say(self, text: str) -> None:
        self.notify(text, markup=False)

    def is_free(self) -> bool:
        """Whether no reply is on its way; says so where one is."""
        if self.subject.is_busy():
            self.say("A reply is on its way. Ask when it is there.")
        return not self.subject.is_busy()

    def open_over(self, screen: Screen[Outcome | None] | Screen[SendAgain | None]) -> None:
        """Open a screen over this view, which is left with what is chosen there."""

        def follow(outcome: Outcome | None) -> None:
            if outcome is not None:
                self.dismiss(outcome)

        self.app.push_screen(screen, follow)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Enter answers the question while there is one, and does something else otherwise."""
        if action in ("ask", "decline"):
            return self.confirms
        return not self.confirms if action == "go_on" else super().check_action(action, parameters)

    def action_decline(self) -> None:
        self.dismiss(None)

    def action_close(self) -> None:
        self.dismiss(None)

    def action_another(self, name: str) -> None:
        self.dismiss(Another(name))

    def action_copy(self) -> None:
        self.app.copy_to_clipboard(self.copyable())
        self.say("Copied.")
