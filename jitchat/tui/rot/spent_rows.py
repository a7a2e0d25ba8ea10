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
"""With their cells."""
_SPARED = ("sent", "cached", "of", "cost", "first", "time")
"""What is left out where there is no room, the first of them first."""
_NAME = 9


def spent_header(width: int) -> str:
    """Name the columns that have room."""
    return _line("", {name: name for name in _COLUMNS}, width)


def spent_rows(tallies: Tallies, modes: Sequence[Mode], width: int) -> list[str]:
    """Draw a line a mode; medians of the cells that were sent, and the cost of all of them."""
    return [_line(f"{LETTERS[mode]} {mode}", _figures(tallies, mode), width) for mode in modes]


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


def _line(name: str, figures: Mapping[str, str], width: int) -> str:
    kept = dict(_COLUMNS)
    for spared in _SPARED:
        if _NAME + sum(kept.values()) > width:
            del kept[spared]
    told = "".join(f"{figures[column]:>{wide}}" for column, wide in kept.items())
    return cut(f"{name:<{_NAME}}{told}", width)
