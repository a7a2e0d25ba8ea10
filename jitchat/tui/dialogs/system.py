"""The system prompt of a conversation: view it, edit it, save it as a persona."""

from dataclasses import dataclass

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.widgets import Input

from jitchat.text.sanitize import one_line
from jitchat.tui.dialogs.dialog import Dialog, box
from jitchat.tui.widgets.text_editor import TextEditor


@dataclass(frozen=True, slots=True)
class SystemText:
    text: str
    """Empty to remove the conversation's own system prompt."""
    persona: str = ""
    """The name of the persona to save it as; empty to set it for the conversation."""


class SystemScreen(Dialog[SystemText | None]):
    BINDINGS = [  # noqa: RUF012  Textual's own shape
        Binding("ctrl+s", "save", "Save", id="system_save", priority=True),
        Binding("ctrl+r", "reset", "Reset", id="system_reset", priority=True),
        Binding("ctrl+n", "name", "Save as persona", id="system_name", priority=True),
        Binding("escape", "dismiss(None)", "Close", id="system_close"),
    ]

    def __init__(self, text: str, origin: str) -> None:
        """`origin` is where the text comes from."""
        super().__init__()
        self._text, self._origin = text, one_line(origin)

    def compose(self) -> ComposeResult:
        keys = "Ctrl+S save · Ctrl+R reset · Ctrl+N save as persona · Esc close"
        with box(f"System prompt · {self._origin}", keys):
            yield TextEditor(self._text, id="system-text", compact=True)
            name = Input(placeholder="Persona name, then Enter…", id="system-name")
            name.display = False
            yield name

    def on_mount(self) -> None:
        text = self.query_one(TextEditor)
        text.move_cursor(text.document.end)

    def action_save(self) -> None:
        self.dismiss(SystemText(self.query_one(TextEditor).text))

    def action_reset(self) -> None:
        self.dismiss(SystemText(""))

    def action_name(self) -> None:
        name = self.query_one(Input)
        name.display = True
        name.focus()

    @on(Input.Submitted)
    def _save_persona(self, message: Input.Submitted) -> None:
        if name := message.value.strip():
            self.dismiss(SystemText(self.query_one(TextEditor).text, name))
