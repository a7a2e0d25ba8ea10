"""The two levels of detail in the chat: a sentence on the window, or the inspector.

The first start shows the sentence; later starts show the inspector as the user left it.
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
    """Shows and hides the inspector, and remembers which."""

    def begin(self, *, has_room: bool) -> None:
        """Show the inspector, if there is room, as set in the settings or as the user left it."""
        left, wanted = "", self.backend.settings.screen.inspector
        with suppress(StoreError):  # then as at the first start
            left = self._state.get(_NAME)
        self.surfaces.hint.lesson = "" if left else self.keys.tell(LESSON)
        is_open = left == _OPEN if wanted is None else wanted
        self.surfaces.show_inspector(shown=is_open and has_room)

    def show(self, *, shown: bool) -> None:
        """Show or hide the inspector for the user, and remember this for the next start."""
        self.surfaces.hint.lesson = ""
        self.surfaces.show_inspector(shown=shown)
        self.host.in_thread(lambda: self._keep(_OPEN if shown else _SHUT), "inspector")

    @property
    def _state(self) -> ScreenState:
        return ScreenState(self.backend.store.database)

    def _keep(self, state: str) -> None:
        with suppress(StoreError):  # nothing that the user wrote is lost
            self._state.put(_NAME, state)
