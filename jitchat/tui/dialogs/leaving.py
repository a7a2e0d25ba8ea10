"""Asks for confirmation before quitting with a reply that is not stored."""

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.binding import Binding
from textual.widgets import Static

from jitchat.store.unstored import amount_of
from jitchat.tui.dialogs.dialog import Dialog, box
from jitchat.tui.drawing import Content


class LeavingScreen(Dialog[bool]):
    """Shows what would be lost; returns True to quit anyway. The quit key confirms too."""

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
                f"{amount_of(self._unstored)} cannot be stored and will be lost if you quit."
                " If you stay, they are stored as soon as possible."
            )
            yield Static(Content(note), id="leaving-note")

    def action_copy(self) -> None:
        self.copy("\n\n".join(self._unstored))
