"""The list of models: rows drawn in columns, nothing of them cut off, and which one is chosen."""

import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from textual import events
from textual.content import Content
from textual.message import Message
from textual.widgets.option_list import Option

from jitchat.text.words import fold
from jitchat.tui.model_rows import READER, ModelRow, matches
from jitchat.tui.palette import MUTED
from jitchat.tui.widgets.row_list import PointedList

_MARGIN = 4
"""Cells ahead of a model's name; the mark of the one in use stands in them."""
_FIGURES = (10, 10, 10)
"""Cells of the context size and the prices."""
_GAP = 2


@dataclass(frozen=True, slots=True)
class RowState:
    """What is going on with a row's provider, beside what is known of it."""

    in_use: bool = False
    asking: bool = False
    refusal: str = ""
    """Why it did not list its models; empty where nothing is wrong."""


@dataclass(frozen=True, slots=True)
class Columns:
    """Where things stand on a line of `width` cells."""

    width: int
    title: int
    """Cells of a provider's title."""

    @property
    def name(self) -> int:
        """Cells of a model's name, ahead of its figures."""
        return max(8, self.width - _MARGIN - sum(_FIGURES))

    def header(self) -> str:
        return " " * (_MARGIN + self.name) + _right("context", "in $/M", "out $/M")

    def line(self, row: ModelRow, state: RowState) -> Content:
        """Draw a row; a long name or sentence takes several lines."""
        if row.is_count:
            return Content.styled(" " * _MARGIN + row.note, MUTED)
        if row.is_typed:
            return Content.assemble(("  + ", MUTED), (row.title, "" if row.is_ready else MUTED))
        if row.model and not row.note:
            return self._model(row, in_use=state.in_use)
        return self._provider(row, state)

    def _model(self, row: ModelRow, *, in_use: bool) -> Content:
        mark, figures = "  • " if in_use else " " * _MARGIN, _right(*row.figures)
        name = _padded(Content(row.title), self.name).stylize("bold" if in_use else "")
        is_long = name.cell_length > self.name
        gap = f"\n{'':<{_MARGIN + self.name}}" if is_long and figures.strip() else ""
        return Content.assemble(mark, name, gap, (figures.rstrip(), MUTED))

    def _provider(self, row: ModelRow, state: RowState) -> Content:
        note = f"{'asking…' if state.asking else row.note}{' • in use' if state.in_use else ''}"
        lines = textwrap.wrap(note, max(20, self.width - self.title))
        parts: list[tuple[str, str] | Content] = [
            _padded(Content.styled(row.title, "bold" if row.is_ready else MUTED), self.title),
            (f"\n{'':<{self.title}}".join(lines) or note, MUTED),
        ]
        if state.refusal and not state.asking:
            wrapped = textwrap.wrap(state.refusal, max(24, self.width) - _MARGIN)
            parts += [(f"\n{' ' * _MARGIN}{line}", "$text-error") for line in wrapped]
        return Content.assemble(*parts)


def _padded(content: Content, width: int) -> Content:
    return content.pad_right(max(0, width - content.cell_length))


def _right(*figures: str) -> str:
    return "".join(f"{figure:>{room}}" for figure, room in zip(figures, _FIGURES, strict=True))


class ModelList(PointedList):
    class ColumnsMoved(Message):
        """The list has another width than before."""

    def __init__(self, state_of: Callable[[ModelRow], RowState]) -> None:
        super().__init__(id="choices")
        self._state_of = state_of
        self._rows: list[ModelRow] = []
        self._kept: tuple[str, str] | None = None
        """The row that the user went to; None while the highlight may move by itself."""
        self._width = 0

    @property
    def chosen(self) -> ModelRow | None:
        at = self.highlighted
        return self._rows[at] if at is not None and at < len(self._rows) else None

    @property
    def columns(self) -> Columns:
        """Where things stand, as wide as the list is, or was when it was last on screen."""
        self._width = self.scrollable_content_region.width or self._width
        titles = (Content(row.title).cell_length for row in self._rows if row.note)
        return Columns(self._width - 2, max(titles, default=0) + _GAP)

    def show(self, rows: Sequence[ModelRow], searched: str = "") -> None:
        self._rows = list(rows)
        self._draw()
        places = {row.id: place for place, row in enumerate(self._rows) if not row.is_count}
        place = places.get(self._kept) if self._kept else None
        if place is None:
            likely = self._matching(searched) if searched else self._usable()
            place = next(likely, 0 if self._rows else None)
        self.highlighted = place

    def keep(self, row: tuple[str, str] | None) -> None:
        """Stay at this row from now on, whatever comes; with None, no longer."""
        self._kept = row

    def on_resize(self, event: events.Resize) -> None:
        if event.size.width and self._rows:
            self.call_after_refresh(self._draw_again)

    def _draw_again(self) -> None:
        place = self.highlighted
        self._draw()
        self.highlighted = place
        self.post_message(self.ColumnsMoved())

    def _draw(self) -> None:
        columns = self.columns
        self.set_options(
            Option(columns.line(row, self._state_of(row)), disabled=row.is_count)
            for row in self._rows
        )

    def _usable(self) -> Iterator[int]:
        """The model in use; with the reader, another that there is, or who can be asked."""
        rows = list(enumerate(self._rows))
        others = [(at, row) for at, row in rows if row.is_ready and row.provider != READER]
        yield from (at for at, row in others if self._state_of(row).in_use)
        yield from (at for at, row in others if row.model)
        yield from (at for at, _ in others)

    def _matching(self, searched: str) -> Iterator[int]:
        """The provider of that name, at its models if they are there; or the first model."""
        text = fold(searched)
        for row in self._rows:
            if text in (row.provider, fold(row.title)):
                own = [at for at, each in enumerate(self._rows) if each.provider == row.provider]
                yield from (at for at in own if self._rows[at].model)
                yield from own
        models = [at for at, row in enumerate(self._rows) if row.model]
        listed = [at for at in models if not self._rows[at].is_typed]
        yield from (at for at in listed if matches(searched, self._rows[at].model))
        yield from listed or models
