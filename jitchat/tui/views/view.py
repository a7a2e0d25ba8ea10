"""What a view is about, and the frame that all share: a title, one line, a body, the keys.

On a wide terminal a view leaves room for the transcript beside it, unless it needs all of it;
on a narrow one it is a screen of its own. Opening one changes nothing.
"""

from __future__ import annotations

import asyncio
import threading
from collections import defaultdict
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, TypeVar

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.reactive import reactive
from textual.screen import ModalScreen, Screen
from textual.widget import Widget
from textual.widgets import Static
from textual.worker import Worker

from jitchat.errors import JitchatError
from jitchat.replay import window_of
from jitchat.statements import Source
from jitchat.store.windows import WindowArchive
from jitchat.text.sanitize import for_terminal, one_line, shorten
from jitchat.text.stance import objects
from jitchat.tui.actions import VIEWS, bindings_everywhere
from jitchat.tui.chat.steering import PinHistory
from jitchat.tui.dismissed_once import DismissedOnce
from jitchat.tui.notices import notify_error
from jitchat.tui.widgets.hint_line import KeyLine
from jitchat.values import Mode, Role, Status, Turn
from jitchat.window.steering import NO_MORE, Once
from jitchat.window.window import ContextWindow

if TYPE_CHECKING:
    from jitchat.session import Session
    from jitchat.tui.backend import Backend

_Result = TypeVar("_Result")
Body = Iterable[Widget]
WIDE = 150
"""Columns from which a view is a column beside the transcript."""


_LEAST_WIDTH = 20
NO_REPLY = (
    "There is no reply here yet. Send a message; or choose a reply: Tab goes to the conversation."
)
STREAMING = "The reply is still being written. Open this again when it is there."


@dataclass(frozen=True, slots=True)
class Exchange:
    """A message of the user, and one reply to it."""

    message: Turn
    reply: Turn
    window_id: int | None = None
    """The archive's key; None where the reply came from elsewhere, such as an import."""
    window: ContextWindow | None = None
    """As it was sent; None likewise."""


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

    def exchange(self) -> Exchange | None:
        """Find the reply under the cursor, or to the message that is; without one, the last.

        Of a last message that only says that the reply before it is wrong, it is that reply. Slow:
        it reads the window.

        Raises StoreError: the store, or what it keeps of the window, cannot be read.
        """
        memory, sent = self.session.memory, self.sent
        shown = None if sent is not None and objects(sent.content) else sent
        pair = pair_of(memory.turns, self.chosen or shown)
        if pair is None:
            return None
        database = memory.store.database
        window_id = WindowArchive(database).window_id(*pair)
        window = window_of(database, window_id) if window_id is not None else None
        return Exchange(*pair, window_id, window)

    @property
    def why_no_exchange(self) -> str:
        return STREAMING if self.is_busy() else NO_REPLY


def pair_of(turns: Sequence[Turn], chosen: Turn | None) -> tuple[Turn, Turn] | None:
    """Find a message and its reply among the turns of a path; None where there is no such pair."""
    pairs = [
        (message, reply)
        for message, reply in pairwise(turns)
        if message.role is Role.USER and reply.role is Role.ASSISTANT
    ]
    if chosen is not None:
        wanted = chosen.position
        return next((pair for pair in pairs if wanted in (turn.position for turn in pair)), None)
    while len(pairs) > 1 and objects(pairs[-1][0].content):
        pairs.pop()
    return pairs[-1] if pairs else None


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


Here = Another | GoTo | Planned | SendAgain | Branched
"""What is done in the conversation on screen."""
Outcome = Here | Source
"""Or turns of another conversation, which is opened there."""


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


class ExchangeHeading(Widget):
    """The message and the reply, a line each."""

    exchange: reactive[Exchange | None] = reactive(None, layout=True)

    def render(self) -> Content:
        return Content(self.text(max(_LEAST_WIDTH, self.size.width)))

    def text(self, width: int) -> str:
        """Write both, cut to so many cells."""
        if self.exchange is None:
            return ""
        turns = (("message", self.exchange.message), ("reply", self.exchange.reply))
        return "\n".join(
            shorten(f"{name} #{turn.position}: {one_line(turn.content[:width])}", width)
            for name, turn in turns
        )


