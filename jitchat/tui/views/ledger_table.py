"""The table of the ledger view: rows and rules, one row under the cursor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from textual.content import Content
from textual.reactive import reactive
from textual.widgets.option_list import Option

from jitchat.tui.cells import BESIDE
from jitchat.tui.views.ledger_drawing import (
    PARTS,
    Marked,
    Sheet,
    never_line,
    parts_that_fit,
    row_line,
    rule_line,
)
from jitchat.tui.views.ledger_rows import Row, Rule
from jitchat.tui.widgets.pointed_list import PointedList
from jitchat.window.window import ContextWindow


@dataclass(frozen=True, slots=True)
class Found:
    """What is known of a window."""

    window: ContextWindow
    lines: Mapping[int, str] = field(default_factory=dict)
    """Index lines, by turn."""
    marked: Marked = field(default_factory=Marked)


class LedgerTable(PointedList):
    """Draws rows; a rule cannot be chosen, the sum of the never-candidates is the last row."""

    parts: reactive[tuple[str, ...]] = reactive(PARTS)
    """Of the score: those that have a column."""

    def __init__(self) -> None:
        super().__init__(id="ledger-table", compact=True)
        self._items: list[Row | Rule] = []
        self._found: Found | None = None

    @property
    def row(self) -> Row | None:
        """The row under the cursor; None on the sum of the never-candidates, or without rows."""
        place = self.highlighted
        item = self._items[place] if place is not None and place < len(self._items) else None
        return item if isinstance(item, Row) else None

    @property
    def rows(self) -> list[Row]:
        """All rows, in order."""
        return [item for item in self._items if isinstance(item, Row)]

    def fill(
        self, items: Sequence[Row | Rule], found: Found, *, with_sum: bool, at: int | None
    ) -> None:
        """Show rows, with the cursor on the turn `at`; else on its turn, else on the first row."""
        here = self.row.turn if at is None and self.row is not None else at
        self._items, self._found = list(items), found
        never = never_line(found.window) if with_sum else ""
        options = [Option(line, disabled=isinstance(item, Rule)) for item, line in self._drawn()]
        self.set_options([*options, *([Option(Content(never))] if never else [])])
        self.highlighted = self._place_of(here) if self.option_count else None

    def text(self) -> list[str]:
        """Write every line, as drawn."""
        return [str(self.get_option_at_index(place).prompt) for place in range(self.option_count)]

    def on_resize(self) -> None:
        """A reason is cut where the list ends."""
        for place, (_, line) in enumerate(self._drawn()):
            self.replace_option_prompt_at_index(place, line)

    def _drawn(self) -> list[tuple[Row | Rule, Content]]:
        if self._found is None:
            return []
        width = max(0, self.size.width - BESIDE)
        largest = max((value for row in self.rows for _, value in row.parts), default=0.0)
        sheet = Sheet(self._found.window, self._found.marked, largest, width)
        self.parts = parts_that_fit(self.rows, sheet)
        sheet = replace(sheet, parts=self.parts)
        return [(item, _line(item, sheet)) for item in self._items]

    def _place_of(self, turn: int | None) -> int | None:
        rows = [(at, item) for at, item in enumerate(self._items) if isinstance(item, Row)]
        same = (at for at, row in rows if row.turn == turn)
        return next(same, rows[0][0] if rows else self.option_count - 1)


def _line(item: Row | Rule, sheet: Sheet) -> Content:
    return rule_line(item, sheet.width) if isinstance(item, Rule) else row_line(item, sheet)
