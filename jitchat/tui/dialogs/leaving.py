"""Asking before the app is left with a reply that is not stored."""

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.binding import Binding
from textual.content import Content
from textual.widgets import Static

from jitchat.store.unstored import amount_of
from jitchat.tui.dialogs.dialog import Dialog, box


class LeavingScreen(Dialog[bool]):
    """Says what would be lost; True to quit nevertheless. The key that quits does as well."""

    BINDINGS = [  # noqa: RUF012  Textual's own shape
        Binding("enter", "dismiss(True)", "Quit", id="leaving_quit"),
        Binding("escape", "dismiss(False)", "Stay", id="leaving_stay"),
        Binding("c,y", "copy", "Copy", id="leaving_copy"),
    ]

    def __init__(self, unstored: Sequence[str]) -> None:
        super().__init__()
        self._unstored = unstored

    def compose(self) -> ComposeResult:
        with box("Not stored", "Enter quit · C copy · Esc stay"):
            note = (
                f"{amount_of(self._unstored)} cannot be stored, and would be lost by quitting."
                " Who stays has it stored as soon as there is room."
            )
            yield Static(Content(note), id="leaving-note")

    def action_copy(self) -> None:
        self.copy("\n\n".join(self._unstored))
