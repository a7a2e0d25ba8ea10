"""The text of a request, however long: only the rows that are on screen are drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.segment import Segment
from rich.style import Style
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.style import Style as VisualStyle

from jitchat.tui.views.wire_rows import LETTERS, Row


class WireText(ScrollView):
    """Rows of a text, coloured by kind."""

    COMPONENT_CLASSES = {  # noqa: RUF012  Textual's own shape
        f"wire--{name}" for name in (*(kind.value for kind in LETTERS), "added", "boundary")
    }

    @dataclass
    class Widened(Message):
        """The rows are to be cut anew, for another width."""

    def __init__(self) -> None:
        super().__init__(id="wire-text")
        self._whole = ""
        self._boundary = ""
        self.rows: Sequence[Row] = ()
        """What is on it, from top to bottom."""

    @property
    def room(self) -> int:
        """Cells of a row."""
        return self.scrollable_content_region.width

    def show(self, whole: str, rows: Sequence[Row], boundary: str) -> None:
        """Show the rows of a text; `boundary` is what the end of the stable prefix says."""
        self._whole, self.rows, self._boundary = whole, rows, boundary
        self.virtual_size = Size(self.room, len(rows))
        self.refresh()

    def on_resize(self) -> None:
        """Ask for other rows."""
        self.post_message(self.Widened())

    def next_kind(self) -> None:
        """Scroll to where the next kind of segment begins; from the last one, to the first."""
        begins = [
            number
            for number, row in enumerate(self.rows)
            if row.kind is not None and (number == 0 or _kind_ahead(self.rows, number) != row.kind)
        ]
        top = round(self.scroll_y)
        below = [number for number in begins if number > top]
        if begins and (top < round(self.max_scroll_y) or not below):
            self.scroll_to(y=below[0] if below and top < self.max_scroll_y else begins[0])

    def render_line(self, y: int) -> Strip:
        """Draw one row."""
        number = self.scroll_offset.y + y
        if number >= len(self.rows):
            return Strip.blank(self.room, self.rich_style)
        row, width = self.rows[number], self.room
        if row.end is None:
            line = f"── end of the {self._boundary} "
            return Strip([Segment(f"{line:─<{width}}"[:width], self._style("boundary"))])
        kind = row.kind.value if row.kind is not None else "added"
        style = self._style(kind)
        strip = Strip([Segment(row.gutter, style), Segment(row.text(self._whole), style)])
        return strip.adjust_cell_length(width, self.rich_style)

    def style_of(self, name: str) -> VisualStyle | str:
        """Tell the style of a kind; none for what is not in the text."""
        is_kind = any(name == kind.value for kind in LETTERS)
        return self.get_visual_style(f"wire--{name}") if is_kind else ""

    def _style(self, name: str) -> Style:
        return self.get_component_rich_style(f"wire--{name}")


def _kind_ahead(rows: Sequence[Row], number: int) -> object:
    """Find the kind of the last segment ahead of a row; None where there is none."""
    ahead = (rows[place].kind for place in range(number - 1, -1, -1))
    return next((kind for kind in ahead if kind is not None), None)
