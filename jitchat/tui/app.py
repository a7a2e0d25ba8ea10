"""The app: the chat screen, the palette, notices, quitting, and the report of a crash."""

from __future__ import annotations

import asyncio
import sys
import threading
import time
from collections.abc import Iterable
from contextlib import suppress
from functools import partial
from math import inf
from typing import TYPE_CHECKING, Any

from rich.console import RenderableType
from rich.segment import Segments
from rich.text import Text
from textual import constants, events, work
from textual._context import active_message_pump
from textual.app import App, ScreenStackError, SystemCommand
from textual.await_complete import AwaitComplete
from textual.css.query import NoMatches
from textual.dom import NoScreen
from textual.driver import Driver
from textual.filter import LineFilter
from textual.message import Message
from textual.message_pump import MessagePump
from textual.messages import ExitApp
from textual.notifications import Notify, SeverityLevel
from textual.screen import Screen
from textual.theme import Theme, ThemeProvider
from textual.worker import WorkerFailed, get_current_worker

from jitchat import __version__
from jitchat.crash import crash_report, place_of
from jitchat.errors import StoreError
from jitchat.store.database import LOCKED, WAIT_SECONDS, may_wait
from jitchat.store.pins import ScreenState
from jitchat.tui.actions import in_palette, spelled
from jitchat.tui.chat.screen import ChatScreen
from jitchat.tui.dismissed_once import Palette
from jitchat.tui.drawing import SafeCells, palette
from jitchat.tui.key_names import KeyNames
from jitchat.tui.notices import cause_of, notify_error
from jitchat.tui.typed import accept_all_text
from jitchat.tui.widgets.prompt import Prompt
from jitchat.tui.workers import Workers, is_drawn
from jitchat.values import Conversation

if TYPE_CHECKING:
    from jitchat.lab.experiment import RunWanted
    from jitchat.tui.backend import Backend

TWICE_WITHIN = 2.0
"""Seconds within which a second Ctrl+C quits."""
NOTICE_SECONDS = 60
"""How long a notice about the database is shown."""
QUIT_WITHIN = 0.5
"""Seconds that quitting waits for a database to which another program is writing."""

_LATE = (NoScreen, NoMatches, ScreenStackError)
"""What Textual raises where there is no screen, no widget of a kind in it, or no screen left."""


