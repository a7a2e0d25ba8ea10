"""The frame that all views share: a title, what it shows in one line, a body, the keys.

On a wide terminal a view leaves room for the transcript beside it, unless it needs all of it;
on a narrow one it is a screen of its own. Opening one changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePath
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.widgets import Static

from jitchat.errors import JitchatError
from jitchat.text.safe import visible
from jitchat.tui.keys import VIEW_ACTIONS
from jitchat.tui.telling import tell
from jitchat.tui.views.subject import Another, Outcome, Subject
from jitchat.tui.widgets.key_line import KeyLine

WIDE = 150
"""Columns from which a view is a column beside the transcript."""


class View(ModalScreen[Outcome | None]):
    """A view of one subject. Closing it without a choice gives None."""

    CSS_PATH: ClassVar[str | PurePath | list[str | PurePath] | None] = "view.tcss"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (WIDE, "-wide")]  # noqa: RUF012  Textual's own shape
    BINDINGS = [  # noqa: RUF012  Textual's own shape
        Binding("escape,q", "close", "Close", id="view_close"),
        Binding("y", "copy", "Copy", id="view_copy"),
        Binding("ctrl+c", "app.help_quit", show=False),
        *(
            Binding(action.keys, f"another('{name}')", show=False)
            for name, action in VIEW_ACTIONS.items()
        ),
    ]
    NAME: ClassVar[str] = ""
    """Its title."""
    EXPLAINED: ClassVar[str] = ""
    """What it shows, in one line."""
    FILLS: ClassVar[bool] = False
    """Whether it takes all of a wide terminal."""

    def __init__(self, subject: Subject) -> None:
        super().__init__(classes="view -fills" if self.FILLS else "view")
        self.subject = subject
        self._nothing = Static(id="view-nothing")

    def compose(self) -> ComposeResult:
        """Title and explanation, the body, the keys."""
        # Textual sets this class on the first resize, after a frame for another width.
        width = self.app.size.width
        self.set_class(width >= WIDE, "-wide", update=False)
        self.set_class(width < WIDE, "-narrow", update=False)
        with Vertical(id="view-frame") as frame:
            frame.border_title = self.NAME
            yield Static(Content(self.EXPLAINED), id="view-explained")
            yield self._nothing
            yield from self.body()
            yield KeyLine()

    def body(self) -> Iterable[Widget]:
        """Make what stands between explanation and keys."""
        raise NotImplementedError

    def copyable(self) -> str:
        """Write what is shown as plain text."""
        raise NotImplementedError

    def show_nothing(self, why: str) -> None:
        """Say why there is nothing to show, and what would fill it; empty: there is something."""
        self._nothing.update(Content(visible(why)))
        self._nothing.display = bool(why)

    def tell(self, error: JitchatError) -> None:
        """Show an error of ours."""
        tell(self, error)

    def action_close(self) -> None:
        """Back to the chat."""
        self.dismiss(None)

    def action_another(self, name: str) -> None:
        """On to another view of the chat."""
        self.dismiss(Another(name))

    def action_copy(self) -> None:
        """Copy what is shown."""
        self.app.copy_to_clipboard(self.copyable())
        self.notify("Copied.", markup=False)
