"""The list of models: draws its rows in columns and keeps the highlight where it belongs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from textual import events
from textual.content import Content
from textual.widgets.option_list import Option

from jitchat.text.words import folded
from jitchat.tui.model_columns import Columns, RowState
from jitchat.tui.model_rows import READER, ModelRow, matches
from jitchat.tui.widgets.pointed_list import PointedList

_GAP = 2


class ModelList(PointedList):
    """Rows, and which of them is chosen."""

    def __init__(self, state_of: Callable[[ModelRow], RowState]) -> None:
        super().__init__(id="choices")
        self._state_of = state_of
        self._rows: list[ModelRow] = []
        self._kept: tuple[str, str] | None = None
        """The row that the user went to; None while the highlight may move by itself."""

    @property
    def chosen(self) -> ModelRow | None:
        """The row under the highlight."""
        return self.row_at(self.highlighted)

    @property
    def columns(self) -> Columns:
        """Where things stand, as wide as the list is now."""
        titles = (Content(row.title).cell_length for row in self._rows if row.note)
        return Columns(self.scrollable_content_region.width - 2, max(titles, default=0) + _GAP)

    def row_at(self, index: int | None) -> ModelRow | None:
        """The row at a place; None for what is no row."""
        return self._rows[index] if index is not None and index < len(self._rows) else None

    def show(self, rows: Sequence[ModelRow], searched: str = "") -> None:
        """Draw these rows, which are those that were `searched`; empty for all."""
        self._rows = list(rows)
        self._draw()
        known = {row.id: place for place, row in enumerate(self._rows) if not row.is_count}
        place = known.get(self._kept) if self._kept else None
        self.highlighted = self._first(searched) if place is None else place

    def keep(self, row: tuple[str, str] | None) -> None:
        """Stay at this row from now on, whatever comes; with None, no longer."""
        self._kept = row

    async def go(self, way: str) -> None:
        """Move the highlight by `cursor_down`, `page_up` and so on, while typing goes on."""
        await self.run_action(way)
        chosen = self.chosen
        self.keep(chosen.id if chosen is not None else None)

    def on_resize(self, event: events.Resize) -> None:
        """Columns follow the width."""
        if event.size.width and self._rows:
            self.call_after_refresh(self._draw_again)

    def _draw_again(self) -> None:
        place = self.highlighted
        self._draw()
        self.highlighted = place

    def _draw(self) -> None:
        columns = self.columns
        lines = [
            Option(columns.line(row, self._state_of(row)), disabled=row.is_count)
            for row in self._rows
        ]
        self.set_options(lines)

    def _first(self, searched: str) -> int | None:
        """Where the highlight is at first; None where there is no row."""
        places = self._found(searched) if searched else self._usable()
        return next(places, 0 if self._rows else None)

    def _usable(self) -> Iterator[int]:
        """The model in use; with the reader, another that there is, or who can be asked."""
        others = [
            at for at, row in enumerate(self._rows) if row.is_ready and row.provider != READER
        ]
        yield from (at for at in others if self._state_of(self._rows[at]).in_use)
        yield from (at for at in others if self._rows[at].model)
        yield from others

    def _found(self, searched: str) -> Iterator[int]:
        """The provider of that name, at its models if they are there; or the first model."""
        text = folded(searched)
        for row in [row for row in self._rows if text in (row.provider, folded(row.title))]:
            mine = [at for at, each in enumerate(self._rows) if each.provider == row.provider]
            yield from (at for at in mine if self._rows[at].model)
            yield from mine
        models = [at for at, row in enumerate(self._rows) if row.model]
        listed = [at for at in models if not self._rows[at].is_typed]
        yield from (at for at in listed if matches(searched, self._rows[at].model))
        yield from listed or models
