"""How the rows of a terminal are shared among the parts of a run's screen."""

import textwrap
from dataclasses import dataclass
from enum import StrEnum

from jitchat.lab.experiment import Experiment
from jitchat.lab.export.heatmap import HEAD
from jitchat.tui.lab import curve
from jitchat.tui.lab.heatmap import HIGH

_BORDER, _SIDES = 2, 4
"""Rows of the frame; its cells and those of its padding."""
_FIXED = 4
"""Rows for who answered, for the progress, a blank one, and the keys."""
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


_ROWS = {Page.CELLS: 7, Page.CURVE: 2 + curve.LEAST, Page.FIGURES: 5}
"""Rows of each before the maps are scrolled, with the line of their names."""


@dataclass(frozen=True, slots=True)
class RunLayout:
    maps: int
    """Rows of the heatmaps."""
    is_beside: bool
    """Whether curve, figures and cells are all shown; else they take turns."""
    is_tight: bool
    """Whether there is no room for blank rows among them."""
    has_caveat: bool
    """Whether the caveat has rows of its own; else it takes turns with the others."""


def run_layout(width: int, height: int, asked: Experiment, caveat: str, page: Page) -> RunLayout:
    """Share the rows of a frame while a page is looked at; an empty `caveat` needs none."""
    inside, rows = width - _SIDES, height - _BORDER - _FIXED
    caveat_rows = len(textwrap.wrap(caveat, inside - 2)) + 1 if caveat else 0
    flat, high = (HEAD + rows_each * len(asked.depths) for rows_each in (1, HIGH))
    left = rows - caveat_rows - flat
    is_beside = inside >= _BESIDE[0] and left >= _BESIDE[1]
    has_caveat = bool(caveat) and (is_beside or left >= _ROWS[Page.CELLS])
    free = rows - (caveat_rows if has_caveat else 0)
    maps = min(flat, max(HEAD + 1, free - _ROWS.get(page, caveat_rows)))
    if free - high >= _ROOMY or (not is_beside and free - high >= 2 * _ROWS[Page.CELLS]):
        maps = high
    return RunLayout(maps, is_beside, free - maps < _ROOMY, has_caveat)
