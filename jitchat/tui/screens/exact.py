"""The exact text of a segment or a turn."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static, TextArea

from jitchat.text.safe import one_line, visible

MOST = 400_000
"""Characters that are shown; a block of thousands of turns can be larger."""


class ExactScreen(ModalScreen[None]):
    """Text to read, select and copy, under a note on why it is here or not."""

    CSS_PATH = "dialog.tcss"
    BINDINGS = [  # noqa: RUF012  Textual's own shape
        Binding("escape,q", "dismiss", "Close", id="exact_close"),
        Binding("y", "copy", "Copy", id="exact_copy"),
    ]

    def __init__(self, title: str, text: str, note: str = "") -> None:
        super().__init__(classes="dialog")
        self._title, self._text, self._note = one_line(title), visible(text), visible(note)

    def compose(self) -> ComposeResult:
        """A box with the text."""
        left = len(self._text) - MOST
        with Vertical(classes="box") as box:
            box.border_title = self._title.replace("[", "\\[")
            more = f"first {MOST:,} characters shown, {left:,} more · " if left > 0 else ""
            box.border_subtitle = f"{more}Y copy · Esc close"
            if self._note:
                yield Static(Content(self._note), id="exact-note")
            yield TextArea(self._text[:MOST], read_only=True, id="exact", compact=True)

    def on_mount(self) -> None:
        """So that the arrows scroll."""
        self.query_one(TextArea).focus()

    def action_copy(self) -> None:
        """All of it, or what is selected."""
        self.app.copy_to_clipboard(self.query_one(TextArea).selected_text or self._text)
        self.notify("Copied.", markup=False)
