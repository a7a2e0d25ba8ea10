"""Two runs beside each other in lines: shares, the difference, and how sure it is. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from jitchat.rot.compare import Change, Comparison
from jitchat.rot.figures import share
from jitchat.rot.run import short
from jitchat.turn import Mode

Run = tuple[str, str]
"""Characters, and the name of what they are: `mode`, `better`, `worse`, `unclear`, `axis`."""
_AHEAD, _SHARE, _CHANGE = 9, 16, 20
"""Cells of the length, of a share, and of the difference in figures."""
_LEAST, _MOST = 13, 61
"""Cells of the difference drawn, with no change in the middle."""


def compared_rows(compared: Comparison, width: int) -> Iterator[list[Run]]:
    """Draw a block a mode, a line a length, and one for all of them."""
    wide = _wide(width)
    yield [(_columns("", "before", "after", "change, points"), "axis"), (_scale(wide), "axis")]
    for mode, whole in compared.of.items():
        yield [(mode.value, "mode")]
        for length in _lengths(compared, mode):
            yield _row(short(length), compared.at[mode, length], wide)
        yield _row("all", whole, wide)
        yield []


def is_drawn(width: int) -> bool:
    """Whether there is room to draw the difference."""
    return bool(_wide(width))


def change_told(change: Change) -> str:
    """Write `+12 (+3 to +21)`, in points."""
    low, high = change.interval
    return f"{signed(change.points)} ({signed(low)} to {signed(high)})"


def signed(points: float) -> str:
    """Write a difference of shares in points: `+12`, `−3`, `0`."""
    return f"{points * 100:+.0f}".replace("-", "−") if round(points * 100) else "0"


def _lengths(compared: Comparison, mode: Mode) -> list[int]:
    return sorted(length for of, length in compared.at if of is mode)


def _wide(width: int) -> int:
    """Tell how many cells the drawing has; an odd number, or none where they are too few."""
    room = min(_MOST, width - _AHEAD - 2 * _SHARE - _CHANGE - 2)
    return room - (room + 1) % 2 if room >= _LEAST else 0


def _row(name: str, change: Change, wide: int) -> list[Run]:
    told = "unclear"
    if change.is_clear:
        told = "better" if change.points > 0 else "worse"
    figures = _columns(name, share(change.before), share(change.after), change_told(change))
    return [(figures, "plain"), *_drawn(change, wide, told)]


def _drawn(change: Change, wide: int, name: str) -> list[Run]:
    """Draw the interval on a line from −100 to +100 points."""
    if not wide:
        return [(name, name)]
    half = wide // 2
    low, at, high = (half + round(each * half) for each in _ends(change))
    cells = ["·" if place == half else " " for place in range(wide)]
    cells[low : high + 1] = "─" * (high + 1 - low)
    if low < half < high:
        cells[half] = "┼"
    cells[at] = "●" if change.is_clear else "○"
    return [
        ("".join(cells[:low]), "axis"),
        ("".join(cells[low : high + 1]), name),
        ("".join(cells[high + 1 :]), "axis"),
    ]


def _ends(change: Change) -> tuple[float, float, float]:
    low, high = change.interval
    return min(low, change.points), change.points, max(high, change.points)


def _scale(wide: int) -> str:
    """Write what is at the left, in the middle and at the right of the drawing."""
    return f"{'−100':<{wide // 2}}0{'+100':>{wide // 2}}" if wide else ""


def _columns(name: str, before: str, after: str, change: str) -> str:
    return f"  {name:<{_AHEAD - 2}}{before:<{_SHARE}}{after:<{_SHARE}}{change:<{_CHANGE}}  "