class JitchatApp(App[None]):
    """jitchat in a terminal."""

    TITLE = "jitchat"
    CSS_PATH = ["app.tcss", "chat/screen.tcss"]  # noqa: RUF012  Textual's own shape

    def __init__(
        self, backend: Backend, conversation: Conversation, rot: RunWanted | None = None
    ) -> None:
        """`rot` is the run that the rot lab is opened with; None does not open the lab."""
        super().__init__()
        self._workers = Workers(self)
        accept_all_text()
        self._rot = rot
        self._backend = backend
        self._conversation = conversation
        self._key_names = KeyNames(backend.settings.keys)
        self._safe_cells = SafeCells()
        self._interrupted_at = float("-inf")
        self._is_ready = False
        """Whether the first frame was drawn, which may wait for the database."""
        self._asks_to_quit = False
        """Whether the question is open that warns of losing part of a reply."""
        self._held_notices: list[tuple[str, dict[str, Any]]] = []
        """Each with its keyword arguments for `notify`."""
        self._early: list[events.Event] | None = []
        """Keys pressed before the prompt was ready; None once it is ready."""

    def get_driver_class(self) -> type[Driver]:
        """Return `TerminalDriver`, or Textual's choice on Windows or if TEXTUAL_DRIVER is set."""
        if sys.platform == "win32" or constants.DRIVER is not None:
            return super().get_driver_class()
        from jitchat.tui.driver import TerminalDriver  # noqa: PLC0415  not there on Windows

        return TerminalDriver

    def _display(self, screen: Screen[Any], renderable: RenderableType | None) -> None:
        """Write what a frame changes, once the terminal is ready for it."""
        frames = getattr(self._driver, "frames", None)
        if frames is not None and renderable is not None:
            renderable = frames.next(renderable)
        super()._display(screen, renderable)

    def on_resize(self) -> None:
        """Draw for a terminal that has changed, or is another one, and may not answer for both."""
        if (frames := getattr(self._driver, "frames", None)) is not None:
            frames.proceed()

    def get_line_filters(self) -> list[LineFilter]:
        return [*super().get_line_filters(), self._safe_cells]

    async def on_event(self, event: events.Event) -> None:
        """Route a key as it arrives: queue it until the prompt is ready, or let the chat decide.

        Text typed before the prompt is ready is delivered complete and in order.
        """
        typed = event if isinstance(event, events.Key | events.Paste) else None
        chat = self.screen_stack[-1] if self.screen_stack else None
        if typed is not None and not typed.is_forwarded and isinstance(chat, ChatScreen):
            if self._early is not None:
                self._early.append(typed)
                return
            self.app_focus = True  # restores the focus, on which the routing depends
            if is_drawn(chat) and await chat.routing.takes(typed):
                return
        await super().on_event(event)

    async def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """Give the prompt the keys that were pressed before it was ready."""
        if self._early and isinstance(event.widget, Prompt):
            for early in self._early:  # the list may grow meanwhile
                await super().on_event(early)
        if isinstance(event.widget, Prompt):
            self._early = None

    def get_css_variables(self) -> dict[str, str]:
        variables = super().get_css_variables()
        variables.update(palette(self.current_theme, variables, coloured=not self.no_color))
        return variables

    def on_load(self) -> None:
        """Keep the database off this thread; every task of the app inherits that."""
        here = threading.get_ident()
        may_wait.set(lambda: threading.get_ident() != here or not self._is_ready)

    def on_mount(self) -> None:
        warn = partial(self.notify, severity="warning", timeout=NOTICE_SECONDS, markup=False)
        database = self._backend.store.database
        database.on_notice = partial(self.call_later, warn)
        # not as a message: the app may be waiting in a handler
        call = asyncio.get_running_loop().call_soon_threadsafe
        database.on_wait = lambda sentence: call(self._show_wait, bool(sentence))
        settings = self._backend.settings
        theme = self._picked_theme() or settings.screen.theme
        if theme in self.available_themes:
            self.theme = theme
        else:
            self.notify(
                f"There is no theme {theme!r}; the palette lists all themes.",
                severity="warning",
                markup=False,
            )
        self.theme_changed_signal.subscribe(self, self._keep_theme)
        self.set_keymap(self._key_names.keymap())
        # Textual does not redraw after SIGCONT.
        self.app_resume_signal.subscribe(self, lambda _: self.refresh(layout=True))

    def _show_wait(self, waits: bool) -> None:
        """Say that the database is locked, for as long as that lasts."""
        if waits:
            self.notify(LOCKED, timeout=WAIT_SECONDS, markup=False)
        for screen in () if waits else self.screen_stack:
            if isinstance(screen, ChatScreen):
                screen.host.end_notices((LOCKED,))

    def _picked_theme(self) -> str:
        """Return the theme chosen in the palette; empty if the settings name one."""
        picked = ""
        if self._backend.settings.origin("screen.theme") == "default":
            with suppress(StoreError):  # the default will do
                picked = ScreenState(self._backend.store.database).get("theme")
        return picked if picked in self.available_themes else ""

    def _keep_theme(self, theme: Theme) -> None:
        """Store a chosen theme for the next start, unless the settings name one."""
        origin = self._backend.settings.origin("screen.theme")
        if origin != "default":
            named = self._backend.settings.screen.theme
            if theme.name != named:
                self.notify(f"{origin} sets {named}, which the next start will use.", markup=False)
            return
        self._put_theme(theme.name)

    @work(group="theme")
    async def _put_theme(self, name: str) -> None:
        state = ScreenState(self._backend.store.database)
        try:
            await asyncio.to_thread(state.put, "theme", name)
        except StoreError as error:
            notify_error(self.screen, error)

    async def on_ready(self) -> None:
        """From the first frame on, keep the database off the loop; open the lab if requested."""
        self._is_ready = True
        if self._rot is not None and isinstance(self.screen, ChatScreen):
            await self.screen.views.open_lab(self._rot)

    def get_default_screen(self) -> ChatScreen:
        """Make the chat the first screen; a blank one below it would be laid out and drawn too."""
        return ChatScreen(self._backend, self._conversation)

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """Yield the chat's actions, or the keys of another screen, and Textual's own commands."""
        if isinstance(screen, ChatScreen):
            for action in in_palette():
                spelt = self._key_names.spell_all(action.id)
                keys = f" ({spelt})" if spelt else ""
                run = partial(screen.run_action, action.run)
                yield SystemCommand(action.title, f"{action.help}{keys}", run)
        elif name := getattr(screen, "NAME", ""):
            for node, binding, enabled, _ in screen.active_bindings.values():
                if binding.show and binding.description and enabled:
                    press = partial(self.run_action, binding.action, node)
                    yield SystemCommand(
                        binding.description, f"{name} ({spelled(binding.key)})", press
                    )
        yield from super().get_system_commands(screen)

    def notify(
        self,
        message: str,
        *,
        title: str = "",
        severity: SeverityLevel = "information",
        timeout: float | None = None,
        markup: bool = True,
    ) -> None:
        """Show a notice in the chat's last line if it fits and is no error; else over the screen.

        Only one notice is shown at a time, except that warnings and errors over the screen stay
        until they expire or are repeated. While the help is open, all notices are held back.
        """
        options: dict[str, Any] = {"title": title, "severity": severity}
        options |= {"timeout": timeout, "markup": markup}
        if any(getattr(screen, "HOLDS_NOTICES", False) for screen in self.screen_stack):
            self._held_notices.append((message, options))
            return
        if severity != "error" and isinstance(self.screen, ChatScreen):
            seconds = self.NOTIFICATION_TIMEOUT if timeout is None else timeout
            hint, warns = self.screen.surfaces.hint, severity == "warning"
            if hint.show_notice(message, seconds, warns=warns):
                return
        super().notify(message, **options)

    def on_notify(self, event: Notify) -> None:
        """Remove the notices that this one replaces, before Textual shows it."""
        new = event.notification
        for old in list(self._notifications):
            is_same = cause_of(old.message) == cause_of(new.message)
            if is_same or new.severity == old.severity == "information":
                self._unnotify(old, refresh=False)

    def action_command_palette(self) -> None:
        if not isinstance(self.screen, Palette):
            self.push_screen(Palette(id="--command-palette"))

    def search_themes(self) -> None:
        self.push_screen(Palette(providers=[ThemeProvider], placeholder="Search for themes…"))

    def pop_screen(self) -> AwaitComplete:
        """Close the top screen and show the notices that were held back while it was open."""
        popped = super().pop_screen()
        notices, self._held_notices = self._held_notices, []
        for message, options in notices:
            self.notify(message, **options)
        return popped

    async def action_quit(self) -> None:
        """Quit; ask first if part of a reply would be lost."""
        if self._backend.store.unstored and not self._asks_to_quit:
            self._store_and_quit()
        else:
            self.exit()

    @work(exclusive=True, group="quit")
    async def _store_and_quit(self) -> None:
        unstored = self._backend.store.unstored
        with suppress(StoreError):  # there is no room yet
            await asyncio.to_thread(unstored.store_again)
        if rests := unstored.rests:
            from jitchat.tui.dialogs.leaving import LeavingScreen  # noqa: PLC0415  rarely needed

            self._asks_to_quit = True
            self.push_screen(LeavingScreen(rests), self._leave)
        else:
            self.exit()

    def _leave(self, quits: bool | None) -> None:
        self._asks_to_quit = False
        if quits:
            self.exit()
        else:
            self._backend.store.database.wait_at_most(inf)

    def post_message(self, message: Message) -> bool:
        """Limit what the key that quits would wait for, because the app handles keys in order."""
        is_key = isinstance(message, events.Key) and message.key in self._key_names.all_of("quit")
        if is_key or isinstance(message, ExitApp):
            self._backend.store.database.wait_at_most(QUIT_WITHIN)
        return super().post_message(message)

    async def _shutdown(self) -> None:
        """Quit soon after a signal, too, and let no worker draw what is being removed.

        The workers of the chat store what they have.
        """
        database = self._backend.store.database
        database.wait_at_most(QUIT_WITHIN)
        for worker in self.workers:
            if not isinstance(worker.node, ChatScreen):
                worker.cancel()
        await super()._shutdown()
        database.on_wait = lambda _: None

    def action_help(self) -> None:
        from jitchat.tui.dialogs.help import HelpScreen  # noqa: PLC0415  not on the first frame

        self.push_screen(HelpScreen(self._backend.hint(), self._key_names))

    def action_help_quit(self) -> None:
        """Handle Ctrl+C: stop the reply or clear the prompt; twice in two seconds, quit."""
        moment = time.monotonic()
        chat = self.screen if isinstance(self.screen, ChatScreen) else None
        if chat is not None and not chat.busy and (notice := chat.branches.empty_prompt()):
            self.notify(notice, markup=False)
            return
        if moment - self._interrupted_at < TWICE_WITHIN:
            self.call_later(self.action_quit)
            return
        self._interrupted_at = moment
        if chat is not None and chat.busy:
            chat.action_cancel()
        saved = "" if self._backend.store.unstored else " Everything is saved."
        self.notify(f"Press Ctrl+C again to quit.{saved}", timeout=2, markup=False)

    def _handle_exception(self, error: Exception) -> None:
        """Drop an error of drawing what is gone: a handler or a worker was late."""
        node: MessagePump = active_message_pump.get()
        cause: BaseException = error
        if isinstance(error, WorkerFailed):
            node = get_current_worker().node
            cause = error.error
        if is_drawn(node) or not isinstance(cause, _LATE):
            super()._handle_exception(error)

    def _fatal_error(self) -> None:
        """Replace Textual's traceback, whose local variables contain the user's texts and keys."""
        if self._exit_renderables:
            return  # caused by the first error
        error = sys.exc_info()[1]
        secrets = self._backend.settings.secrets()
        report = crash_report(error, __version__, secrets) if error else "no error\n"
        where = place_of(self._backend.crash, report)
        text = Text(
            f"jitchat stopped because of a bug ({type(error).__name__}). Your turns are saved."
            f"{where}"
        )
        self._exit_renderables.append(Segments(self.console.render(text, self.console.options)))
        self._close_messages_no_wait()
