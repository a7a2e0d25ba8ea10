"""Asking for a provider's key: pasted here, kept in a file that only the user can read."""

from __future__ import annotations

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from jitchat.errors import JitchatError
from jitchat.tui.backend import Backend


class KeyScreen(ModalScreen[bool]):
    """Paste the key, Enter keeps it; whether one was kept."""

    CSS_PATH = "dialog.tcss"
    BINDINGS = [Binding("escape", "leave", "Close", id="key_close")]  # noqa: RUF012

    def __init__(self, backend: Backend, provider: str, title: str, note: str) -> None:
        super().__init__(classes="dialog")
        self._backend, self._provider, self._title, self._note = backend, provider, title, note

    def compose(self) -> ComposeResult:
        """What to do, and a line that does not show what is typed."""
        with Vertical(classes="box") as box:
            box.border_title = f"Key of {self._title}".replace("[", "\\[")
            box.border_subtitle = "Enter keep · Esc close"
            yield Static(Content(f"{self._note}; or paste the key here."), id="key-note")
            yield Input(password=True, placeholder="The key is not shown", id="key")
            yield Static(id="key-refusal")

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        if event.value.strip():
            self._keep(event.value)

    @work(thread=True)
    def _keep(self, text: str) -> None:
        try:
            sentence = self._backend.keep_key(self._provider, text)
        except JitchatError as error:
            self.app.call_from_thread(self._refuse, error)
            return
        self.app.call_from_thread(self._kept, sentence)

    def _refuse(self, error: JitchatError) -> None:
        self.query_one("#key-refusal", Static).update(Content(str(error)))

    def _kept(self, sentence: str) -> None:
        self.notify(sentence, markup=False)
        self.dismiss(True)

    def action_leave(self) -> None:
        """Keep nothing."""
        self.dismiss(False)
