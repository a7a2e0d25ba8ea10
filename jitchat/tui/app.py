"""The app: one chat screen, the palette, and what happens when a defect stops it."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING

from rich.segment import Segments
from rich.text import Text
from textual.app import App, SystemCommand
from textual.await_complete import AwaitComplete
from textual.notifications import SeverityLevel
from textual.screen import Screen

from jitchat import __version__
from jitchat.crash import crash_report, place_of
from jitchat.tui.backend import Backend
from jitchat.tui.keys import ACTIONS, MODES
from jitchat.tui.palette import palette
from jitchat.tui.screens.chat import ChatScreen
from jitchat.tui.widgets.hint_line import HintLine
from jitchat.tui.widgets.prompt import Prompt
from jitchat.turn import Conversation

if TYPE_CHECKING:
    from jitchat.rot.experiment import RunWanted

TWICE_WITHIN = 2.0
"""Seconds in which a second Ctrl+C quits."""


class JitchatApp(App[None]):
    """jitchat in a terminal."""

    TITLE = "jitchat"
    CSS_PATH = ["app.tcss", "screens/chat.tcss"]  # noqa: RUF012  Textual's own shape

    def __init__(
        self, backend: Backend, conversation: Conversation, rot: RunWanted | None = None
    ) -> None:
        """`rot` is what the rot lab is opened with; None: it is not."""
        super().__init__()
        self._rot = rot
        self._backend = backend
        self._conversation = conversation
        self._interrupted_at = float("-inf")
        self._held: list[Callable[[], None]] = []
        """What is to be told once nothing is read that it would cover."""

    def get_css_variables(self) -> dict[str, str]:
        """Textual's, with those in place that are made to be read."""
        variables = super().get_css_variables()
        variables.update(palette(self.current_theme, variables, coloured=not self.no_color))
        return variables

    def on_mount(self) -> None:
        """Theme and keys as set."""
        settings = self._backend.settings
        if settings.screen.theme in self.available_themes:
            self.theme = settings.screen.theme
        else:
            self.notify(
                f"There is no theme {settings.screen.theme!r}; the palette lists them all.",
                severity="warning",
                markup=False,
            )
        self.set_keymap(dict(settings.keys))

    def on_ready(self) -> None:
        """Open the lab, where it was asked for."""
        if self._rot is not None and isinstance(self.screen, ChatScreen):
            self.screen.open_lab(self._rot)

    def get_default_screen(self) -> ChatScreen:
        """The chat is the first screen; a blank one below it would be laid out and drawn too."""
        return ChatScreen(self._backend, self._conversation)

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """Every action of the chat, and Textual's own."""
        if isinstance(screen, ChatScreen):
            for action in (*ACTIONS, *MODES):
                if action.id not in ("palette", "pane", "quit"):
                    keys = f" ({action.keys})" if action.keys else ""
                    yield SystemCommand(
                        action.title,
                        f"{action.help}{keys}",
                        partial(screen.run_action, action.method),
                    )
        elif name := getattr(screen, "NAME", ""):
            yield from self._key_commands(screen, name)
        yield from super().get_system_commands(screen)

    def _key_commands(self, screen: Screen[object], name: str) -> Iterable[SystemCommand]:
        """List what the keys of a screen do, and those of what has the focus there."""
        for node, binding, enabled, _ in screen.active_bindings.values():
            if binding.show and binding.description and enabled:
                action = partial(self.run_action, binding.action, node)
                yield SystemCommand(binding.description, f"{name} ({binding.key})", action)

    def notify(
        self,
        message: str,
        *,
        title: str = "",
        severity: SeverityLevel = "information",
        timeout: float | None = None,
        markup: bool = True,
    ) -> None:
        """Tell it; while the help is read, once that is closed."""
        told = partial(
            self._tell,
            message,
            title=title,
            severity=severity,
            timeout=timeout,
            markup=markup,
        )
        self._held.append(told)
        self._tell_held()

    def _tell(
        self,
        message: str,
        *,
        title: str,
        severity: SeverityLevel,
        timeout: float | None,
        markup: bool,
    ) -> None:
        """In the chat's last line what is short; else over the screen, one at a time.

        Warnings and errors stay over the screen until they were read.
        """
        if severity == "information":
            seconds = self.NOTIFICATION_TIMEOUT if timeout is None else timeout
            hint = self.screen.query(HintLine)
            if isinstance(self.screen, ChatScreen) and hint.first().show_notice(message, seconds):
                return
            for each in [each for each in self._notifications if each.severity == severity]:
                self._unnotify(each, refresh=False)
        super().notify(message, title=title, severity=severity, timeout=timeout, markup=markup)

    def pop_screen(self) -> AwaitComplete:
        """Close the screen on top, and tell what was held back while it was read."""
        popped = super().pop_screen()
        self._tell_held()
        return popped

    def _tell_held(self) -> None:
        if any(getattr(each, "HOLDS_NOTICES", False) for each in self.screen_stack):
            return
        held, self._held = self._held, []
        for told in held:
            told()

    def action_help_quit(self) -> None:
        """Ctrl+C: stop a reply, or empty the prompt; twice in two seconds: quit."""
        moment = time.monotonic()
        chat = self.screen if isinstance(self.screen, ChatScreen) else None
        if chat is not None and not chat.busy and chat.query_one(Prompt).empty():
            self.notify("Prompt cleared. Ctrl+Z restores it.", markup=False)
            return
        if moment - self._interrupted_at < TWICE_WITHIN:
            self.exit()
            return
        self._interrupted_at = moment
        if chat is not None and chat.busy:
            chat.action_cancel()
        self.notify("Press Ctrl+C again to quit. Everything is saved.", timeout=2, markup=False)

    def _fatal_error(self) -> None:
        """In place of Textual's traceback, whose locals hold the user's texts and keys."""
        if self._exit_renderables:
            return  # a defect that only followed from the first
        error = sys.exc_info()[1]
        secrets = self._backend.settings.secrets()
        report = crash_report(error, __version__, secrets) if error else "no error\n"
        where = place_of(self._backend.crash, report)
        told = Text(
            f"jitchat: a defect stopped it ({type(error).__name__}). Your turns are stored.{where}"
        )
        self._exit_renderables.append(Segments(self.console.render(told, self.console.options)))
        self._close_messages_no_wait()
