"""The exact text of a segment or a turn."""

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static, TextArea

from jitchat.text.sanitize import for_terminal, one_line

PART = 20_000
"""Characters that are shown at a time: to lay out a megabyte takes seconds."""


class ExactScreen(ModalScreen[None]):
    """Text to read, select and copy, under a note on why it is here or not."""

    CSS_PATH = "dialog.tcss"
    BINDINGS = [  # noqa: RUF012  Textual's own shape
        Binding("escape,q", "dismiss", "Close", id="exact_close"),
        Binding("y", "copy", "Copy", id="exact_copy"),
        Binding("n", "part(1)", "Next part", id="exact_next"),
        Binding("p", "part(-1)", "Part before", id="exact_before"),
    ]

    def __init__(self, title: str, text: str, note: str = "") -> None:
        super().__init__(classes="dialog")
        self._title, self._text, self._note = (
            one_line(title),
            for_terminal(text),
            for_terminal(note),
        )
        self._part = 0

    def compose(self) -> ComposeResult:
        """A box with the text."""
        with Vertical(classes="box") as box:
            box.border_title = self._title.replace("[", "\\[")
            if self._note:
                yield Static(Content(self._note), id="exact-note")
            yield TextArea(read_only=True, id="exact", compact=True)

    def on_mount(self) -> None:
        """So that the arrows scroll."""
        self.action_part(0)
        self.query_one(TextArea).focus()

    def action_part(self, step: int) -> None:
        """Show another part of a text that is too long to be laid out at once."""
        last = max(0, len(self._text) - 1) // PART
        if step and not 0 <= self._part + step <= last:
            return
        self._part += step
        start = self._part * PART
        end = min(len(self._text), start + PART)
        area = self.query_one(TextArea)
        area.text = self._text[start:end]
        area.scroll_home(animate=False)
        where = f"characters {start + 1:,} to {end:,} of {len(self._text):,} · N next · P before · "
        self.query_one(".box").border_subtitle = f"{where if last else ''}Y copy · Esc close"

    def action_copy(self) -> None:
        """All of it, or what is selected."""
        self.app.copy_to_clipboard(self.query_one(TextArea).selected_text or self._text)
        self.notify("Copied.", markup=False)
