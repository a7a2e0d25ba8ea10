"""Lines to type in: the text of a row, the name of a file to save, and a search."""

import asyncio
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal, Vertical
from textual.events import Key
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input, Static

from jitchat.errors import JitchatError
from jitchat.paths import replace_file
from jitchat.text.sanitize import one_line, shorten
from jitchat.tui.drawing import Content
from jitchat.tui.widgets.hint_line import clickable


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


_KEYS = clickable(
    (
        ("⏎", " next", "screen.find_match(1)"),
        ("↑", " previous", "screen.find_match(-1)"),
        ("Esc", " close", "screen.find_close"),
    ),
    after="  ",
)


class FindLine(Horizontal):
    BINDINGS = [  # noqa: RUF012  Textual's own shape
        Binding("down,ctrl+g", "screen.find_match(1)", "Next match", id="find_next", show=False),
        Binding(
            "up,shift+enter",
            "screen.find_match(-1)",
            "Previous match",
            id="find_before",
            show=False,
        ),
        Binding("escape", "screen.find_close", "Close", id="find_close", show=False),
    ]

    def __init__(self) -> None:
        super().__init__(id="find-line")
        self._count = Static(id="find-count")
        self.problem = ""
        """What is wrong with the search text, as a sentence; empty if nothing is."""

    def compose(self) -> ComposeResult:
        yield Static("Find", id="find-label")
        yield Input(id="find", compact=True)
        yield self._count
        yield Static(_KEYS, id="find-keys")

    @property
    def wanted(self) -> str:
        return self.query_one(Input).value

    def open(self, wanted: str) -> None:
        """Show the line with the last search selected, so that typing replaces it."""
        self.set_class(True, "-open")
        line = self.query_one(Input)
        line.value = wanted or line.value
        line.action_select_all()
        self.screen.set_focus(line)  # at once: the text may be typed right after the key

    def close(self) -> None:
        self.set_class(False, "-open")

    @property
    def is_open(self) -> bool:
        return self.has_class("-open")

    def show_count(self, number: int, of: int) -> None:
        """Show the number of the current match; 0 of 0 means no match."""
        count = f"{number:,} of {of:,}" if of else "no match" if self.wanted.strip() else ""
        self._count.update(Content(self.problem or count))

    @on(Input.Submitted)
    async def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        await self.run_action("screen.find_match(1)")


class EditLine(Input):
    """Hidden until there is something to edit; then the focus returns to the list."""

    def __init__(self, id: str, back_to: Widget) -> None:  # noqa: A002  Textual's own name
        super().__init__(id=id)
        self.display = False
        self._back_to = back_to
        self._accept: Callable[[str], None] | None = None

    def edit(self, text: str, accept: Callable[[str], None]) -> None:
        """Edit a text; `accept` is called with the new one."""
        self._accept = accept
        self.value = text
        self.display = True
        self.focus()

    def close(self) -> bool:
        """Discard the text; return whether one was being edited."""
        is_open = self._accept is not None
        self._accept = None
        if is_open:
            self.display = False
            self._back_to.focus()
        return is_open

    @on(Input.Submitted)
    def _submit(self, event: Input.Submitted) -> None:
        event.stop()
        accept = self._accept
        self.close()
        if accept is not None:
            accept(event.value)
