"""The base of the dialogs: a box in the middle of the screen, with a title and its keys."""

from pathlib import Path

from textual.containers import Vertical
from textual.screen import ModalScreen, ScreenResultType

from jitchat.tui.actions import bindings_everywhere
from jitchat.tui.dismissed_once import DismissedOnce
from jitchat.tui.drawing import Content
from jitchat.tui.widgets.row_list import PointedList


class Dialog(ModalScreen[ScreenResultType], DismissedOnce[ScreenResultType]):
    CSS_PATH = [Path(__file__).with_suffix(".tcss")]  # noqa: RUF012  Textual's own shape
    BINDINGS = bindings_everywhere()

    def __init__(self) -> None:
        super().__init__(classes="dialog")

    async def action_move(self, way: str) -> None:
        """Move the highlight of the list while typing goes on."""
        await self.query_one(PointedList).run_action(way)

    def copy(self, text: str) -> None:
        self.app.copy_to_clipboard(text)
        self.notify("Copied.", markup=False)


def box(title: str, keys: str = "") -> Vertical:
    frame = Vertical(classes="box")
    frame.border_title = Content(title)
    frame.border_subtitle = Content(keys)
    return frame