class View(ModalScreen[Outcome | None], DismissedOnce[Outcome | None]):
    """A view of one subject. Closing it without a choice gives None."""

    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (WIDE, "-wide")]  # noqa: RUF012  Textual's own shape
    BINDINGS = [  # noqa: RUF012  Textual's own shape
        Binding("escape,q", "close", "Close", id="view_close"),
        Binding("y", "copy", "Copy", id="view_copy"),
        *bindings_everywhere(),
        *(
            Binding(action.keys, f"another('{name}')", show=False)
            for name, action in VIEWS.items()
            if action.keys
        ),
    ]
    NAME: ClassVar[str] = ""
    """Its title."""
    EXPLAINED: ClassVar[str] = ""
    """What it shows, in one line."""
    FILLS: ClassVar[bool] = False
    """Whether it takes all of a wide terminal."""
    confirms: reactive[bool] = reactive(False, bindings=True)
    """Whether it asks if requests are to be sent: the actions `ask` and `decline` answer that."""

    def __init_subclass__(cls) -> None:
        """A view's own styles, if it has any, are beside it under the name of its module."""
        super().__init_subclass__()
        own = Path(__file__).with_name(f"{cls.__module__.rpartition('.')[2]}.tcss")
        cls.CSS_PATH = ["view.tcss", own.name] if own.is_file() else ["view.tcss"]

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

    def show_elsewhere(self, source: Source) -> None:
        """Show turns of another conversation; Enter there leaves for it."""
        from jitchat.tui.dialogs import exact  # noqa: PLC0415  not on the first frame

        store, positions = self.subject.session.memory.store, list(source.turns)

        def show(turns: list[Turn]) -> None:
            leads_to = source if turns else None
            text = exact.turns_text(turns)
            self.open_over(exact.ExactScreen(source.name, text, leads_to=leads_to))

        self.load(lambda: store.turns_at(source.conversation, positions), show, group="turns")

    def open_over(
        self,
        screen: Screen[Outcome | None] | Screen[SendAgain | None] | Screen[Source | None],
    ) -> None:
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


def mode_keys(given: Mapping[Mode, str]) -> dict[Mode, str]:
    """Give each mode a letter: the given one, else the first of its name that is free."""
    keys: dict[Mode, str] = {}
    for mode in Mode:
        taken = {*given.values(), *keys.values()}
        keys[mode] = given.get(mode) or next(letter for letter in mode if letter not in taken)
    return keys


def mode_bindings(action: str, view: str) -> Iterator[Binding]:
    """Bind a digit and a letter to each mode; `view` begins the ids of the bindings."""
    for number, (mode, letter) in enumerate(mode_keys({}).items(), start=1):
        method, name = f"{action}('{mode}')", mode.short.capitalize()
        yield Binding(f"{number},{letter}", method, name, id=f"{view}_{mode}")


def make_view(name: str, subject: Subject) -> View:
    """Make the view of an action `view('sent_windows')`: `SentWindowsView` in `sent_windows.py`.

    Each is imported when it is opened for the first time.
    """
    return _class_of(name)(subject)


def load_views() -> list[Path]:
    """Import every view, and the lab; the files with their styles. Slow: for a thread."""
    views = Path(__file__).parent
    for name in VIEWS:
        _class_of(name)
    import_module("jitchat.tui.lab.start")
    return [*sorted(views.glob("*.tcss")), *sorted((views.parent / "lab").glob("*.tcss"))]


def _class_of(name: str) -> type[View]:
    class_name = "".join(word.capitalize() for word in name.split("_")) + "View"
    view: type[View] = getattr(import_module(f"jitchat.tui.views.{name}"), class_name)
    return view
