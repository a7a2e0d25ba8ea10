"""The menu of views: each by a letter, for hands and terminals without function keys or Alt."""

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.content import Content
from textual.events import Key
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from jitchat.tui.actions import MENU, Action, spelled
from jitchat.tui.dialogs.dialog import Dialog, box
from jitchat.tui.palette import MUTED

_TITLE = max(len(action.title) for action in MENU.values()) + 2
_KEYS = 8
"""Cells for the key that does the same."""


class MenuScreen(Dialog[str | None]):
    """Gives what the action runs that was taken; None where none was."""

    BINDINGS = [  # noqa: RUF012  Textual's own shape
        Binding("escape,ctrl+o", "dismiss(None)", "Close", id="menu_close")
    ]

    def compose(self) -> ComposeResult:
        with box("Views", "a letter, or Enter · Esc close"):
            options = (Option(row(action), id=action.id) for action in MENU.values())
            yield OptionList(*options, id="menu")

    def on_mount(self) -> None:
        self.query_one(OptionList).focus()

    def on_key(self, event: Key) -> None:
        taken = MENU.get(event.character or "")
        if taken is not None:
            event.stop()
            self.dismiss(taken.run)

    @on(OptionList.OptionSelected)
    def _taken(self, message: OptionList.OptionSelected) -> None:
        self.dismiss([*MENU.values()][message.option_index].run)


def row(action: Action) -> Content:
    return Content.assemble(
        (f" {action.letter} ", "bold $text-primary"),
        f" {action.title:<{_TITLE}}",
        (f"{spelled(action.keys):<{_KEYS}}", MUTED),
        (action.help, MUTED),
    )
