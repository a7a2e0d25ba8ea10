"""What of a run is on screen at which size. Pure."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass

from jitchat.tui.rot.heat_layout import HEAD, HIGH, Grid, all_wide

SHORT = 31
"""Rows of the terminal below which the first screen leaves out what is told elsewhere, too."""
LEAST = (60, 18)
"""Columns and rows of the terminal without which nothing is shown but that."""
BORDER, SIDES = 2, 4
"""Rows of the frame; its cells and those of its padding."""
_FIXED = 4
"""Rows for what is told of the run, for its progress, a blank one, and the keys."""
_BESIDE = (96, 13)
"""Cells and rows from which curve, figures and cells stand beside each other."""
_ROOMY = 17
"""Rows that these have before the squares become higher."""
_PAGE = 7
"""Rows of one of them where they take turns."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How the rows are given out."""

    is_tiny: bool
    """Whether there is too little room for anything."""
    maps: int
    """Rows of the heatmaps."""
    beside: bool
    """Whether curve, figures and cells are all shown; else they take turns."""
    is_tight: bool
    """Whether there is none for blank rows among them."""
    caveat: bool
    """Whether the caveat has its own rows; else it takes turns with the others."""


def planned(width: int, height: int, grid: Grid, caveat: str) -> Plan:
    """Give out the rows of a terminal; an empty `caveat` needs none."""
    if width < LEAST[0] or height < LEAST[1]:
        return Plan(is_tiny=True, maps=0, beside=False, is_tight=True, caveat=False)
    inside, rows = width - SIDES, height - BORDER - _FIXED
    caveat_rows = caveat_height(caveat, inside)
    flat = HEAD + len(grid.depths)
    left = rows - caveat_rows - flat
    beside = inside >= _BESIDE[0] and left > _BESIDE[1]
    keeps = beside or left >= _PAGE
    free = rows - (caveat_rows if keeps else 0)
    maps = min(flat, max(HEAD + 1, free - _PAGE))
    high = HEAD + HIGH * len(grid.depths)
    if free - high - 1 >= (_ROOMY if beside else _PAGE + 6):
        maps = high
    is_tight = free - maps - 1 < _ROOMY
    return Plan(
        is_tiny=False, maps=maps, beside=beside, is_tight=is_tight, caveat=bool(caveat) and keeps
    )


def caveat_height(caveat: str, inside: int) -> int:
    """Tell how many rows a caveat takes, with the blank one below it."""
    return len(textwrap.wrap(caveat, inside - 2)) + 1 if caveat else 0


def shows_all_maps(width: int, grid: Grid) -> bool:
    """Whether the maps stand side by side on a terminal so wide."""
    return all_wide(grid) <= width - SIDES


def too_small(width: int, height: int) -> str:
    """Say that it needs more room."""
    return f"The rot lab needs {LEAST[0]} × {LEAST[1]} cells. Here are {width} × {height}."
