"""A text area that keeps every character, and moves and deletes by what a reader sees as one.

Its document is the text itself, divided at line feeds only. What cannot be drawn safely is drawn as
a stand-in: one for each character, so that the cursor and the drawing agree.
"""

from collections.abc import Iterable, Sequence

from rich.style import Style
from rich.text import Text
from textual import events
from textual.document._document import Document, EditResult
from textual.document._document_navigator import DocumentNavigator
from textual.document._wrapped_document import WrappedDocument
from textual.widgets import TextArea
from textual.widgets.text_area import Edit, Location, Selection

from jitchat.text.figures import plural
from jitchat.text.graphemes import clusters, words
from jitchat.text.sanitize import stand_ins, without_controls


class TextDocument(Document):
    """A document whose only line break is the line feed; Textual's own has eleven."""

    def __init__(self, text: str) -> None:
        super().__init__("")
        self.drawn = Document("")
        """The lines as they are drawn, for wrapping and positions."""
        self._put_lines(0, 1, text.split("\n"))

    def _put_lines(self, first: int, end: int, lines: Sequence[str]) -> None:
        self._lines[first:end] = lines
        self.drawn.lines[first:end] = map(stand_ins, lines)

    def replace_range(self, start: Location, end: Location, text: str) -> EditResult:
        (top, left), (bottom, right) = sorted((start, end))
        replaced = self.get_text_range(start, end)
        before = self._lines[top][:left] if top < len(self._lines) else ""
        after = self._lines[bottom][right:] if bottom < len(self._lines) else ""
        inserted = f"{before}{text}".split("\n")
        end_location = top + len(inserted) - 1, len(inserted[-1])
        inserted[-1] += after
        self._put_lines(top, bottom + 1, inserted)
        return EditResult(end_location, replaced)


class _DrawnLine(Text):
    """A line whose styles, such as the cursor's, cover whole clusters."""

    spans_of_clusters: Sequence[tuple[int, int]] = ()

    def stylize(self, style: str | Style, start: int = 0, end: int | None = None) -> None:
        for left, right in self.spans_of_clusters:
            if end is not None and left < end < right:
                end = right
            if left < start < right:
                start = left
        super().stylize(style, start, end)


class TextEditor(TextArea):
    def _set_document(self, text: str, language: str | None) -> None:  # noqa: ARG002  Textual's own shape
        document = TextDocument(text)
        self.document = document
        self.wrapped_document = WrappedDocument(document.drawn, tab_width=self.indent_width)
        self.navigator = DocumentNavigator(self.wrapped_document)
        self._build_highlight_map()
        self.move_cursor((0, 0))
        self._rewrap_and_refresh_virtual_size()

    def get_line(self, line_index: int) -> Text:
        line = self.document.get_line(line_index)
        drawn = _DrawnLine(stand_ins(line), end="", no_wrap=True)
        drawn.spans_of_clusters = clusters(line)
        return drawn

    async def _on_paste(self, event: events.Paste) -> None:
        event.stop()
        event.prevent_default()
        if not self.read_only:
            text = self.accepted(event.text)
            self.replace(text, *self.selection, maintain_selection_offset=False)

    def accepted(self, pasted: str) -> str:
        """Return a pasted text without control characters, which a notice reports."""
        text, refused = without_controls(pasted)
        if refused:
            characters = plural(refused, "control character was")
            self.notify(f"{characters} left out of the paste.", markup=False)
        return text

    # Clusters, and what a subclass adds to them, are one unit

    def units(self, row: int) -> Iterable[tuple[int, int]]:
        """Return the start and end of what cursor and deletion treat as one character."""
        return clusters(self.document.get_line(row))

    def _units_at(self, *locations: Location) -> Iterable[tuple[Location, int]]:
        """Yield the start and end column of the units that have one of the locations inside."""
        for row, column in locations:
            for left, right in self.units(row):
                if left < column < right:
                    yield (row, left), right

    def edit(self, edit: Edit) -> EditResult:
        """Extend an edit to include units that it would split; move the cursor out of new ones."""
        start, end = sorted((edit.from_location, edit.to_location))
        is_insertion = start == end
        for (row, left), right in self._units_at(start, end):
            start = (row, right) if is_insertion else min(start, (row, left))
            end = max(end, (row, right))
        result = super().edit(self.made_edit(edit, (start, end)))
        for (row, left), right in self._units_at(result.end_location):
            if self.selection == Selection.cursor((row, left)):  # what was before it stays there
                self.selection = Selection.cursor((row, right))
        return result

    def made_edit(self, edit: Edit, span: tuple[Location, Location]) -> Edit:
        """Return an edit with the text of `edit` for another range."""
        return Edit(edit.text, *span, edit.maintain_selection_offset)

    def clamp_visitable(self, location: Location) -> Location:
        row, column = super().clamp_visitable(location)
        spans = clusters(self.document.get_line(row))
        return row, next((left for left, right in spans if left < column < right), column)

    def get_cursor_left_location(self) -> Location:
        location = super().get_cursor_left_location()
        return next((left for left, _ in self._units_at(location)), location)

    def get_cursor_right_location(self) -> Location:
        location = super().get_cursor_right_location()
        return next(((left[0], right) for left, right in self._units_at(location)), location)

    def get_cursor_word_left_location(self) -> Location:
        row, column = self.cursor_location
        if row and not column:
            return row - 1, len(self.document.get_line(row - 1))
        before = self.document.get_line(row)[:column].rstrip()
        edges = (edge for word in words(before) for edge in word if edge < len(before))
        return row, max(edges, default=0)

    def get_cursor_word_right_location(self) -> Location:
        row, column = self.cursor_location
        line = self.document.get_line(row)
        if row < self.document.line_count - 1 and column == len(line):
            return row + 1, 0
        behind = line[column:].lstrip()
        edges = (edge for word in words(behind) for edge in word if edge)
        return row, len(line) - len(behind) + min(edges, default=len(behind))
