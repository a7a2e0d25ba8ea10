"""The two levels of the chat: a plain sentence on the window, and the inspector.

The first start has the sentence; from then on, the inspector is as it was left.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

from jitchat.errors import StoreError
from jitchat.store.pins import ScreenState
from jitchat.tui.chat.host import Controller

_NAME, _OPEN, _SHUT = "inspector", "open", "shut"
LESSON = "{inspector} shows why"


@dataclass(eq=False)
class Levels(Controller):
    """Opens and shuts the inspector, and keeps which it was."""

    def begin(self, *, has_room: bool) -> None:
        """Show the inspector as the settings have it, or as it was left, if it has room."""
        left, wanted = "", self.backend.settings.screen.inspector
        with suppress(StoreError):  # as at the first start, then
            left = self._state.get(_NAME)
        self.surfaces.hint.lesson = "" if left else self.keys.tell(LESSON)
        is_open = left == _OPEN if wanted is None else wanted
        self.surfaces.show_inspector(shown=is_open and has_room)

    def show(self, *, shown: bool) -> None:
        """Open or shut it for the user; it counts at the next start, too."""
        self.surfaces.hint.lesson = ""
        self.surfaces.show_inspector(shown=shown)
        self.host.in_thread(lambda: self._keep(_OPEN if shown else _SHUT), "inspector")

    @property
    def _state(self) -> ScreenState:
        return ScreenState(self.backend.store.database)

    def _keep(self, state: str) -> None:
        with suppress(StoreError):  # nothing that the user wrote is lost by that
            self._state.put(_NAME, state)
