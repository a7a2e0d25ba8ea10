"""Asking for a provider's key: pasted here, kept in a file that only the user can read."""

from dataclasses import dataclass

from textual import events, on, work
from textual.app import ComposeResult
from textual.binding import Binding
from textual.content import Content
from textual.message import Message
from textual.widgets import Input, Static

from jitchat.errors import JitchatError
from jitchat.providers.catalogue.models import ProviderChoice
from jitchat.text.sanitize import one_line
from jitchat.tui.backend import Backend
from jitchat.tui.dialogs.dialog import Dialog, box
from jitchat.tui.notices import READ_SECONDS


class KeyInput(Input):
    """A line that does not show what is in it, and takes a paste as it is."""

    def __init__(self) -> None:
        super().__init__(password=True, placeholder="Paste the key; it is not shown", id="key")

    def _on_paste(self, event: events.Paste) -> None:
        """Take all lines, for a key is often copied with its line break ahead or behind.

        What is no key is refused with its reason, which half of it would not be.
        """
        event.prevent_default()
        event.stop()
        self.insert_text_at_cursor(" ".join(event.text.split("\n")).strip())


class KeyScreen(Dialog[bool]):
    """Paste the key, Enter saves it; True once one is saved."""

    BINDINGS = [Binding("escape", "leave", "Close", id="key_close")]  # noqa: RUF012

    @dataclass
    class Stored(Message):
        outcome: str | JitchatError
        """Where the key is, and what to know of it; or why it is not stored."""

    def __init__(self, backend: Backend, choice: ProviderChoice) -> None:
        super().__init__()
        self._backend, self._choice = backend, choice
        self._is_storing = False

    def compose(self) -> ComposeResult:
        title, variable = one_line(self._choice.title), self._choice.key_variable
        other = f" The environment variable {variable} also works." if variable else ""
        note = (
            f"Paste the key that {title} gave you, then press Enter."
            f" It is saved in a file that only you can read, and sent to nobody else.{other}"
        )
        with box(f"{title} API key", "Enter save · Esc close"):
            yield Static(Content(note), id="key-note")
            yield KeyInput()
            yield Static(id="key-refusal")

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        if event.value.strip() and not self._is_storing:
            self._is_storing = True
            self._store(event.value)

    @work(thread=True)
    def _store(self, text: str) -> None:
        try:
            self.post_message(self.Stored(self._backend.keep_key(self._choice.name, text)))
        except JitchatError as error:
            self.post_message(self.Stored(error))

    @on(Stored)
    def _stored(self, message: Stored) -> None:
        self._is_storing = False
        if isinstance(message.outcome, JitchatError):
            self.query_one("#key-refusal", Static).update(Content(str(message.outcome)))
            self.query_one(KeyInput).value = ""
            return
        self.notify(message.outcome, timeout=READ_SECONDS, markup=False)
        self.dismiss(True)

    def action_leave(self) -> None:
        if not self._is_storing:
            self.dismiss(False)
