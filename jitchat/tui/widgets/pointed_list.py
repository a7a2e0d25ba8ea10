"""A list whose chosen row is pointed at by a sign, for colours are not seen on every terminal."""

from __future__ import annotations

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip
from textual.widgets import Input, OptionList

POINTER = "▸"
REVERSED = Style(reverse=True)


class PointedList(OptionList):
    """Its rows have a blank cell on the left; in that of the chosen one stands the sign."""

    @property
    def is_followed(self) -> bool:
        """Whether keys move the cursor: those that are pressed here, or in the line above."""
        return self.has_focus or isinstance(self.screen.focused, Input)

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
        if line or not self.is_followed:
            return strip
        style = next((segment.style for segment in strip), None)
        return Strip.join([Strip([Segment(POINTER, style)], 1), strip.crop(1)])
