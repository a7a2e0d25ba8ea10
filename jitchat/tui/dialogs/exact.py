"""The exact text of a segment or a turn."""

from textual.app import ComposeResult
from textual.binding import Binding
from textual.content import Content
from textual.widgets import Static, TextArea

from jitchat.text.sanitize import for_terminal, one_line
from jitchat.tui.dialogs.dialog import Dialog, box

PART = 20_000
"""Characters that are shown at a time: to lay out a megabyte takes seconds."""


class ExactScreen(Dialog[None]):
    """Text to read, select and copy, under a note on why it is in the window or not."""

    BINDINGS = [  # noqa: RUF012  Textual's own shape
        Binding("escape,q", "dismiss", "Close", id="exact_close"),
        Binding("y", "copy", "Copy", id="exact_copy"),
        Binding("n", "part(1)", "Next part", id="exact_next"),
        Binding("p", "part(-1)", "Part before", id="exact_before"),
    ]

    def __init__(self, title: str, text: str, note: str = "") -> None:
        super().__init__()
        self._title, self._text = one_line(title), for_terminal(text)
        self._note = for_terminal(note)
        self._part = 0

    def compose(self) -> ComposeResult:
        with box(self._title):
            if self._note:
                yield Static(Content(self._note), id="exact-note")
            yield TextArea(read_only=True, id="exact", compact=True)

    def on_mount(self) -> None:
        self.action_part(0)
        self.query_one(TextArea).focus()  # so that the arrows scroll

    def action_part(self, step: int) -> None:
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
        """Copy what is selected, or all of the text."""
        self.copy(self.query_one(TextArea).selected_text or self._text)
