"""The runs that are kept, as lines: which, how far, and the share of right answers by mode."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from textual.content import Content

from jitchat.rot.figures import percent, total
from jitchat.rot.run import Run
from jitchat.rot.tally import Tally
from jitchat.text.safe import one_line
from jitchat.tui.cells import cut
from jitchat.turn import Mode

_PRESET, _CELLS = 11, 11
_SHARES, _TOTALS = (7, 9, 7), (16, 16, 16)
"""Cells of the figures behind the title, without their counts and with them."""
_ROOMY = 120
"""Cells from which a share is told with its count: `recency` may be asked more than `full`."""
_NARROW = 90
"""Cells below which the preset is left out: the title tells its lengths."""
_TITLE = 58
"""Cells of a title, at the most: behind a longer gap, figures are hard to follow."""
_COMPARES = "C on another compares the two"
MARK = "●"
"""Ahead of a run that is to be compared."""


def runs_header(width: int, *, is_marked: bool = False) -> str:
    """Name the columns; with a run that is marked, say what that is for."""
    return _line("", _COMPARES if is_marked else "run", width) + _figures(
        "preset", "cells", [*Mode], width
    )


def run_line(
    run: Run, done: int, shares: Mapping[Mode, Tally] | None, width: int, *, is_marked: bool
) -> Content:
    """Write `● qwen3-8b, 2k to 32k, Tue 24 Nov 15:40  quick  210/420   91 %  34 %  97 %`.

    Where there is room, `91 % of 70`. Shares are None while they are looked up.
    """
    size = run.experiment.size
    cells = f"{size:,}" if done >= size else f"{done:,}/{size:,}"
    told = [_share(shares, run, mode, width) for mode in Mode]
    figures = _figures(run.experiment.preset, cells, told, width)
    title = _line(MARK if is_marked else "", one_line(run.title), width)
    return Content.assemble((title, "bold" if is_marked else ""), figures)


def _share(shares: Mapping[Mode, Tally] | None, run: Run, mode: Mode, width: int) -> str:
    if shares is None:
        return "…" if mode in run.experiment.modes else ""
    if mode not in shares:
        return ""
    return total(shares[mode]) if width >= _ROOMY else percent(shares[mode].share)


def _wides(width: int) -> tuple[int, int, int]:
    return _TOTALS if width >= _ROOMY else _SHARES


def _line(mark: str, title: str, width: int) -> str:
    behind = sum(_wides(width)) + _CELLS + (_PRESET if width >= _NARROW else 0)
    room = max(10, min(_TITLE, width - behind - 2))
    return f"{mark:<2}{cut(title, room):<{room}}"


def _figures(preset: str, cells: str, shares: Sequence[str], width: int) -> str:
    named = f"  {cut(preset, _PRESET - 2):<{_PRESET - 2}}" if width >= _NARROW else ""
    figures = zip(shares, _wides(width), strict=True)
    return f"{named}{cells:>{_CELLS}}" + "".join(f"{share:>{wide}}" for share, wide in figures)
