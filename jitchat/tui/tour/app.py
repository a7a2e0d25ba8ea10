"""The app with the tour on it."""

import time
from collections.abc import Iterable

from textual import events
from textual.app import SystemCommand
from textual.screen import Screen

from jitchat.tui.app import JitchatApp
from jitchat.tui.backend import Backend
from jitchat.tui.tour.keys import TourKey, TourKeyPressed, bindings
from jitchat.tui.tour.screen import TourScreen
from jitchat.values import Conversation

HELD_SECONDS = 0.25
"""Presses that come sooner after one another are of a key that is held, or that bounces."""
_COMMANDS = {
    TourKey.NEXT: ("Next step of the tour", "Space, →, PgDn or Enter"),
    TourKey.BACK: ("Step of the tour before", "← or PgUp"),
    TourKey.END: ("End the tour", "The chat stays; Esc"),
}


class TourApp(JitchatApp):
    """jitchat, led through its steps by one key, or by itself."""

    CSS_PATH = ["../app.tcss", "../screens/chat.tcss", "tour.tcss"]  # noqa: RUF012  Textual's own shape
    BINDINGS = bindings()

    def __init__(
        self, backend: Backend, conversation: Conversation, pace: float | None = None
    ) -> None:
        """With a `pace` it plays by itself and ends; 2 is twice as slow as reading takes."""
        super().__init__(backend, conversation)
        self._pace = pace
        self._pressed_at = float("-inf")

    def get_default_screen(self) -> TourScreen:
        """The chat that is led."""
        return TourScreen(self._backend, self._conversation, self._pace)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Leave a key to whom it belongs where it is not the tour's."""
        if action != "tour":
            return super().check_action(action, parameters)
        return self._chat is not None and self._chat.takes(TourKey(str(parameters[0])))

    async def on_event(self, event: events.Event) -> None:
        """What is hit by mistake does nothing: an audience waits."""
        if isinstance(event, events.Key) and self._chat is not None and self._chat.drops(event):
            return
        await super().on_event(event)

    def action_tour(self, wanted: str) -> None:
        """Do what a key of the tour is for; one that is held counts once."""
        key, moment = TourKey(wanted), time.monotonic()
        is_held = key is not TourKey.END and moment - self._pressed_at < HELD_SECONDS
        self._pressed_at = moment
        if self._chat is not None and not is_held:
            self._chat.post_message(TourKeyPressed(key))

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """Those of the chat; while the tour goes on, its keys, too."""
        if self._chat is not None and self._chat.takes(TourKey.END):
            for key, (title, told) in _COMMANDS.items():
                yield SystemCommand(title, told, lambda key=key: self.action_tour(key.value))
        yield from super().get_system_commands(screen)

    @property
    def _chat(self) -> TourScreen | None:
        return next((each for each in self.screen_stack if isinstance(each, TourScreen)), None)
