"""Asking before the app is left with a reply that is not stored."""

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from jitchat.store.unstored import amount_of

_STAYS = "Who stays has it stored as soon as there is room."


class LeavingScreen(ModalScreen[bool]):
    """What would be lost; whether to quit nevertheless. The key that quits does as well."""

    CSS_PATH = "dialog.tcss"
    BINDINGS = [  # noqa: RUF012  Textual's own shape
        Binding("enter", "dismiss(True)", "Quit", id="leaving_quit"),
        Binding("escape", "dismiss(False)", "Stay", id="leaving_stay"),
        Binding("c,y", "copy", "Copy", id="leaving_copy"),
    ]

    def __init__(self, rests: Sequence[str]) -> None:
        super().__init__(classes="dialog")
        self._rests = rests

    def compose(self) -> ComposeResult:
        """A box with one sentence."""
        with Vertical(classes="box") as box:
            box.border_title = "Not stored"
            box.border_subtitle = "Enter quit · C copy · Esc stay"
            told = f"{amount_of(self._rests)} cannot be stored, and would be lost by quitting."
            yield Static(Content(f"{told} {_STAYS}"), id="leaving-note")

    def action_copy(self) -> None:
        """What would be lost."""
        self.app.copy_to_clipboard("\n\n".join(self._rests))
        self.notify("Copied.", markup=False)
