"""The exact text of a segment or a turn."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding
from textual.content import Content
from textual.widgets import Static, TextArea

from jitchat.statements import Source
from jitchat.text.sanitize import for_terminal, one_line
from jitchat.tui.dialogs.dialog import Dialog, box
from jitchat.values import Turn

PART = 20_000
"""Characters that are shown at a time: to lay out a megabyte takes seconds."""


Span = tuple[int, int]
"""Of characters; the end is behind the last."""


class MarkedText(TextArea):
    """Text in which some passages are marked."""

    COMPONENT_CLASSES = {"exact--passage"}  # noqa: RUF012  Textual's own shape

    def __init__(self) -> None:
        super().__init__(read_only=True, id="exact", compact=True)
        self._marks: dict[int, list[Span]] = {}
        """By line."""

    def show(self, text: str, marks: Sequence[Span]) -> None:
        """Show another text; the first mark is brought into view."""
        starts = [0, *accumulate(len(line) + 1 for line in text.split("\n"))]
        self._marks = {}
        for start, end in marks:
            for line in range(bisect_right(starts, start) - 1, bisect_right(starts, end - 1)):
                span = max(0, start - starts[line]), end - starts[line]
                self._marks.setdefault(line, []).append(span)
        self.text = text
        self.highlight_cursor_line = not marks  # it would hide a mark
        self.scroll_home(animate=False)
        if self._marks:
            line = min(self._marks)
            place = line, self._marks[line][0][0]
            self.call_after_refresh(self.move_cursor, place, center=True)

    def get_line(self, line_index: int) -> Text:
        line = super().get_line(line_index)
        for start, end in self._marks.get(line_index, ()):
            line.stylize(self.get_component_rich_style("exact--passage"), start, end)
        return line


class ExactScreen(Dialog[Source | None]):
    """Text to read, select and copy, under a note on why it is in the window or not.

    Of another conversation, Enter leads there.
    """

    BINDINGS = [  # noqa: RUF012  Textual's own shape
        Binding("escape,q", "dismiss", "Close", id="exact_close"),
        Binding("enter", "leave", "Open its conversation", id="exact_leave"),
        Binding("y", "copy", "Copy", id="exact_copy"),
        Binding("n", "part(1)", "Next part", id="exact_next"),
        Binding("p", "part(-1)", "Part before", id="exact_before"),
    ]

    def __init__(
        self,
        title: str,
        text: str,
        note: str = "",
        marks: Sequence[Span] = (),
        leads_to: Source | None = None,
    ) -> None:
        """`marks` are the passages of `text` that are marked, in order; the first is shown.

        `leads_to` are turns of another conversation.
        """
        super().__init__()
        self._leads_to = leads_to
        pieces = list(_for_terminal(text, marks))
        self._title, self._text = one_line(title), "".join(pieces)
        ends = list(accumulate(map(len, pieces)))
        self._marks = list(zip(ends[:-1:2], ends[1::2], strict=True))
        self._note = for_terminal(note)
        self._part = self._marks[0][0] // PART if self._marks else 0

    def compose(self) -> ComposeResult:
        with box(self._title):
            if self._note:
                yield Static(Content(self._note), id="exact-note")
            yield MarkedText()

    def on_mount(self) -> None:
        self.action_part(0)
        self.query_one(TextArea).focus()  # so that the arrows scroll

    def action_part(self, step: int) -> None:
        last = max(0, len(self._text) - 1) // PART
        if step and not 0 <= self._part + step <= last:
            return
        self._part += step
        start = self._part * PART
        end = min(len(self._text), start + PART)
        marks = [(max(0, first - start), min(PART, last - start)) for first, last in self._marks]
        marks = [(first, last) for first, last in marks if first < last]
        self.query_one(MarkedText).show(self._text[start:end], marks)
        where = f"characters {start + 1:,} to {end:,} of {len(self._text):,} · N next · P before · "
        leads = "⏎ open its conversation · " if self._leads_to is not None else ""
        keys = f"{where if last else ''}{leads}Y copy · Esc close"
        self.query_one(".box").border_subtitle = keys

    def action_leave(self) -> None:
        if self._leads_to is not None:
            self.dismiss(self._leads_to)

    def action_copy(self) -> None:
        """Copy what is selected, or all of the text."""
        self.copy(self.query_one(TextArea).selected_text or self._text)


def turns_text(turns: Sequence[Turn]) -> str:
    """Write the turns that something was taken from, or say that they are gone."""
    said = (f"#{turn.position} {turn.speaker}:\n{turn.content}" for turn in turns)
    return "\n\n".join(said) or "The conversation that this was taken from is deleted."


def _for_terminal(text: str, marks: Sequence[Span]) -> Iterator[str]:
    """Make what is ahead of each mark, the mark itself, and at last the rest, safe to show."""
    at = 0
    for start, end in marks:
        yield for_terminal(text[at:start])
        yield for_terminal(text[start:end])
        at = end
    yield for_terminal(text[at:])
