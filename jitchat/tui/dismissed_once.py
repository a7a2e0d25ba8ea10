"""A screen that is dismissed only once: the second key of a burst must not close another screen."""

from textual import on
from textual.await_complete import AwaitComplete
from textual.command import CommandPalette
from textual.message import Message
from textual.screen import Screen, ScreenResultType
from textual.widgets import Input, OptionList


class DismissedOnce(Screen[ScreenResultType]):
    """Base class, listed after `ModalScreen`, which has the styles."""

    _is_dismissed = False

    def dismiss(self, result: ScreenResultType | None = None) -> AwaitComplete:
        """Dismiss the screen once; Textual would pop whatever screen is on top at every call."""
        if self._is_dismissed:
            return AwaitComplete()
        self._is_dismissed = True
        return super().dismiss(result)


class Palette(CommandPalette, DismissedOnce[None]):
    """Textual's palette; of commands that are chosen in one burst, it runs the first."""

    @on(Input.Submitted)
    @on(OptionList.OptionSelected)
    def _choose_once(self, message: Message) -> None:
        if self._is_dismissed:
            message.prevent_default()
