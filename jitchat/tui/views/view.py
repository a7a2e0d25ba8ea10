"""The base of all views: their subject, and their frame with a title, one line, a body and keys.

On a wide terminal a view leaves room for the transcript next to it, unless it needs the full width;
on a narrow one it fills the screen. Opening a view changes nothing.
"""

from __future__ import annotations

import asyncio
import threading
from collections import defaultdict
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from pathlib import Path
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
from jitchat.replay import window_of
from jitchat.statements import Source
from jitchat.store.database import waiting
from jitchat.store.windows import WindowArchive
from jitchat.text.sanitize import one_line
from jitchat.text.stance import objects
from jitchat.tui.actions import VIEWS, bindings_everywhere
from jitchat.tui.chat.steering import PinHistory
from jitchat.tui.dismissed_once import DismissedOnce
from jitchat.tui.drawing import Content
from jitchat.tui.notices import notify_error
from jitchat.tui.widgets.hint_line import KeyLine
from jitchat.tui.widgets.input_lines import EditLine
from jitchat.tui.workers import is_drawn
from jitchat.values import Mode, Role, Status, Turn
from jitchat.window.exchange import question_at
from jitchat.window.steering import NO_MORE, Once
from jitchat.window.window import ContextWindow

if TYPE_CHECKING:
    from jitchat.session import Session
    from jitchat.tui.backend import Backend

_Result = TypeVar("_Result")
Body = Iterable[Widget]
WIDE = 150
"""Terminal columns from which a view is shown next to the transcript."""


_EXCERPT = 400
"""Maximum characters of a message or reply in a heading."""
NO_REPLY = "There is no reply here yet. Send a message, or press Tab and select a reply."
STREAMING = "The reply is still being written. Open this view again when it is complete."


@dataclass(frozen=True, slots=True)
class Exchange:
    """A user message and one reply to it."""

    message: Turn
    reply: Turn
    window_id: int | None = None
    """The archive's id of the window; None if the reply was not sent here, such as an import."""
    window: ContextWindow | None = None
    """The window as sent; None if the reply was not sent here."""


@dataclass(frozen=True, slots=True)
class Subject:
    """The state of the chat when the view was opened."""

    backend: Backend
    session: Session
    draft: str
    """The text in the prompt."""
    mode: Mode
    """The mode in which the draft would be sent."""
    once: Once = NO_MORE
    """Steering for this draft only."""
    window: ContextWindow | None = None
    """The window on screen; None if none can be planned or one is being planned."""
    sent: Turn | None = None
    """The user's turn for which that window was sent; None if it has not been sent."""
    chosen: Turn | None = None
    """The turn under the transcript's cursor; None if there is no cursor."""
    is_busy: Callable[[], bool] = lambda: False
    """Whether a reply is currently being written."""
    pins: PinHistory = field(default_factory=PinHistory)
    """The chat's pins: changes made in a view can be undone in the chat."""
    explained: str = ""
    """The id of the turn that the ledger explains initially; empty for none."""

    @property
    def question(self) -> tuple[str, Once]:
        """The message shown, with its steering: the sent one, otherwise the draft.

        A message that was sent but not answered is asked like any other.
        """
        if self.sent is None:
            return self.draft, self.once
        with waiting():
            sent = self.session.memory.turn_at(self.sent.position) or self.sent
        if sent.status is Status.UNANSWERED:
            return sent.content, NO_MORE
        return sent.content, Once(again=sent)

    def exchange(self) -> Exchange | None:
        """Find the reply under the cursor, or to the message there; otherwise the last reply.

        If the last message only says that the previous reply was wrong, that reply is meant. Slow:
        reads the window.

        Raises StoreError if the store or the window is unreadable.
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
    """Find a message and its reply among the turns of a path; None if there is no such pair."""
    pairs = list[tuple[Turn, Turn]]()
    for index, turn in enumerate(turns):
        is_later_step = index > 0 and turns[index - 1].use.answers is not None
        message = question_at(turns, index)
        if turn.role is Role.ASSISTANT and message is not None and not is_later_step:
            pairs.append((message, turn))
    if chosen is not None:
        wanted = chosen.position
        return next((pair for pair in pairs if wanted in (turn.position for turn in pair)), None)
    while len(pairs) > 1 and objects(pairs[-1][0].content):
        pairs.pop()
    return pairs[-1] if pairs else None


@dataclass(frozen=True, slots=True)
class GoTo:
    """Show a turn in the transcript without changing the branch."""

    position: int
    planned: Planned | None = None
    """Re-plan the next window as well; None if not needed."""


@dataclass(frozen=True, slots=True)
class Planned:
    """The next window must be re-planned, with the given values if there are any."""

    once: Once | None = None
    mode: Mode | None = None
    size: int | None = None
    """Of the conversation's windows from now on, in tokens."""


