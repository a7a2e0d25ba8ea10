"""The system text of a conversation: to read, to change, and to save as a persona."""

from dataclasses import dataclass

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.widgets import Input, TextArea

from jitchat.text.sanitize import for_terminal, one_line
from jitchat.tui.dialogs.dialog import Dialog, box


@dataclass(frozen=True, slots=True)
class SystemText:
    text: str
    """Empty: the conversation has none of its own any more."""
    persona: str = ""
    """The name of the persona that it is saved as; empty where it is for the conversation."""


class SystemScreen(Dialog[SystemText | None]):
    BINDINGS = [  # noqa: RUF012  Textual's own shape
        Binding("ctrl+s", "save", "Save", id="system_save", priority=True),
        Binding("ctrl+r", "reset", "Reset", id="system_reset", priority=True),
        Binding("ctrl+n", "name", "Save as persona", id="system_name", priority=True),
        Binding("escape", "dismiss(None)", "Close", id="system_close"),
    ]

    def __init__(self, text: str, whose: str) -> None:
        """`whose` is where the text comes from."""
        super().__init__()
        self._text, self._whose = for_terminal(text), one_line(whose)

    def compose(self) -> ComposeResult:
        keys = "Ctrl+S save here · Ctrl+R reset · Ctrl+N as persona · Esc"
        with box(f"System · {self._whose}", keys):
            yield TextArea(self._text, id="system-text", compact=True)
            name = Input(placeholder="The name of the persona, then Enter…", id="system-name")
            name.display = False
            yield name

    def on_mount(self) -> None:
        text = self.query_one(TextArea)
        text.move_cursor(text.document.end)
        text.focus()

    def action_save(self) -> None:
        self.dismiss(SystemText(self.query_one(TextArea).text))

    def action_reset(self) -> None:
        self.dismiss(SystemText(""))

    def action_name(self) -> None:
        name = self.query_one(Input)
        name.display = True
        name.focus()

    @on(Input.Submitted)
    def _named(self, message: Input.Submitted) -> None:
        if name := message.value.strip():
            self.dismiss(SystemText(self.query_one(TextArea).text, name))
