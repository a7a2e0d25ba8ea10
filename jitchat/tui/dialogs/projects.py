"""Projects: open another one, or move the conversation on screen to one."""

from collections.abc import Mapping
from dataclasses import dataclass

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.widgets import Input, OptionList
from textual.widgets.option_list import Option

from jitchat.text.figures import plural
from jitchat.text.sanitize import one_line
from jitchat.tui.dialogs.dialog import Dialog, box
from jitchat.tui.drawing import Content
from jitchat.tui.palette import MUTED
from jitchat.tui.widgets.row_list import PointedList


@dataclass(frozen=True, slots=True)
class ChosenProject:
    name: str
    moves: bool
    """Whether to move the conversation on screen to it, or to open its latest conversation."""


class ProjectsScreen(Dialog[ChosenProject | None]):
    """A typed name moves the conversation on screen there; Enter on a row opens that project."""

    BINDINGS = [  # noqa: RUF012  Textual's own shape
        Binding("escape", "dismiss", "Close", id="projects_close"),
        Binding("down", "move('cursor_down')", show=False),
        Binding("up", "move('cursor_up')", show=False),
    ]

    def __init__(self, projects: Mapping[str, int], present: str) -> None:
        """`projects` has each project's number of conversations; `present` is the open one."""
        super().__init__()
        self._projects, self._present = projects, present

    def compose(self) -> ComposeResult:
        with box("Projects", "Enter open · type a name to move this conversation · Esc close"):
            yield Input(placeholder="Project to move this conversation to…", id="wanted")
            yield PointedList(id="choices")

    def on_mount(self) -> None:
        choices = self.query_one(PointedList)
        choices.set_options(Option(self._line(name)) for name in self._projects)
        choices.highlighted = 0 if self._projects else None

    def _line(self, name: str) -> Content:
        here = " · this conversation" if name == self._present else ""
        about = f"  {plural(self._projects[name], 'conversation')}{here}"
        return Content.assemble((one_line(name), "bold"), (about, MUTED))

    @on(Input.Submitted)
    @on(OptionList.OptionSelected)
    def _choose(self) -> None:
        typed = self.query_one(Input).value.strip()
        index = self.query_one(PointedList).highlighted
        if typed:
            self.dismiss(ChosenProject(typed, moves=True))
        elif index is not None:
            self.dismiss(ChosenProject(list(self._projects)[index], moves=False))

    async def action_move(self, way: str) -> None:
        """Move the highlight while typing goes on."""
        await self.query_one(PointedList).run_action(way)
