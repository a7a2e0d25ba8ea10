"""What workers of the lab report to its screens. Workers carry; handlers decide."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
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
from jitchat.lab.compare import Comparison
from jitchat.lab.costs import Answerer
from jitchat.lab.events import LabEvent
from jitchat.lab.experiment import Result
from jitchat.lab.run_file import Run
from jitchat.lab.stats import Tally
from jitchat.text.sanitize import one_line
from jitchat.tui.dialogs.help import HelpScreen
from jitchat.tui.lab.runner import Opened
from jitchat.tui.lab.setup import SHORT, too_small
from jitchat.tui.notices import notify_error
from jitchat.tui.widgets.hint_line import KeyLine
from jitchat.values import Mode


@dataclass
class LabReported(Message):
    """Things happened in a run, in this order."""

    events: Sequence[LabEvent]


@dataclass
class LabEnded(Message):
    """Nothing more is asked."""

    kept: Sequence[Result] = ()
    """All that the file holds then; empty where it cannot be read."""
    error: JitchatError | None = None
    """Why it broke off."""


@dataclass
class AnswererTold(Message):
    """Who would answer, or why nobody can."""

    outcome: Answerer | JitchatError


@dataclass
class RunsListed(Message):
    """All runs that are kept, and how many cells of each are decided."""

    outcome: Sequence[tuple[Run, int]] | JitchatError


@dataclass
class RunSummed(Message):
    """What came of one of them, by mode."""

    run: str
    """Its id."""
    modes: Mapping[Mode, Tally]


@dataclass
class RunReady(Message):
    """A run can be shown; or not, and why."""

    outcome: Opened | JitchatError


@dataclass
class RunsCompared(Message):
    """Two runs were compared; or not, and why."""

    outcome: Comparison | JitchatError


@dataclass
class RunForgotten(Message):
    """A run is gone, or could not be deleted."""

    outcome: JitchatError | None


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
        notify_error(self, error)

    def action_help(self) -> None:
        """Keys and words."""
        self.app.push_screen(HelpScreen(""))

    def action_close(self) -> None:
        """Back to where it was opened."""
        self.dismiss(None)
