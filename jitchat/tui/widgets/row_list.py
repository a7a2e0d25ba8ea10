"""A list of rows, one of which is chosen: only the lines that are others are drawn anew."""

from collections.abc import Sequence

from rich.segment import Segment
from rich.style import Style
from textual._widget_navigation import Direction
from textual.content import Content
from textual.geometry import Size
from textual.reactive import Reactive
from textual.strip import Strip
from textual.widgets import Input, OptionList
from textual.widgets.option_list import Option


class PointedList(OptionList, inherit_bindings=False):
    """Its rows have a blank cell on the left; in that of the chosen one stands the sign.

    Its size is not theirs: the screen is not laid out anew for another number of them. It does not
    scroll sideways: the left and right arrow keys are the view's.
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
        """Forget what was drawn: in another theme, the same names are other colours."""
        super().notify_style_update()
        if self.is_mounted:
            self._option_render_cache.clear()

    def render_line(self, y: int) -> Strip:
        """Draw a line of a row, with the sign in the first one of the chosen row.

        Textual leaves `reverse` out of a row's style.
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
        """Move by a page, where there is room for one: Textual looks for lines all the same."""
        if self._lines:
            super()._move_page(direction)

    @property
    def is_pointed(self) -> bool:
        """Whether keys move the cursor: those that are pressed here, or in the line above."""
        return self.has_focus or isinstance(self.screen.focused, Input)

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


POINTER = "▸"
REVERSED = Style(reverse=True)
