"""The list of completions above the prompt."""

from collections.abc import Sequence

from textual.geometry import Offset
from textual.widget import Widget
from textual.widgets.option_list import Option

from jitchat.text.sanitize import one_line
from jitchat.tui.drawing import MUTED, Content
from jitchat.tui.widgets.row_list import PointedList

ROWS = 8
_WIDTH = 80
_BESIDE = 3
"""Cells for the cursor sign and the scrollbar."""
_NAME = 24
"""Maximum width of the column of names."""


class CompletionList(PointedList):
    """Completions; the list never has the focus, its keys are handled by the prompt."""

    can_focus = False

    def __init__(self) -> None:
        super().__init__(id="completions", compact=True)
        self.display = False

    def show(self, rows: Sequence[tuple[str, str]], over: Widget, column: int) -> None:
        """Show names with descriptions above the widget `over`, starting at a screen column."""
        names = min(_NAME, max(len(name) for name, _ in rows))
        lines = [_row(*row, names) for row in rows]
        self.set_options(map(Option, lines))
        height, screen = min(ROWS, len(rows)), self.app.size
        width = min(_WIDTH, screen.width, max(line.cell_length for line in lines) + _BESIDE)
        self.styles.width, self.styles.height = width, height
        left = max(0, min(column, screen.width - width))
        self.absolute_offset = Offset(left, max(0, over.region.y - height))
        self.display = True
        self.scroll_to(y=0, animate=False)

    @property
    def is_pointed(self) -> bool:
        return True


def _row(name: str, about: str, width: int) -> Content:
    named = (f" {one_line(name):<{width}}", "bold")
    return Content.assemble(named, (f"  {one_line(about)}", MUTED))