@dataclass(frozen=True, slots=True)
class SendAgain:
    """Answer a user's turn again, as a fork."""

    said: Turn
    mode: Mode
    once: Once


@dataclass(frozen=True, slots=True)
class Branched:
    """The conversation has new turns or switched to another branch."""

    position: int
    """The turn to show."""
    clears_draft: bool = False
    """Whether the draft became a turn."""


@dataclass(frozen=True, slots=True)
class Another:
    view: str
    planned: Planned | None = None
    """Re-plan the next window first; None if not needed."""


Here = Another | GoTo | Planned | SendAgain | Branched
"""What the chat does after a view is closed."""
Outcome = Here | Source
"""Also turns of another conversation, which is opened."""


class LatestRead:
    """Runs slow reads in a thread, one at a time; of waiting reads, only the last one runs."""

    def __init__(self, can_show: Callable[[], bool] = lambda: True) -> None:
        """`can_show` returns whether there still is a place for the result."""
        self._running, self._can_show = asyncio.Lock(), can_show
        self._wanted = self._shown = 0

    @property
    def is_pending(self) -> bool:
        """Whether the last requested read is not shown yet."""
        return self._shown != self._wanted

    def run(
        self,
        read: Callable[[], _Result],
        show: Callable[[_Result], None],
        refuse: Callable[[JitchatError], None],
    ) -> Coroutine[None, None, None]:
        """Read, then show the result or the JitchatError, unless it is outdated by then."""
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
            if number == self._wanted and self._can_show():
                self._shown = number
                outcome()

        return run()


class Note(Static):
    """Text shown verbatim, without markup."""

    def __init__(self, name: str | None = None, classes: str | None = None, text: str = "") -> None:
        super().__init__(Content(text), id=name, classes=classes, markup=False)

    def show(self, text: str) -> None:
        """Show a text; an empty text takes no line."""
        self.update(Content(text))
        self.display = bool(text)


def exchange_text(exchange: Exchange) -> str:
    """Write the message and the reply, one line each."""
    return "\n".join(
        f"{name} #{turn.position}: {one_line(turn.content[:_EXCERPT])}"
        for name, turn in (("message", exchange.message), ("reply", exchange.reply))
    )


