"""The border between text and the cells of the screen.

`Content` makes visible what a terminal would obey, reorder or hide in a text. `SafeCells` guards
all widgets, whatever they draw: it removes what is left. It keeps the width of each line, whose
layout is complete by then.
"""

from itertools import accumulate
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len
from rich.segment import Segment
from textual import content
from textual.color import Color
from textual.filter import LineFilter
from textual.geometry import Offset
from textual.selection import Selection
from textual.style import Style
from textual.widgets import Static

from jitchat.text.sanitize import CHANGED, TerminalText, for_terminal

_Part = str | content.Content | tuple[str, str | Style]


class SafeContent(content.Content):
    def __init__(self, text: str = "", *arguments: Any, **options: Any) -> None:  # noqa: ANN401  Textual's own
        super().__init__(for_terminal(text).cells, *arguments, **options)

    @classmethod
    def assemble(cls, *parts: _Part, **options: Any) -> content.Content:  # noqa: ANN401  Textual's own
        return super().assemble(*map(_safe_part, parts), **options)


def _safe_part(part: _Part) -> _Part:
    """Draw the text before its place in the line is counted: it can become shorter."""
    if isinstance(part, tuple):
        return for_terminal(part[0]).cells, part[1]
    return for_terminal(part).cells if isinstance(part, str) else part


if TYPE_CHECKING:  # what is made of a content, such as a part of it, is Textual's own
    from textual.content import Content as Content  # noqa: PLC0414  exported
else:
    Content = SafeContent


class Verbatim(Static):
    """Foreign text, verbatim: what is selected and copied is the text itself."""

    def __init__(self, text: str = "", *, classes: str | None = None) -> None:
        super().__init__(Content(text), classes=classes)
        self._source = text

    def show(self, text: str, head: Content | None = None, *, layout: bool = True) -> None:
        """Show a text after a styled beginning; without `layout`, it must have the same height."""
        head = head or Content()
        self._source = f"{head.plain}{text}"
        self.update(head + Content(text), layout=layout)

    def get_selection(self, selection: Selection) -> tuple[str, str]:
        return selected_source(for_terminal(self._source), selection), "\n"


def selected_source(text: TerminalText, selection: Selection) -> str:
    """Return the source of the selected cells of a text."""
    starts = list(accumulate((len(line) + 1 for line in text.cells.split("\n")), initial=0))

    def index_of(offset: Offset | None, default: int) -> int:
        return default if offset is None else starts[min(offset.y, len(starts) - 1)] + offset.x

    last = len(text.cells)
    return text.source_between(index_of(selection.start, 0), index_of(selection.end, last))


class SafeCells(LineFilter):
    """Replaces the characters that a terminal would obey, reorder or hide."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:  # noqa: ARG002  Textual's own shape
        return [_safe_segment(segment) for segment in segments]


def _safe_segment(segment: Segment) -> Segment:
    text = segment.text
    if segment.control or (text.isascii() and text.isprintable()):
        return segment
    return segment._replace(text=text.translate(_STAND_INS))


class _StandIns(dict[int, str]):
    """Maps each character to itself or, if it is unsafe, to a text of its width."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        is_unsafe = code in CHANGED or character in "\t\n"
        self[code] = "\ufffd" * cell_len(character) if is_unsafe else character
        return self[code]


_STAND_INS = _StandIns()
