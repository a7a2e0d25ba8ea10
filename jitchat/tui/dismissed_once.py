"""A screen that is dismissed only once: the second key of a burst must not close another screen."""

from textual.await_complete import AwaitComplete
from textual.screen import Screen, ScreenResultType


class DismissedOnce(Screen[ScreenResultType]):
    """Base class, listed after `ModalScreen`, which has the styles."""

    _is_dismissed = False

    def dismiss(self, result: ScreenResultType | None = None) -> AwaitComplete:
        """Dismiss the screen once; Textual would pop whatever screen is on top at every call."""
        if self._is_dismissed:
            return AwaitComplete()
        self._is_dismissed = True
        return super().dismiss(result)
