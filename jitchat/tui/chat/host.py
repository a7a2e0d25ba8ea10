"""What a controller asks of the screen that it belongs to: workers, timers, messages, notices."""

from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

from textual.message import Message
from textual.screen import Screen
from textual.timer import Timer
from textual.widget import Widget
from textual.worker import Worker

from jitchat.errors import JitchatError
from jitchat.tui.notices import READ_SECONDS, notify_error


class Host:
    """A screen, as far as controllers know it; a test has another one, without a terminal."""

    def __init__(self, screen: Screen[Any]) -> None:
        self._screen = screen

    def post(self, message: Message) -> None:
        """Hand a message to the screen's handlers; from any thread."""
        self._screen.post_message(message)

    def in_thread(
        self, work: Callable[[], None], group: str, *, exclusive: bool = False
    ) -> Worker[None]:
        """Run what waits for disk or CPU; `exclusive` cancels what runs in the group."""
        return self._screen.run_worker(work, thread=True, group=group, exclusive=exclusive)

    def run(
        self, work: Coroutine[Any, Any, None], group: str, *, exclusive: bool = False
    ) -> Worker[None]:
        """Run a coroutine beside the handlers; `exclusive` cancels what runs in the group."""
        return self._screen.run_worker(work, group=group, exclusive=exclusive)

    def cancel(self, *groups: str) -> None:
        """Cancel the workers of some groups; a thread that was begun goes on unheard."""
        for group in groups:
            self._screen.workers.cancel_group(self._screen, group)

    def after(self, seconds: float, call: Callable[[], Any]) -> Timer:
        return self._screen.set_timer(seconds, call)

    def every(self, seconds: float, call: Callable[[], Any]) -> Timer:
        return self._screen.set_interval(seconds, call)

    def later(self, call: Callable[..., Any], *arguments: object) -> None:
        """Call once the messages that wait are handled."""
        self._screen.call_later(call, *arguments)

    def after_frame(self, call: Callable[[], Any]) -> None:
        """Call once the screen is drawn."""
        self._screen.call_after_refresh(call)

    def from_thread(self, call: Callable[..., Any], *arguments: object) -> None:
        """Call in the event loop, from a thread, and wait for that."""
        self._screen.app.call_from_thread(call, *arguments)

    def say(self, sentence: str, *, seconds: float | None = None) -> None:
        self._screen.notify(sentence, timeout=seconds, markup=False)

    def warn(self, sentence: str, *, seconds: float = READ_SECONDS) -> None:
        self._screen.notify(sentence, severity="warning", timeout=seconds, markup=False)

    def tell(self, error: JitchatError) -> None:
        """Say what happened and what to do."""
        notify_error(self._screen, error)

    def focus(self, widget: Widget) -> None:
        self._screen.set_focus(widget)

    def read_styles(self, file: Path) -> None:
        """Parse a style sheet, unless that is done; what is on screen has none of it."""
        sheet = self._screen.app.stylesheet
        if not sheet.has_source(str(file)):
            sheet.read(file)
            sheet.parse()

    def push(self, screen: Screen[Any], left: Callable[[Any], Any] | None = None) -> None:
        """Open another screen on top; `left` is called with what it is left for."""
        self._screen.app.push_screen(screen, left)
