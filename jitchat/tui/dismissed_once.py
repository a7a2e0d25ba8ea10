"""A screen that is dismissed once: a second key of a burst leaves no other screen with it."""

from textual.await_complete import AwaitComplete
from textual.screen import Screen, ScreenResultType


class DismissedOnce(Screen[ScreenResultType]):
    """Stands behind `ModalScreen` among the bases of a class, which has the styles."""

    _is_dismissed = False

    def dismiss(self, result: ScreenResultType | None = None) -> AwaitComplete:
        """Leave it; Textual would pop whatever is on top, each time that it is called."""
        if self._is_dismissed:
            return AwaitComplete()
        self._is_dismissed = True
        return super().dismiss(result)
