"""A line that asks for a file's name, and saves something there."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from textual import on, work
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import Input, Static

from jitchat.errors import JitchatError
from jitchat.text.safe import one_line
from jitchat.tui.saving import AlreadyThere, save


class SaveLine(Vertical):
    """Hidden until there is something to save."""

    @dataclass
    class Ended(Message):
        """Something was saved, or is not to be."""

        saved: Path | None = None

    @dataclass
    class _Tried(Message):
        name: str
        outcome: Path | JitchatError

    def __init__(self) -> None:
        super().__init__(id="save-line")
        self._content = b""
        self._there = ""
        """The name of the file that was found there: asked for again, it is replaced."""

    def compose(self) -> ComposeResult:
        """What is asked, or why it is not there yet; and the name."""
        yield Static(id="save-note")
        yield Input(id="save-name", compact=True)

    def ask(self, what: str, content: bytes, name: str) -> None:
        """Ask where to put `content`; `name` is offered."""
        self._content = content
        self.ask_for(f"Save {what} under a name or a path. Enter saves, Esc does not.", name)

    def ask_for(self, told: str, name: str) -> None:
        """Ask for a name; `name` is offered."""
        self._there = ""
        self._say(told)
        self.display = True
        line = self.query_one(Input)
        line.value = name
        line.focus()

    def write(self, name: str, *, over: bool) -> Path:
        """Save what there is under a name; `over` replaces a file that is there. For a thread.

        Raises:
            AlreadyThere: There is one.
            JitchatError: It cannot be written.

        """
        return save(name, self._content, over=over)

    def leave(self) -> None:
        """Save nothing."""
        self.display = False
        self.post_message(self.Ended())

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        if name := event.value.strip():
            self._save(name, over=name == self._there)

    @work(thread=True, exclusive=True)
    def _save(self, name: str, *, over: bool) -> None:
        try:
            self.post_message(self._Tried(name, self.write(name, over=over)))
        except JitchatError as error:
            self.post_message(self._Tried(name, error))

    @on(_Tried)
    def _tried(self, message: _Tried) -> None:
        if isinstance(message.outcome, JitchatError):
            self._there = message.name if isinstance(message.outcome, AlreadyThere) else ""
            self._say(str(message.outcome))
            return
        self.display = False
        self.post_message(self.Ended(message.outcome))

    def _say(self, text: str) -> None:
        self.query_one("#save-note", Static).update(Content(one_line(text)))
