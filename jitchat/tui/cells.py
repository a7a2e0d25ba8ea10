"""Text in the cells of a list."""

from __future__ import annotations

from rich.cells import cell_len, set_cell_size

BESIDE = 3
"""Cells of a line of a list that are not its text: a margin on either side, the scrollbar."""


def cut(text: str, room: int) -> str:
    """Shorten a text to so many cells; a `…` stands for the rest."""
    return text if cell_len(text) <= room else f"{set_cell_size(text, max(0, room - 1))}…"
