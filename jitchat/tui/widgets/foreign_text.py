"""Texts by a model or a server, with a bar before each row, so that no row looks like jitchat's."""

from collections.abc import Sequence

from textual.geometry import Size
from textual.widget import Widget

from jitchat.tui.drawing import Content

BAR = "│ "


class ForeignText(Widget):
    """Shows (heading, foreign text) pairs; only the headings, which are ours, have no bar.

    A pair without a text is left out.
    """

    DEFAULT_CSS = "ForeignText { height: auto; text-wrap: nowrap; }"

    def __init__(self, *details: tuple[str, str], id: str | None = None) -> None:  # noqa: A002  as Textual has it
        super().__init__(id=id)
        self._details: Sequence[tuple[str, str]] = details

    def update(self, details: Sequence[tuple[str, str]]) -> None:
        self._details = details
        self.refresh(layout=True)

    def rows(self, width: int) -> list[Content]:
        """Return the rows of all texts, each at most `width` cells wide."""
        rows = []
        for heading, text in self._details:
            if not text:
                continue
            if heading:
                rows += Content.styled(heading, "bold").wrap(width)
            rows += barred(text, width)
        return rows

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # noqa: ARG002  as Textual has it
        return len(self.rows(width))

    def render(self) -> Content:
        return Content("\n").join(self.rows(self.size.width))


def barred(text: str, width: int) -> list[Content]:
    """Wrap a text that is safe to show, then put a bar before each of its rows."""
    wrapped = Content(text).wrap(max(2, width - len(BAR)))
    return [Content(f"{BAR}{row.plain}".rstrip()) for row in wrapped]
