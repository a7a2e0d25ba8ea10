"""Picks one of the resources or prompts that MCP servers offer."""

from collections.abc import Sequence
from dataclasses import dataclass

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from jitchat.text.sanitize import one_line
from jitchat.tools.mcp.values import Argument
from jitchat.tui.dialogs.dialog import Dialog, box
from jitchat.tui.drawing import Content
from jitchat.tui.palette import MUTED
from jitchat.tui.widgets.row_list import PointedList


@dataclass(frozen=True, slots=True)
class Offered:
    server: str
    name: str
    """The server's identifier: a prompt's name, or a resource's URI."""
    title: str
    description: str = ""
    arguments: tuple[Argument, ...] = ()
    is_prompt: bool = False

    @property
    def takes(self) -> str:
        """The names of its arguments, required ones with `*`; empty if it has none."""
        return ", ".join(f"{one_line(each.name)}{'*' * each.required}" for each in self.arguments)


class OfferedScreen(Dialog[Offered | None]):
    BINDINGS = [  # noqa: RUF012  Textual's own shape
        Binding("escape", "dismiss(None)", "Close", id="offered_close")
    ]

    def __init__(self, title: str, offered: Sequence[Offered]) -> None:
        super().__init__()
        self._title, self._offered = title, offered

    def compose(self) -> ComposeResult:
        with box(self._title, "Enter select · Esc close"):
            yield PointedList(*(Option(row(each)) for each in self._offered), id="offered")

    def on_mount(self) -> None:
        self.query_one(OptionList).focus()

    @on(OptionList.OptionSelected)
    def _choose(self, message: OptionList.OptionSelected) -> None:
        self.dismiss(self._offered[message.option_index])


def row(offered: Offered) -> Content:
    takes = f" ({offered.takes})" if offered.arguments else ""
    server, title = one_line(offered.server), one_line(offered.title)
    named = f"/{server}:{title}" if offered.is_prompt else f"{server}: {title}"
    return Content.assemble(
        (f"{named}{takes}", "bold"),
        (f"  {one_line(offered.description)}", MUTED),
    )
