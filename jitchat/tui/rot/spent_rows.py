"""What the cells of each mode came to and took, as a table. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from jitchat.rot.figures import NOTHING, cost, duration, percent, tokens
from jitchat.rot.spent import Spent
from jitchat.rot.tally import Tallies, Tally
from jitchat.tui.cells import cut
from jitchat.tui.rot.curve_drawing import LETTERS
from jitchat.turn import Mode

_COLUMNS = {
    "right": 6,
    "of": 7,
    "sent": 7,
    "tokens": 8,
    "first": 8,
    "time": 8,
    "cached": 8,
    "cost": 8,
}
"""With their cells; a longer figure makes its column wider."""
_SPARED = ("sent", "cached", "of", "first", "cost", "time")
"""What is left out where there is no room, the first of them first."""
_NAME = 9


def spent_rows(tallies: Tallies, modes: Sequence[Mode], width: int) -> list[str]:
    """Draw the names of the columns that have room, then a line a mode.

    Medians of the cells that were sent, and the cost of all of them.
    """
    figures = [_figures(tallies, mode) for mode in modes]
    columns = _columns(figures, width)
    names = ["", *(f"{LETTERS[mode]} {mode}" for mode in modes)]
    rows = [{name: name for name in _COLUMNS}, *figures]
    return [_line(name, figures, columns, width) for name, figures in zip(names, rows, strict=True)]


def _figures(tallies: Tallies, mode: Mode) -> dict[str, str]:
    tally, spent = tallies.by_mode.get(mode, Tally()), tallies.spent.get(mode, Spent())
    return {
        "right": percent(tally.share),
        "of": f"{tally.answered:,}",
        "sent": f"{spent.sent:,}",
        "tokens": tokens(spent.tokens),
        "first": duration(spent.to_first),
        "time": duration(spent.seconds),
        "cached": percent(spent.cached),
        "cost": cost(spent).removeprefix("cost ") or NOTHING,
    }


def _columns(rows: Sequence[Mapping[str, str]], width: int) -> dict[str, int]:
    """Choose the columns that have room, each with its cells."""
    kept = {
        name: max([wide, *(1 + len(figures[name]) for figures in rows)])
        for name, wide in _COLUMNS.items()
    }
    for spared in _SPARED:
        if _NAME + sum(kept.values()) > width:
            del kept[spared]
    return kept


def _line(name: str, figures: Mapping[str, str], columns: Mapping[str, int], width: int) -> str:
    told = "".join(f"{figures[column]:>{wide}}" for column, wide in columns.items())
    return cut(f"{name:<{_NAME}}{told}", width)
