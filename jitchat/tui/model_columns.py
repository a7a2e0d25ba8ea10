"""How a row of the list of models is drawn: in columns, and nothing of it cut off."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass

from textual.content import Content

from jitchat.tui.model_rows import ModelRow
from jitchat.tui.palette import MUTED

_MARGIN = 4
"""Cells ahead of a model's name; the mark of the one in use stands in them."""
_FIGURES = (10, 10, 10)
"""Cells of the context size and the prices."""


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
        """What the figures mean."""
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
        mark = "  • " if in_use else " " * _MARGIN
        figures = _right(*row.figures)
        is_long = Content(row.title).cell_length > self.name
        gap = f"\n{'':<{_MARGIN + self.name}}" if is_long and figures.strip() else ""
        name = Content(row.title).pad_right(max(0, self.name - Content(row.title).cell_length))
        style = "bold" if in_use else ""
        return Content.assemble(mark, name.stylize(style), gap, (figures.rstrip(), MUTED))

    def _provider(self, row: ModelRow, state: RowState) -> Content:
        note = "asking…" if state.asking else row.note
        mark = " • in use" if state.in_use else ""
        told = self._hanging(note + mark)
        style = "bold" if row.is_ready else MUTED
        parts: list[tuple[str, str] | Content] = [
            Content.styled(row.title, style).pad_right(
                max(0, self.title - Content(row.title).cell_length)
            ),
            (told, MUTED),
        ]
        if state.refusal and not state.asking:
            parts.append((f"\n{self._indented(state.refusal)}", "$text-error"))
        return Content.assemble(*parts)

    def _hanging(self, text: str) -> str:
        room = max(20, self.width - self.title)
        return f"\n{'':<{self.title}}".join(textwrap.wrap(text, room)) or text

    def _indented(self, text: str) -> str:
        ahead = " " * _MARGIN
        return textwrap.fill(
            text, max(24, self.width), initial_indent=ahead, subsequent_indent=ahead
        )


def _right(*figures: str) -> str:
    return "".join(f"{each:>{room}}" for each, room in zip(figures, _FIGURES, strict=True))
