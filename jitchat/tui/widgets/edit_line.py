"""A line below a list, in which the text of one of its rows is edited."""

from collections.abc import Callable

from textual import on
from textual.widget import Widget
from textual.widgets import Input


class EditLine(Input):
    """Hidden until there is something to edit; then the focus returns to the list."""

    def __init__(self, id: str, back_to: Widget) -> None:  # noqa: A002  Textual's own name
        super().__init__(id=id)
        self.display = False
        self._back_to = back_to
        self._accept: Callable[[str], None] | None = None

    def edit(self, text: str, accept: Callable[[str], None]) -> None:
        """Edit a text; `accept` is called with the new one."""
        self._accept = accept
        self.value = text
        self.display = True
        self.focus()

    def close(self) -> bool:
        """Discard the text; return whether one was being edited."""
        is_open = self._accept is not None
        self._accept = None
        if is_open:
            self.display = False
            self._back_to.focus()
        return is_open

    @on(Input.Submitted)
    def _submit(self, event: Input.Submitted) -> None:
        event.stop()
        accept = self._accept
        self.close()
        if accept is not None:
            accept(event.value)
