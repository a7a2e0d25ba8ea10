"""The app with the tour on it."""

import time
from collections.abc import Iterable
from functools import partial
from typing import Any

from textual import events, on
from textual.app import SystemCommand
from textual.binding import Binding
from textual.screen import Screen

from jitchat.events import SendFailed
from jitchat.tui.app import JitchatApp
from jitchat.tui.backend import Backend
from jitchat.tui.chat.opening import Indexing, Opening
from jitchat.tui.chat.previews import Previews
from jitchat.tui.chat.screen import ChatScreen
from jitchat.tui.chat.sends import Sends
from jitchat.tui.tour.tour import Tour, TourKey
from jitchat.tui.widgets.prompt import Prompt
from jitchat.values import Conversation

HELD_SECONDS = 0.25
"""Presses that come sooner after one another are of a key that is held, or that bounces."""
_KEYS = (
    (TourKey.NEXT, "space,right,pagedown,enter"),
    (TourKey.BACK, "left,pageup"),
    (TourKey.END, "escape"),
)
"""Presentation clickers send PgDn and PgUp, or arrows, and a few more."""
_COMMANDS = {
    TourKey.NEXT: ("Next step of the tour", "Space, →, PgDn or Enter"),
    TourKey.BACK: ("Step of the tour before", "← or PgUp"),
    TourKey.END: ("End the tour", "The chat stays; Esc"),
}


class TourApp(JitchatApp):
    """jitchat, led through its steps by one key, or by itself."""

    CSS_PATH = ["../app.tcss", "../chat/screen.tcss", "tour.tcss"]  # noqa: RUF012  Textual's own shape
    # They come ahead of what the keys do elsewhere, as long as the tour goes on.
    BINDINGS = [  # noqa: RUF012  Textual's own shape
        Binding(keys, f"tour('{key}')", id=f"tour_{key}", priority=True, show=False)
        for key, keys in _KEYS
    ]

    def __init__(
        self, backend: Backend, conversation: Conversation, pace: float | None = None
    ) -> None:
        """With a `pace` it plays by itself and ends; 2 is twice as slow as reading takes."""
        super().__init__(backend, conversation)
        self.chat = ChatScreen(backend, conversation)
        self.tour = Tour(self, self.chat, pace)
        self._pressed_at = float("-inf")

    def get_default_screen(self) -> ChatScreen:
        return self.chat

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Leave a key to whom it belongs where it is not the tour's."""
        if action != "tour":
            return super().check_action(action, parameters)
        return bool(self.screen_stack) and self.tour.takes(TourKey(str(parameters[0])))

    async def on_event(self, event: events.Event) -> None:
        """Drop what is hit by mistake: an audience waits."""
        if isinstance(event, events.Key) and self.screen_stack and self.tour.drops(event):
            return
        await super().on_event(event)

    def action_tour(self, wanted: str) -> None:
        """Do what a key of the tour is for; one that is held counts once."""
        key, moment = TourKey(wanted), time.monotonic()
        is_held = key is not TourKey.END and moment - self._pressed_at < HELD_SECONDS
        self._pressed_at = moment
        if not is_held:
            self.chat.call_later(self.tour.press, key)

    def get_system_commands(self, screen: Screen[Any]) -> Iterable[SystemCommand]:
        """List those of the chat; while the tour goes on, its keys, too."""
        if self.tour.takes(TourKey.END):
            for key, (title, help_text) in _COMMANDS.items():
                yield SystemCommand(title, help_text, partial(self.action_tour, key.value))
        yield from super().get_system_commands(screen)

    @on(Opening.Shown)
    def _conversation_shown(self, message: Opening.Shown) -> None:
        self.tour.take_opened(message.opening)

    @on(Previews.Planned)
    @on(Indexing.Ended)
    def _planned_or_indexed(self) -> None:
        self.tour.begin()

    @on(Opening.Refused)
    def _session_refused(self, message: Opening.Refused) -> None:
        self.tour.fail(f"the tour cannot begin. {message.error}")

    @on(Prompt.Submitted)
    def _submitted(self) -> None:
        self.tour.focus_bar()

    @on(Sends.Reported)
    def _session_reported(self, message: Sends.Reported) -> None:
        if isinstance(message.event, SendFailed):
            self.tour.take_error(message.event.error)

    @on(Sends.Ended)
    def _send_ended(self, message: Sends.Ended) -> None:
        self.tour.take_error(message.error)

    @on(Sends.PromptFreed)
    def _prompt_freed(self) -> None:
        self.tour.take_answer()
