"""What the cells of each mode came to and took, as a table. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from jitchat.rot.figures import NOTHING, cost, duration, interval, percent, tokens
from jitchat.rot.spent import Spent
from jitchat.rot.tally import Tallies, Tally
from jitchat.tui.rot.curve_drawing import LETTERS
from jitchat.turn import Mode

_COLUMNS = (
    ("right", 6),
    ("95 %", 8),
    ("sent", 7),
    ("tokens", 9),
    ("first", 8),
    ("time", 8),
    ("cached", 8),
    ("cost", 9),
)
"""With their cells."""
_NAME = 10


def spent_header(width: int) -> str:
    """Name the columns that have room."""
    return _line("", [name for name, _ in _COLUMNS], width)


def spent_rows(tallies: Tallies, modes: Sequence[Mode], width: int) -> list[str]:
    """Draw a line a mode; medians of the cells that were sent, and the cost of all of them."""
    return [_line(f"{LETTERS[mode]} {mode}", _figures(tallies, mode), width) for mode in modes]


def _figures(tallies: Tallies, mode: Mode) -> list[str]:
    tally, spent = tallies.by_mode.get(mode, Tally()), tallies.spent.get(mode, Spent())
    return [
        percent(tally.share),
        interval(tally) or NOTHING,
        f"{spent.sent:,}",
        tokens(spent.tokens),
        duration(spent.to_first),
        duration(spent.seconds),
        percent(spent.cached),
        cost(spent).removeprefix("cost ") or NOTHING,
    ]


def _line(name: str, figures: list[str], width: int) -> str:
    line = f"{name:<{_NAME}}"
    for figure, (_, wide) in zip(figures, _COLUMNS, strict=True):
        if len(line) + wide > width:
            break
        line += f"{figure:>{wide}}"
    return line
