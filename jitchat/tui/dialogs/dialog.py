"""The base of the dialogs: a box in the middle of the screen, with a title and its keys."""

from pathlib import Path

from textual.binding import Binding
from textual.containers import Vertical
from textual.screen import ModalScreen, ScreenResultType

from jitchat.tui.actions import bindings_everywhere
from jitchat.tui.dismissed_once import DismissedOnce
from jitchat.tui.drawing import Content
from jitchat.tui.widgets.row_list import PointedList


class Dialog(ModalScreen[ScreenResultType], DismissedOnce[ScreenResultType]):
    CSS_PATH = [Path(__file__).with_suffix(".tcss")]  # noqa: RUF012  Textual's own shape
    BINDINGS = [  # noqa: RUF012  Textual's own shape
        Binding("down", "move('cursor_down')", show=False),
        Binding("up", "move('cursor_up')", show=False),
        *bindings_everywhere(),
    ]

    def __init__(self) -> None:
        super().__init__(classes="dialog")

    async def action_move(self, way: str) -> None:
        """Move the highlight of the list, if there is one, while typing goes on."""
        for listed in self.query(PointedList):
            await listed.run_action(way)

    def copy(self, text: str) -> None:
        self.app.copy_to_clipboard(text)
        self.notify("Copied.", markup=False)


def box(title: str, keys: str = "") -> Vertical:
    frame = Vertical(classes="box")
    frame.border_title = Content(title)
    frame.border_subtitle = Content(keys)
    return frame
