"""The text of a request, however long: only the rows that are on screen are drawn."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from rich.segment import Segment
from rich.style import Style
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.style import Style as VisualStyle

from jitchat.tui.views.wire_rows import LETTERS, Row, Sheet


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
        self._sheet = Sheet("", (), ())
        self._boundary = ""

    @property
    def rows(self) -> Sequence[Row]:
        """What is on it, from top to bottom."""
        return self._sheet.rows

    @property
    def room(self) -> int:
        """Cells of a row."""
        return self.scrollable_content_region.width

    def show(self, sheet: Sheet, boundary: str) -> None:
        """Show a text; `boundary` is what the end of the stable prefix says."""
        self._sheet, self._boundary = sheet, boundary
        self.virtual_size = Size(self.room, len(sheet.rows))
        self.refresh()

    def on_resize(self) -> None:
        """Ask for other rows."""
        self.post_message(self.Widened())

    def next_kind(self) -> None:
        """Scroll to where the next kind of segment begins; from the last one, to the first."""
        begins, top = self._sheet.begins, round(self.scroll_y)
        below = bisect_right(begins, top) if top < round(self.max_scroll_y) else len(begins)
        if begins:
            self.scroll_to(y=begins[below % len(begins)])

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
        strip = Strip([Segment(row.gutter, style), Segment(row.text(self._sheet.whole), style)])
        return strip.adjust_cell_length(width, self.rich_style)

    def style_of(self, name: str) -> VisualStyle | str:
        """Tell the style of a kind; none for what is not in the text."""
        is_kind = any(name == kind.value for kind in LETTERS)
        return self.get_visual_style(f"wire--{name}") if is_kind else ""

    def _style(self, name: str) -> Style:
        return self.get_component_rich_style(f"wire--{name}")
