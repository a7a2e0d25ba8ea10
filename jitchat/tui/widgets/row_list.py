"""The list of a window's rows: of another window, only the lines that are others are drawn."""

from __future__ import annotations

from collections.abc import Sequence

from textual.content import Content
from textual.geometry import Size
from textual.reactive import Reactive
from textual.widgets.option_list import Option

from jitchat.tui.widgets.pointed_list import PointedList


class RowList(PointedList):
    """Lines, one of which nobody can choose.

    Its size is not theirs: the screen is not laid out anew for another number of them.
    """

    virtual_size = Reactive(Size(0, 0), repaint=True)

    def __init__(self, name: str) -> None:
        super().__init__(id=name, compact=True)
        self._drawn: list[Content] = []
        self._boundary: int | None = None

    def on_resize(self) -> None:
        """The chosen line stays in view where another note below leaves less room."""
        self.scroll_to_highlight()

    def draw(self, lines: Sequence[Content], boundary: int | None) -> None:
        """Show these lines; the one at `boundary` cannot be chosen, None for none."""
        before, self._drawn = self._drawn, list(lines)
        if len(before) == len(lines) and boundary == self._boundary:
            for number, (old, new) in enumerate(zip(before, lines, strict=True)):
                if not old.is_same(new):
                    self.replace_option_prompt_at_index(number, new)
        else:
            self._boundary = boundary
            self.set_options(
                Option(line, disabled=number == boundary) for number, line in enumerate(lines)
            )

    def draw_one(self, number: int, line: Content) -> None:
        """Show another line in the place of one."""
        self._drawn[number] = line
        self.replace_option_prompt_at_index(number, line)
