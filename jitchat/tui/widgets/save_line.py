"""Saves what is on screen to a file. Existing files are replaced only after confirmation."""

import asyncio
import os
from dataclasses import dataclass
from pathlib import Path

from textual import on, work
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.events import Key
from textual.message import Message
from textual.widgets import Input, Static

from jitchat.errors import JitchatError
from jitchat.paths import replace_file
from jitchat.text.sanitize import one_line, shorten
from jitchat.tui.drawing import Content


class AlreadyThere(JitchatError):
    """A file with that name exists."""


def save(name: str, content: bytes, *, over: bool = False) -> Path:
    """Write a file that only the user can read; `over` replaces an existing file. Slow.

    Raises:
        AlreadyThere: The file exists, and `over` is False.
        JitchatError: The file cannot be written.

    """
    try:
        path = Path(name).expanduser()
        if over:
            replace_file(path, content)
        else:
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
            with os.fdopen(os.open(path, flags, 0o600), "wb") as file:
                file.write(content)
    except FileExistsError:
        what = f"{shorten(name, 60)} already exists."
        raise AlreadyThere(what, "Press Enter to replace it, or change the name.") from None
    except (OSError, ValueError, RuntimeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        what = f"{shorten(name, 60)} cannot be written: {shorten(reason, 80)}."
        raise JitchatError(what, "Choose another name.") from None
    return path.absolute()


class SaveLine(Vertical):
    """Asks for the file name; hidden until there is something to save."""

    @dataclass
    class Ended(Message):
        saved: Path | None = None
        """None if the user cancelled."""

    def __init__(self) -> None:
        super().__init__(id="save-line")
        self._content = b""
        self._there = ""
        """The name of an existing file; it is replaced if the same name is entered again."""

    def compose(self) -> ComposeResult:
        yield Static(id="save-note")
        yield Input(id="save-name", compact=True)

    def ask(self, what: str, content: bytes, name: str) -> None:
        """Ask where to save `content`; `name` is the suggested name."""
        self._content = content
        self.ask_for(f"Save {what}: enter a name or path. Enter saves, Esc cancels.", name)

    def ask_for(self, note: str, name: str) -> None:
        self._there = ""
        self._show_note(note)
        self.display = True
        line = self.query_one(Input)
        line.value = name
        line.focus()

    def write(self, name: str, *, over: bool) -> Path:
        """Write the content like `save`; a subclass may write something else."""
        return save(name, self._content, over=over)

    def key_escape(self, event: Key) -> None:
        """Close the line, not the screen it is in."""
        event.stop()
        self.display = False
        self.post_message(self.Ended())

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        if name := event.value.strip():
            self._save(name, over=name == self._there)

    @work(exclusive=True)
    async def _save(self, name: str, *, over: bool) -> None:
        """Write the file and close the line; after an error, ask again."""
        try:
            path = await asyncio.to_thread(self.write, name, over=over)
        except JitchatError as error:
            self._there = name if isinstance(error, AlreadyThere) else ""
            self._show_note(str(error))
        else:
            self.display = False
            self.post_message(self.Ended(path))

    def _show_note(self, text: str) -> None:
        self.query_one("#save-note", Static).update(Content(one_line(text)))
