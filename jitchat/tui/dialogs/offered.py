"""What servers of tools offer beside tools: resources to attach, prompts to fill in; pick one."""

from collections.abc import Sequence
from dataclasses import dataclass

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.content import Content
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from jitchat.text.sanitize import one_line
from jitchat.tui.dialogs.dialog import Dialog, box
from jitchat.tui.palette import MUTED


@dataclass(frozen=True, slots=True)
class Offered:
    server: str
    name: str
    """As the server calls it: a prompt's name, or a resource's address."""
    title: str
    description: str = ""
    arguments: tuple[str, ...] = ()
    """Names of what a prompt takes; a required one ends in `*`."""


class OfferedScreen(Dialog[Offered | None]):
    BINDINGS = [  # noqa: RUF012  Textual's own shape
        Binding("escape", "dismiss(None)", "Close", id="offered_close")
    ]

    def __init__(self, title: str, offered: Sequence[Offered]) -> None:
        super().__init__()
        self._title, self._offered = title, offered

    def compose(self) -> ComposeResult:
        with box(self._title, "Enter take · Esc close"):
            yield OptionList(*(Option(row(each)) for each in self._offered), id="offered")

    def on_mount(self) -> None:
        self.query_one(OptionList).focus()

    @on(OptionList.OptionSelected)
    def _taken(self, message: OptionList.OptionSelected) -> None:
        self.dismiss(self._offered[message.option_index])


def row(offered: Offered) -> Content:
    takes = f" ({', '.join(map(one_line, offered.arguments))})" if offered.arguments else ""
    return Content.assemble(
        (f"{one_line(offered.server)}: {one_line(offered.title)}{takes}", "bold"),
        (f"  {one_line(offered.description)}", MUTED),
    )
