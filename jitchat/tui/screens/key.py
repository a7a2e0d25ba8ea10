"""Asking for a provider's key: pasted here, kept in a file that only the user can read."""

from dataclasses import dataclass

from textual import events, on, work
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from jitchat.errors import JitchatError
from jitchat.providers.catalogue.models import ProviderChoice
from jitchat.text.sanitize import one_line
from jitchat.tui.backend import Backend
from jitchat.tui.telling import SECONDS


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


class KeyScreen(ModalScreen[bool]):
    """Paste the key, Enter keeps it; whether one was kept."""

    CSS_PATH = "dialog.tcss"
    BINDINGS = [Binding("escape", "leave", "Close", id="key_close")]  # noqa: RUF012

    @dataclass
    class Stored(Message):
        """The key is kept: where, and what to know of it; or why it is not."""

        outcome: str | JitchatError

    def __init__(self, backend: Backend, choice: ProviderChoice) -> None:
        super().__init__(classes="dialog")
        self._backend, self._provider = backend, choice.name
        self._title, self._variable = one_line(choice.title), choice.key_variable
        self._is_storing = False

    def compose(self) -> ComposeResult:
        """What to do, a line that does not show what is typed, and what came of it."""
        with Vertical(classes="box") as box:
            box.border_title = Content(f"Key of {self._title}")
            box.border_subtitle = "Enter keep · Esc close"
            yield Static(Content(self._note()), id="key-note")
            yield KeyInput()
            yield Static(id="key-refusal")

    def _note(self) -> str:
        kept = "It is kept in a file that only you can read, and sent to nobody else."
        other = f" The variable {self._variable} does as well." if self._variable else ""
        return f"Paste the key that {self._title} gave you, then press Enter. {kept}{other}"

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        if event.value.strip() and not self._is_storing:
            self._is_storing = True
            self._keep(event.value)

    @work(thread=True)
    def _keep(self, text: str) -> None:
        try:
            self.post_message(self.Stored(self._backend.keep_key(self._provider, text)))
        except JitchatError as error:
            self.post_message(self.Stored(error))

    @on(Stored)
    def _stored(self, message: Stored) -> None:
        self._is_storing = False
        if isinstance(message.outcome, JitchatError):
            self.query_one("#key-refusal", Static).update(Content(str(message.outcome)))
            self.query_one(KeyInput).value = ""
            return
        self.notify(message.outcome, timeout=SECONDS, markup=False)
        self.dismiss(True)

    def action_leave(self) -> None:
        """Keep nothing."""
        if not self._is_storing:
            self.dismiss(False)
