"""The prompt's edits, which change the origin of its text with it; undo and redo restore both."""

from dataclasses import dataclass, replace
from typing import cast

from textual.document._document import Document
from textual.widgets import TextArea
from textual.widgets.text_area import Edit, EditResult, Location

from jitchat.attachments import Attachment
from jitchat.draft import EMPTY, Draft


@dataclass
class Written:
    """What the prompt holds; its text is that of the text area."""

    draft: Draft = EMPTY
    removed: Draft = EMPTY
    """What the last edit removed."""


def index_of(text_area: TextArea, location: Location) -> int:
    """Return a location's place in the text, in characters."""
    return cast("Document", text_area.document).get_index_from_location(location)


class DraftEdit(Edit):
    def __init__(
        self,
        written: Written,
        piece: Draft,
        span: tuple[Location, Location],
        *,
        keeps_selection: bool = False,
        files: tuple[Attachment, ...] | None = None,
    ) -> None:
        """`files` replaces the draft's files; with None, they stay."""
        super().__init__(piece.text, *span, keeps_selection)
        self.piece = piece
        self.files = files
        self._written = written
        self._before = EMPTY

    def do(self, text_area: TextArea, record_selection: bool = True) -> EditResult:
        before = self._written.draft
        start = index_of(text_area, self.top)
        end = index_of(text_area, self.bottom)
        result = super().do(text_area, record_selection)
        typed = before.typed[:start] + self.piece.typed + before.typed[end:]
        files = before.files if self.files is None else self.files
        self._before = before
        self._written.draft = Draft.matched(text_area.text, typed, files)
        self._written.removed = before.between(start, end)
        return result

    def undo(self, text_area: TextArea) -> EditResult:
        files = self._written.draft.files if self.files is None else self._before.files
        self._written.draft = replace(self._before, files=files)
        return super().undo(text_area)
