"""What can stand in the place of what is being typed: a short list above the prompt."""

from collections.abc import Sequence

from textual.content import Content
from textual.geometry import Offset
from textual.widget import Widget
from textual.widgets.option_list import Option

from jitchat.text.sanitize import one_line
from jitchat.tui.palette import MUTED
from jitchat.tui.widgets.row_list import PointedList

ROWS = 8
_NAME = 24
"""Cells at most in which names have a column of their own."""


class CompletionList(PointedList):
    """It never has the focus: the keys are the prompt's."""

    can_focus = False

    def __init__(self) -> None:
        super().__init__(id="completions", compact=True)
        self.display = False

    def show(self, rows: Sequence[tuple[str, str]], over: Widget, column: int) -> None:
        """Show names and what is told of them, above a widget, from a column of the screen on."""
        names = min(_NAME, max(len(name) for name, _ in rows))
        self.set_options(Option(_row(*row, names)) for row in rows)
        height, screen = min(ROWS, len(rows)), self.app.size
        self.styles.height = height
        left = max(0, min(column, screen.width - self._width))
        self.absolute_offset = Offset(left, max(0, over.region.y - height))
        self.display = True
        self.scroll_to(y=0, animate=False)

    @property
    def _width(self) -> int:
        width = self.styles.width
        return int(width.value) if width is not None else 0

    @property
    def is_pointed(self) -> bool:
        return True


def _row(name: str, about: str, width: int) -> Content:
    named = (f" {one_line(name):<{width}}", "bold")
    return Content.assemble(named, (f"  {one_line(about)}", MUTED))
