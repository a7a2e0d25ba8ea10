"""A list of rows with a cursor, which redraws only the lines that have changed."""

from collections.abc import Sequence

from rich.segment import Segment
from rich.style import Style
from textual._widget_navigation import Direction
from textual.geometry import Size
from textual.reactive import Reactive
from textual.strip import Strip
from textual.widgets import Input, OptionList
from textual.widgets.option_list import Option

from jitchat.tui.drawing import Content


class PointedList(OptionList, inherit_bindings=False):
    """A list whose rows have a blank cell on the left, which shows the cursor sign.

    Its size does not depend on its rows, so that a different number of them needs no new layout. It
    does not scroll horizontally: the left and right arrow keys belong to the view.
    """

    BINDINGS = OptionList.BINDINGS

    virtual_size = Reactive(Size(0, 0), repaint=True)

    def __init__(
        self,
        *options: Option,
        id: str | None = None,  # noqa: A002
        compact: bool = False,
    ) -> None:
        super().__init__(*options, id=id, compact=compact)
        self._drawn: list[Content] = []
        self._boundary: int | None = None

    def notify_style_update(self) -> None:
        """Clear the render cache: the same names are different colours in another theme."""
        super().notify_style_update()
        if self.is_mounted:
            self._option_render_cache.clear()

    def render_line(self, y: int) -> Strip:
        """Draw a line, with the cursor sign in the first line of the highlighted row.

        Textual ignores `reverse` in a row's style.
        """
        strip, at = super().render_line(y), self.scroll_offset.y + y
        row, line = self._lines[at] if at < len(self._lines) else (None, 0)
        if row is None or row != self.highlighted:
            return strip
        if self.get_component_styles("option-list--option-highlighted").text_style.reverse:
            strip = strip.apply_style(REVERSED)
        if line or not self.is_pointed:
            return strip
        style = next((segment.style for segment in strip), None)
        return Strip.join([Strip([Segment(POINTER, style)], 1), strip.crop(1)])

    def _move_page(self, direction: Direction) -> None:
        """Move by a page, unless nothing is laid out: Textual would look up missing lines."""
        if self._lines:
            super()._move_page(direction)

    @property
    def is_pointed(self) -> bool:
        """Whether keys move the cursor, because the list or an input has the focus."""
        return self.has_focus or isinstance(self.screen.focused, Input)

    def on_resize(self) -> None:
        """Keep the highlighted line in view when the list becomes smaller."""
        self.scroll_to_highlight()

    def draw(self, lines: Sequence[Content], boundary: int | None) -> None:
        """Show these lines; the one at `boundary`, if any, cannot be selected."""
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
        """Replace one line."""
        self._drawn[number] = line
        self.replace_option_prompt_at_index(number, line)


POINTER = "▸"
REVERSED = Style(reverse=True)
