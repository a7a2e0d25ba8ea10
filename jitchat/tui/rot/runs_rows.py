"""The runs that are kept, as lines: which, how far, and the share of right answers by mode."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from textual.content import Content

from jitchat.rot.figures import percent
from jitchat.rot.run import Run
from jitchat.rot.tally import Tally
from jitchat.text.safe import one_line
from jitchat.tui.cells import cut
from jitchat.turn import Mode

_PRESET, _CELLS = 11, 11
_SHARES = (7, 9, 7)
"""Cells of the figures behind the title."""
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

    Shares are None while they are looked up.
    """
    size = run.experiment.size
    cells = f"{size:,}" if done >= size else f"{done:,}/{size:,}"
    told = [_share(shares, run, mode) for mode in Mode]
    figures = _figures(run.experiment.preset, cells, told, width)
    title = _line(MARK if is_marked else "", one_line(run.title), width)
    return Content.assemble((title, "bold" if is_marked else ""), figures)


def _share(shares: Mapping[Mode, Tally] | None, run: Run, mode: Mode) -> str:
    if shares is None:
        return "…" if mode in run.experiment.modes else ""
    return percent(shares[mode].share) if mode in shares else ""


def _line(mark: str, title: str, width: int) -> str:
    behind = sum(_SHARES) + _CELLS + (_PRESET if width >= _NARROW else 0)
    room = max(10, min(_TITLE, width - behind - 2))
    return f"{mark:<2}{cut(title, room):<{room}}"


def _figures(preset: str, cells: str, shares: Sequence[str], width: int) -> str:
    named = f"  {cut(preset, _PRESET - 2):<{_PRESET - 2}}" if width >= _NARROW else ""
    figures = zip(shares, _SHARES, strict=True)
    return f"{named}{cells:>{_CELLS}}" + "".join(f"{share:>{wide}}" for share, wide in figures)
