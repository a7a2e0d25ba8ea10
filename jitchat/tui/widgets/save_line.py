"""Writing what is on screen to a file that the user names. Nothing is overwritten unasked."""

import os
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from textual import on, work
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.events import Key
from textual.message import Message
from textual.widgets import Input, Static

from jitchat.errors import JitchatError
from jitchat.text.sanitize import one_line, shorten


class AlreadyThere(JitchatError):
    """There is a file of that name."""


def save(name: str, content: bytes, *, over: bool = False) -> Path:
    """Write a file that only the user can read; `over` replaces one that is there. Slow.

    Raises:
        AlreadyThere: There is one.
        JitchatError: It cannot be written.

    """
    try:
        path = Path(name).expanduser()
        if over:
            _replace(path, content)
        else:
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
            with os.fdopen(os.open(path, flags, 0o600), "wb") as file:
                file.write(content)
    except FileExistsError:
        what = f"{shorten(name, 60)} is there already."
        raise AlreadyThere(what, "Enter replaces it; or name another.") from None
    except (OSError, ValueError, RuntimeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        what = f"{shorten(name, 60)} cannot be written: {shorten(reason, 80)}."
        raise JitchatError(what, "Name another file.") from None
    return path.absolute()


def _replace(path: Path, content: bytes) -> None:
    """Put a new file in its place: a link is not followed, and nobody else could open it before."""
    handle, made = tempfile.mkstemp(prefix=".jitchat.", dir=path.parent)  # O_EXCL, 0600
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        Path(made).replace(path)
    except BaseException:  # a part of it is of no use to anybody
        with suppress(OSError):
            Path(made).unlink()
        raise


class SaveLine(Vertical):
    """Asks under which name to save; hidden until there is something to save."""

    @dataclass
    class Ended(Message):
        saved: Path | None = None
        """None where nothing is to be saved."""

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
        yield Static(id="save-note")
        yield Input(id="save-name", compact=True)

    def ask(self, what: str, content: bytes, name: str) -> None:
        """Ask where to put `content`; `name` is offered."""
        self._content = content
        self.ask_for(f"Save {what} under a name or a path. Enter saves, Esc does not.", name)

    def ask_for(self, note: str, name: str) -> None:
        self._there = ""
        self._show_note(note)
        self.display = True
        line = self.query_one(Input)
        line.value = name
        line.focus()

    def write(self, name: str, *, over: bool) -> Path:
        """Save what there is under a name, as `save` does; a subclass may save something else."""
        return save(name, self._content, over=over)

    def key_escape(self, event: Key) -> None:
        """Leave the line, and not the screen that it is in."""
        event.stop()
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
            self._show_note(str(message.outcome))
            return
        self.display = False
        self.post_message(self.Ended(message.outcome))

    def _show_note(self, text: str) -> None:
        self.query_one("#save-note", Static).update(Content(one_line(text)))
