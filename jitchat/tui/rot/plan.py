"""What of a run is on screen at which size. Pure."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from enum import StrEnum

from jitchat.tui.rot.curve_drawing import LEAST as CURVE
from jitchat.tui.rot.heat_layout import HEAD, HIGH, Grid

LEAST = (60, 18)
"""Columns and rows of the terminal without which nothing is shown but that."""
SHORT = 31
"""Rows of the terminal below which what can be read elsewhere is left out."""
_BORDER, _SIDES = 2, 4
"""Rows of the frame; its cells and those of its padding."""
_FIXED = 4
"""Rows for what is told of the run, for its progress, a blank one, and the keys."""
_BESIDE = (96, 13)
"""Cells and rows from which curve, figures and cells stand beside each other."""
_ROOMY = 18
"""Rows that these have before the squares become higher."""


class Page(StrEnum):
    """What takes turns below the maps, where there is no room for all of it."""

    CELLS = "cells"
    CURVE = "curve"
    FIGURES = "figures"
    CAVEAT = "no language model"


_ROWS = {Page.CELLS: 7, Page.CURVE: 2 + CURVE, Page.FIGURES: 5}
"""That each has before the maps are scrolled, with the line of their names."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How the rows are given out."""

    maps: int
    """Rows of the heatmaps."""
    is_beside: bool
    """Whether curve, figures and cells are all shown; else they take turns."""
    is_tight: bool
    """Whether there is no room for blank rows among them."""
    has_caveat: bool
    """Whether the caveat has rows of its own; else it takes turns with the others."""


def planned(width: int, height: int, grid: Grid, caveat: str, page: Page) -> Plan:
    """Give out the rows of a terminal while a page is looked at; an empty `caveat` needs none."""
    inside, rows = width - _SIDES, height - _BORDER - _FIXED
    caveat_rows = _height(caveat, inside)
    flat, high = (HEAD + each * len(grid.depths) for each in (1, HIGH))
    left = rows - caveat_rows - flat
    is_beside = inside >= _BESIDE[0] and left >= _BESIDE[1]
    has_caveat = bool(caveat) and (is_beside or left >= _ROWS[Page.CELLS])
    free = rows - (caveat_rows if has_caveat else 0)
    below = _ROWS.get(page, caveat_rows)
    maps = min(flat, max(HEAD + 1, free - below))
    if free - high >= _ROOMY or (not is_beside and free - high >= 2 * _ROWS[Page.CELLS]):
        maps = high
    return Plan(maps, is_beside, free - maps < _ROOMY, has_caveat)


def _height(caveat: str, inside: int) -> int:
    """Tell how many rows a caveat takes, with the blank one ahead of it."""
    return len(textwrap.wrap(caveat, inside - 2)) + 1 if caveat else 0


def too_small(width: int, height: int) -> str:
    """Say that it needs more room; empty where it has enough."""
    if width >= LEAST[0] and height >= LEAST[1]:
        return ""
    return f"The rot lab needs {LEAST[0]} × {LEAST[1]} cells. Here are {width} × {height}."
