"""A table of turns or similar rows: columns as data, one line per row.

It is based on Textual's OptionList. DataTable has no column that takes the rest of the line, no
lines across all columns, no `…` for cut-off cells, and renders each cell separately.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from rich.cells import cell_len
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Static
from textual.widgets.option_list import Option

from jitchat.statements import Source
from jitchat.text.sanitize import one_line, stand_ins
from jitchat.tui.drawing import Content
from jitchat.tui.figures import BESIDE
from jitchat.tui.widgets.row_list import PointedList

Row = TypeVar("Row")
Cell = str | Content


@dataclass(frozen=True, slots=True)
class Column(Generic[Row]):
    """A column; the last one of a table takes the rest of the line, which is cut off with `…`."""

    title: str
    cell: Callable[[Row], Cell]
    width: int | None = None
    """In cells; None for the rest of the line, where text is sanitized and put on one line."""
    is_right: bool = False
    """Whether the column is right-aligned."""
    gap: int = 1
    """Blank cells before it, except in the first column."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line across all columns: a heading, a rule, a sum."""

    text: str
    style: str = ""
    fill: str = ""
    """The character that fills the rest of the line."""
    can_be_chosen: bool = False
    leads_to: Source | None = None
    """Turns of another conversation that the line stands for, if any."""


Columns = Sequence[Column[Row]] | Callable[[int], Sequence[Column[Row]]]
"""The columns, or a function that returns them for a width in cells."""


def header(columns: Sequence[Column[Row]]) -> str:
    titles = [(column, column.title) for column in columns if column.title or column.width]
    return _plain(_aligned(titles))


def draw(columns: Sequence[Column[Row]], row: Row, style: str = "") -> Content:
    """Draw a row in its full width."""
    line = Content.assemble(*_row_parts(columns, row))
    return line.stylize_before(style) if style else line


def fitting(columns: Sequence[Column[Row]], width: int) -> Sequence[Column[Row]]:
    """Leave out the columns from the first one that does not fit whole: no figure is cut."""
    shown, taken = list[Column[Row]](), 0
    for column in columns:
        taken += (column.width or 0) + (column.gap if shown else 0)
        if taken > width > 0:
            break
        shown.append(column)
    return shown


def _row_parts(columns: Sequence[Column[Row]], row: Row) -> list[Cell]:
    return _aligned([(column, column.cell(row)) for column in columns])


def _plain(parts: Sequence[Cell]) -> str:
    return "".join(map(str, parts))


def _aligned(cells: Sequence[tuple[Column[Row], Cell]]) -> list[Cell]:
    parts: list[Cell] = []
    for place, (column, cell) in enumerate(cells):
        gap = " " * column.gap if place else ""
        if column.width is None:
            parts += [gap, one_line(cell) if isinstance(cell, str) else cell]
            continue
        taken = cell_len(stand_ins(cell)) if isinstance(cell, str) else cell.cell_length
        blank = " " * (column.width - taken)
        parts += [gap, blank, cell] if column.is_right else [gap, cell, blank]
    return parts


class TurnTable(Vertical, Generic[Row]):
    """A header and its rows; the list inside has the focus and the cursor."""

    def __init__(
        self,
        columns: Columns[Row],
        *,
        id: str,  # noqa: A002  Textual's own name
        key: Callable[[Row], object] = lambda row: row,
        style: Callable[[Row], str] = lambda _: "",
        has_cursor: bool = True,
    ) -> None:
        """`key` identifies rows, so that the cursor stays on its row; `style` is for whole rows.

        Rows without a cursor are read, not chosen.
        """
        super().__init__(id=id, classes="turn-table")
        self._columns, self._key, self._style = columns, key, style
        self._items: Sequence[Row | Line] = ()
        self._has_cursor = has_cursor
        self._header = Static(classes="turn-table-header")
        self.list = PointedList(compact=True)
        self.list.can_focus = has_cursor

    def compose(self) -> ComposeResult:
        yield self._header
        yield self.list

    def on_mount(self) -> None:
        self._header.update(Content(header(fitting(self.columns, self.width))))

    @property
    def width(self) -> int:
        """Width of a row's text."""
        return max(0, self.size.width - BESIDE)

    @property
    def columns(self) -> Sequence[Column[Row]]:
        """The columns for the current width."""
        return self._columns(self.width) if callable(self._columns) else self._columns

    @property
    def row(self) -> Row | None:
        """The row under the cursor; None on a `Line` or without rows."""
        item = self._item
        return None if isinstance(item, Line) else item

    @property
    def line(self) -> Line | None:
        """The `Line` under the cursor; None on a row or without lines."""
        item = self._item
        return item if isinstance(item, Line) else None

    @property
    def _item(self) -> Row | Line | None:
        place = self.list.highlighted
        return self._items[place] if place is not None and place < len(self._items) else None

    @property
    def rows(self) -> list[Row]:
        return [item for item in self._items if not isinstance(item, Line)]

    def show(
        self,
        items: Sequence[Row | Line],
        *,
        at: object = None,
        columns: Columns[Row] | None = None,
        style: Callable[[Row], str] | None = None,
    ) -> None:
        """Show other rows, with the cursor on the row whose key is `at`; None keeps its row.

        If that row does not exist, the cursor moves to the first one.
        """
        here = self._key(self.row) if at is None and self.row is not None else at
        self._items, self._style = items, style or self._style
        self._columns = columns if columns is not None else self._columns
        self.list.set_options(
            Option(line, disabled=isinstance(item, Line) and not item.can_be_chosen)
            for item, line in zip(items, self._drawn(), strict=True)
        )
        self.list.highlighted = self._place_of(here) if self._has_cursor else None

    def replace_row(self, row: Row) -> None:
        """Replace the row with the same key, and draw it."""
        place = self._place_of(self._key(row))
        if place is not None:
            self._items = [*self._items[:place], row, *self._items[place + 1 :]]
            line = draw(fitting(self.columns, self.width), row, self._style(row))
            self.list.replace_option_prompt_at_index(place, line)

    def text(self) -> list[str]:
        """Write header and rows as plain lines, for the clipboard."""
        columns = self.columns
        return [
            header(columns).rstrip(),
            *(
                item.text if isinstance(item, Line) else _plain(_row_parts(columns, item)).rstrip()
                for item in self._items
            ),
        ]

    def on_resize(self) -> None:
        """Redraw all lines: other columns may fit, and fills have another length."""
        for place, line in enumerate(self._drawn()):
            self.list.replace_option_prompt_at_index(place, line)

    def _drawn(self) -> list[Content]:
        columns, width = fitting(self.columns, self.width), self.width
        self._header.update(Content(header(columns)))
        lines = []
        for item in self._items:
            if isinstance(item, Line):
                fill = item.fill * (width - cell_len(item.text))
                lines.append(Content.assemble((f"{item.text}{fill}", item.style)))
            else:
                lines.append(draw(columns, item, self._style(item)))
        return lines

    def _place_of(self, key: object) -> int | None:
        """Return the index of the row with this key, else of the first row or choosable line."""
        places = range(len(self._items))
        rows = {at: row for at in places if not isinstance(row := self._items[at], Line)}
        lines = (at for at in places if at not in rows and not self.list.options[at].disabled)
        same = (at for at, row in rows.items() if self._key(row) == key)
        return next(same, next(iter(rows), next(lines, None)))
