"""The frame that all screens of the lab share: a title, a body, the keys; or that it is small."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePath
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.geometry import Size
from textual.message import Message
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Static

from jitchat.errors import JitchatError
from jitchat.text.safe import one_line
from jitchat.tui.rot.plan import SHORT, too_small
from jitchat.tui.screens.help import HelpScreen
from jitchat.tui.telling import tell
from jitchat.tui.widgets.key_line import KeyLine


class LabBox(Vertical):
    """Tells when it has another size."""

    class Resized(Message):
        """It has."""

    def on_resize(self) -> None:
        """Say so."""
        self.post_message(self.Resized())


class LabFrame(Screen[bool | None]):
    """A screen of the lab; it is left with True where its run is to be gone on with."""

    CSS_PATH: ClassVar[str | PurePath | list[str | PurePath] | None] = "lab.tcss"
    BINDINGS = [  # noqa: RUF012  Textual's own shape
        Binding("escape,q", "close", "Close", id="rot_close"),
        Binding("f1", "help", "Help", show=False, id="rot_help"),
        Binding("ctrl+c", "app.help_quit", show=False),
    ]
    NAME: ClassVar[str] = "Rot lab"
    """Its title, also in the palette."""

    def __init__(self) -> None:
        super().__init__(classes="view lab")

    def compose(self) -> ComposeResult:
        """What is shown, and what is said where that has no room."""
        with LabBox(id="view-frame") as frame:
            frame.border_title = self.NAME
            yield from self.body()
            yield KeyLine()
        yield Static(id="lab-small")

    def body(self) -> Iterable[Widget]:
        """Make what stands above the keys."""
        raise NotImplementedError

    def entitle(self, told: str) -> None:
        """Say in the frame what is looked at."""
        self.query_one("#view-frame").border_title = Content(one_line(f"{self.NAME} · {told}"))

    @property
    def room(self) -> Size:
        """The size of the frame: something may stand below it."""
        return self.query_one(LabBox).outer_size

    def fit(self) -> None:
        """Lay out what is shown; the frame has another size."""

    @on(LabBox.Resized)
    def _box_resized(self) -> None:
        self.fit()

    def on_resize(self) -> None:
        """Say so where there is too little room."""
        width, height = self.size
        told = too_small(width, height)
        self.set_class(bool(told), "-small")
        self.set_class(height < SHORT, "-short")
        self.query_one("#lab-small", Static).update(told)

    def lacks_room(self) -> bool:
        """Whether there is too little room to show anything; then that is said."""
        told = too_small(*self.size)
        if told:
            self.notify(told, markup=False)
        return bool(told)

    def tell(self, error: JitchatError) -> None:
        """Show an error of ours."""
        tell(self, error)

    def action_help(self) -> None:
        """Keys and words."""
        self.app.push_screen(HelpScreen(""))

    def action_close(self) -> None:
        """Back to where it was opened."""
        self.dismiss(None)
