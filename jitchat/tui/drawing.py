"""The border between text and the cells of the screen.

`Content` makes visible what a terminal would obey, reorder or hide in a text. `SafeCells` guards
all widgets, whatever they draw: it removes what is left. It keeps the width of each line, whose
layout is complete by then.
"""

from typing import TYPE_CHECKING, Any

from rich.segment import Segment
from textual import content
from textual.color import Color
from textual.filter import LineFilter

from jitchat.text.sanitize import CHANGED, for_terminal, stand_ins


class SafeContent(content.Content):
    def __init__(self, text: str = "", spans: Any = None, *others: Any, **options: Any) -> None:  # noqa: ANN401  Textual's own
        # spans count characters, of which none may go
        safe = stand_ins(text) if spans else for_terminal(text).cells
        super().__init__(safe, spans, *others, **options)


if TYPE_CHECKING:  # what is made of a content, such as a part of it, is Textual's own
    from textual.content import Content as Content  # noqa: PLC0414  exported
else:
    Content = SafeContent


_OF_EQUAL_WIDTH = dict.fromkeys((*CHANGED, *b"\t\n"), "")
_OF_EQUAL_WIDTH |= {0xAD: "\ufffd", 0x115F: "\ufffd\ufffd"}
"""What is drawn for the characters that are unsafe, most of which have no width."""


class SafeCells(LineFilter):
    """Replaces the characters that a terminal would obey, reorder or hide."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:  # noqa: ARG002  Textual's own shape
        return [
            segment
            if segment.control or (segment.text.isascii() and segment.text.isprintable())
            else segment._replace(text=segment.text.translate(_OF_EQUAL_WIDTH))
            for segment in segments
        ]
