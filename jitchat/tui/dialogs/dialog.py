"""The base of the dialogs: a box in the middle of the screen, with a title and its keys."""

from pathlib import Path

from textual.containers import Vertical
from textual.screen import ModalScreen, ScreenResultType

from jitchat.tui.actions import bindings_everywhere
from jitchat.tui.dismissed_once import DismissedOnce
from jitchat.tui.drawing import Content


class Dialog(ModalScreen[ScreenResultType], DismissedOnce[ScreenResultType]):
    CSS_PATH = Path(__file__).with_suffix(".tcss")
    BINDINGS = bindings_everywhere()

    def __init__(self) -> None:
        super().__init__(classes="dialog")

    def copy(self, text: str) -> None:
        self.app.copy_to_clipboard(text)
        self.notify("Copied.", markup=False)


def box(title: str, keys: str = "") -> Vertical:
    made = Vertical(classes="box")
    made.border_title, made.border_subtitle = Content(title), Content(keys)
    return made