class View(ModalScreen[Outcome | None], DismissedOnce[Outcome | None]):
    """A view of one subject. Closing it without a choice returns None."""

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
    """What the view shows, in one line."""
    FILLS: ClassVar[bool] = False
    """Whether it uses the full width of a wide terminal."""
    confirms: reactive[bool] = reactive(False, bindings=True)
    """Whether it confirms requests first, with the actions `ask` and `decline`."""

    def __init_subclass__(cls) -> None:
        """A view has the title of its action; its own styles are in the .tcss file of its name."""
        super().__init_subclass__()
        name = cls.__module__.rpartition(".")[2]
        if name in VIEWS:
            cls.NAME = VIEWS[name].title
        own = Path(__file__).with_name(f"{name}.tcss")
        cls.CSS_PATH = ["view.tcss", own.name] if own.is_file() else ["view.tcss"]

    def __init__(self, subject: Subject) -> None:
        super().__init__(classes="view -fills" if self.FILLS else "view")
        self.subject = subject
        self.frame = Vertical(id="view-frame")
        self.box = Vertical(id="view-body")
        self._nothing = Note("view-nothing")
        self._reads: dict[str, LatestRead] = defaultdict(
            lambda: LatestRead(partial(is_drawn, self))
        )
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
        """Return the widgets between the explanation and the keys, from top to bottom."""
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
        """Read in a thread, then show the result, or a JitchatError in place of the body.

        Of the reads in a group, only the last one requested is shown.
        """
        refuse = refuse or (lambda error: self.show_nothing(str(error)))
        self.run_worker(self._reads[group].run(read, show, refuse), group=group)

    def is_loading(self, group: str = "load") -> bool:
        """Whether the last requested read of a group is not shown yet."""
        return self._reads[group].is_pending

    def write(self, change: Callable[[], _Result], show: Callable[[_Result], None]) -> Worker[None]:
        """Change the store in a thread; changes are made in order, even after the view is closed.

        A JitchatError is shown.
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
                if is_drawn(self):
                    show(result)

        return self.run_worker(run(), group="write")

    def show_nothing(self, why: str, *, hides: bool = True) -> None:
        """Show why there is nothing to show, and what to do; an empty text restores the body.

        With `hides`, the body is hidden.
        """
        self._nothing.show(why)
        self.box.display = not (why and hides)

    def say(self, text: str) -> None:
        self.notify(text, markup=False)

    def is_free(self) -> bool:
        """Whether no reply is being written; otherwise a notice says so."""
        if self.subject.is_busy():
            self.say("A reply is being written. Ask again when it is complete.")
        return not self.subject.is_busy()

    def open_source(self, source: Source) -> None:
        """Show turns in the transcript, or here if they are of another conversation."""
        if source.conversation == self.subject.session.memory.conversation.id:
            self.dismiss(GoTo(source.first, self.planned))
        else:
            self.show_elsewhere(source)

    def show_elsewhere(self, source: Source) -> None:
        """Show turns of another conversation; Enter opens that conversation."""
        from jitchat.tui.dialogs import exact  # noqa: PLC0415  not on the first frame

        store, positions = self.subject.session.memory.store, list(source.turns)

        def show(turns: list[Turn]) -> None:
            leads_to = source if turns else None
            text = exact.turns_text(turns)
            self.open_over(exact.ExactScreen(source.name, text, leads_to=leads_to))

        self.load(lambda: store.turns_at(source.conversation, positions), show, group="turns")

    def open_over(
        self, screen: Screen[Outcome | None] | Screen[SendAgain | None] | Screen[Source | None]
    ) -> None:
        """Open a screen over this view, and close the view with what is chosen there."""

        def follow(outcome: Outcome | None) -> None:
            if outcome is not None:
                self.dismiss(outcome)

        self.app.push_screen(screen, follow)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Enter answers a pending question; otherwise it has another binding."""
        if action in ("ask", "decline"):
            return self.confirms
        return not self.confirms if action == "go_on" else super().check_action(action, parameters)

    def action_decline(self) -> None:
        self.dismiss(None)

    @property
    def planned(self) -> Planned | None:
        """How the next window must be planned again after the view; None if it need not be."""
        return None

    def action_close(self) -> None:
        """Cancel editing, or close the view."""
        if not any(line.close() for line in self.query(EditLine)):
            self.dismiss(self.planned)

    def action_another(self, name: str) -> None:
        self.dismiss(Another(name))

    def action_copy(self) -> None:
        self.app.copy_to_clipboard(self.copyable())
        self.say("Copied.")


def mode_keys(given: Mapping[Mode, str]) -> dict[Mode, str]:
    """Assign each mode a letter: the given one, or the first free letter of its name."""
    keys: dict[Mode, str] = {}
    for mode in Mode:
        taken = {*given.values(), *keys.values()}
        keys[mode] = given.get(mode) or next(letter for letter in mode if letter not in taken)
    return keys


def mode_bindings(action: str, view: str) -> Iterator[Binding]:
    """Bind a digit and a letter to each mode; the bindings' ids start with `view`."""
    for number, (mode, letter) in enumerate(mode_keys({}).items(), start=1):
        method, name = f"{action}('{mode}')", mode.short.capitalize()
        yield Binding(f"{number},{letter}", method, name, id=f"{view}_{mode}")


def make_view(name: str, subject: Subject) -> View:
    """Make a view by its name: `sent_windows` is `SentWindowsView` in `sent_windows.py`.

    A view is imported when it is opened for the first time.
    """
    return _class_of(name)(subject)


def load_views() -> list[Path]:
    """Import all views and the lab, and read their style files. Slow: call in a thread."""
    views = Path(__file__).parent
    for name in VIEWS:
        _class_of(name)
    import_module("jitchat.tui.lab.start")
    return [*sorted(views.glob("*.tcss")), *sorted((views.parent / "lab").glob("*.tcss"))]


def _class_of(name: str) -> type[View]:
    class_name = "".join(word.capitalize() for word in name.split("_")) + "View"
    view: type[View] = getattr(import_module(f"jitchat.tui.views.{name}"), class_name)
    return view
