"""Projects: open another one, or move the conversation on screen to one."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from jitchat.text.figures import plural
from jitchat.text.sanitize import one_line
from jitchat.tui.dialogs.choice import ChoiceScreen, Typed, titled
from jitchat.tui.drawing import Content


@dataclass(frozen=True, slots=True)
class ChosenProject:
    name: str
    moves: bool
    """Whether to move the conversation on screen to it, or to open its latest conversation."""


def projects_screen(projects: Mapping[str, int], present: str) -> ChoiceScreen[ChosenProject]:
    """Return a dialog in which a row opens a project, and a typed name moves the conversation.

    `projects` has each project's number of conversations; `present` is the open one.
    """

    def row(name: str) -> Content:
        here = " · this conversation" if name == present else ""
        return titled(one_line(name), f"{plural(projects[name], 'conversation')}{here}")

    return ChoiceScreen(
        "Projects",
        "Enter open · type a name to move this conversation · Esc close",
        [(row(name), ChosenProject(name, moves=False)) for name in projects],
        typed=Typed("Project to move this conversation to…", partial(ChosenProject, moves=True)),
    )
