"""The exact text of a segment or turn."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import TYPE_CHECKING

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding
from textual.widgets import Static

from jitchat.statements import Source
from jitchat.text.sanitize import one_line
from jitchat.tui.dialogs.dialog import Dialog, box
from jitchat.tui.drawing import Content
from jitchat.tui.widgets.text_editor import TextEditor
from jitchat.values import Turn
from jitchat.writing.calls import full_text, starts_of

if TYPE_CHECKING:
    from jitchat.store.store import ColdStore
    from jitchat.tui.widgets.inspector import Inspector

PART = 20_000
"""Characters shown at a time: laying out a megabyte takes seconds."""


Span = tuple[int, int]
"""A range of characters; the end is exclusive."""


class MarkedText(TextEditor):
    """Text with marked passages."""

    COMPONENT_CLASSES = {"exact--passage"}  # noqa: RUF012  Textual's own shape

    def __init__(self) -> None:
        super().__init__(read_only=True, id="exact", compact=True)
        self._marks: dict[int, list[Span]] = {}
        """The marked spans of each line."""

    def show(self, text: str, marks: Sequence[Span]) -> None:
        """Show another text, scrolled to its first mark."""
        starts = [0, *accumulate(len(line) + 1 for line in text.split("\n"))]
        self._marks = {}
        for start, end in marks:
            for line in range(bisect_right(starts, start) - 1, bisect_right(starts, end - 1)):
                span = max(0, start - starts[line]), end - starts[line]
                self._marks.setdefault(line, []).append(span)
        self.text = text
        self.highlight_cursor_line = not marks  # the highlight would hide a mark
        self.scroll_home(animate=False)
        if self._marks:
            line = min(self._marks)
            location = line, self._marks[line][0][0]
            self.call_after_refresh(self.move_cursor, location, center=True)

    def get_line(self, line_index: int) -> Text:
        line = super().get_line(line_index)
        for start, end in self._marks.get(line_index, ()):
            line.stylize(self.get_component_rich_style("exact--passage"), start, end)
        return line


class ExactScreen(Dialog[Source | None]):
    """Text to read, select and copy, under a note on why it is or is not in the window.

    If the text is from another conversation, Enter opens that conversation.
    """

    BINDINGS = [  # noqa: RUF012  Textual's own shape
        Binding("escape,q", "dismiss", "Close", id="exact_close"),
        Binding("enter", "leave", "Open the conversation", id="exact_leave"),
        Binding("y", "copy", "Copy", id="exact_copy"),
        Binding("n", "part(1)", "Next part", id="exact_next"),
        Binding("p", "part(-1)", "Previous part", id="exact_before"),
    ]

    def __init__(
        self,
        title: str,
        text: str,
        note: str = "",
        marks: Sequence[Span] = (),
        leads_to: Source | None = None,
    ) -> None:
        """Show `text`, scrolled to the first of its `marks`, which are in order.

        `leads_to` names the turns of another conversation that the text is from, if any.
        """
        super().__init__()
        self._leads_to = leads_to
        self._title, self._text = one_line(title), text
        self._marks, self._note = marks, note
        self._part = self._marks[0][0] // PART if self._marks else 0

    def compose(self) -> ComposeResult:
        with box(self._title):
            if self._note:
                yield Static(Content(self._note), id="exact-note")
            yield MarkedText()

    def on_mount(self) -> None:
        self.action_part(0)
        self.query_one(MarkedText).focus()  # so that the arrows scroll

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
        where = f"characters {start + 1:,}–{end:,} of {len(self._text):,} · N next · P previous · "
        leads = "⏎ open conversation · " if self._leads_to is not None else ""
        keys = f"{where if last else ''}{leads}Y copy · Esc close"
        self.query_one(".box").border_subtitle = keys

    def action_leave(self) -> None:
        if self._leads_to is not None:
            self.dismiss(self._leads_to)

    def action_copy(self) -> None:
        """Copy the selection, or the whole text if nothing is selected."""
        self.copy(self.query_one(MarkedText).selected_text or self._text)


def row_screen(opened: Inspector.RowOpened, store: ColdStore, conversation: str) -> ExactScreen:
    """Return the full text of an inspector row; `conversation` is the open one.

    Raises:
        StoreError: The row's turn cannot be read.
    """
    text, source, marks = opened.text, opened.source, list[Span]()
    if opened.turn is not None:
        turn = store.turn(source.conversation if source is not None else conversation, opened.turn)
        text = full_text(turn) if turn is not None else ""
        starts = starts_of(turn) if turn is not None else ()
        for passage in opened.passages if starts else ():
            start = starts[passage.call]
            marks.append((start + passage.start, start + passage.end))
    return ExactScreen(opened.title, text, opened.note, marks, source)


def turns_text(turns: Sequence[Turn]) -> str:
    """Write the source turns of a text, or say that they no longer exist."""
    sources = (f"#{turn.position} {turn.speaker}:\n{full_text(turn)}" for turn in turns)
    return "\n\n".join(sources) or "The source conversation was deleted."
