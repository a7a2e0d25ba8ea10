"""The curves of a text picture, turned: lengths go down, and a dot goes left as rot sets in."""

from __future__ import annotations

from collections.abc import Iterator

from jitchat.rot import figures
from jitchat.rot.colours import MODE_COLOURS
from jitchat.rot.experiment import Experiment
from jitchat.rot.export.ansi import inked
from jitchat.rot.run import short
from jitchat.rot.tally import Tallies, Tally
from jitchat.turn import Mode

_STEPS = 40
_QUARTERS = range(0, _STEPS + 1, _STEPS // 4)
_MODE, _LENGTH, _SHARE = 7, 6, 14
_INDENT = " " * (_MODE + _LENGTH + _SHARE + 3)


def curves(asked: Experiment, tallies: Tallies, *, colour: bool) -> Iterator[str]:
    """Draw them, line by line, in 72 columns."""
    scale = "".join(f"{4 * at // _STEPS * 25:<{_STEPS // 4}}" for at in _QUARTERS[:-1])
    yield f"{_INDENT}{scale}100 %"
    for mode in asked.modes:
        for at, length in enumerate(asked.lengths):
            tally = tallies.by_length.get((mode, length))
            name = "" if at else mode.value
            told = f"{name:<{_MODE}} {short(length):>{_LENGTH}} {figures.share(tally):>{_SHARE}}"
            yield f"{told} {_track(mode, tally, colour=colour)}".rstrip()


def _track(mode: Mode, tally: Tally | None, *, colour: bool) -> str:
    """Draw the share as a dot in its interval, between 0 and 100 %."""
    track = ["┊" if at in _QUARTERS else " " for at in range(_STEPS + 1)]
    if tally is None or tally.share is None or tally.interval is None:
        return "".join(track)
    low, high = (round(end * _STEPS) for end in tally.interval)
    dot = round(tally.share * _STEPS)
    track[low : high + 1] = "─" * (high + 1 - low)
    track[dot] = "●"
    if not colour:
        return "".join(track)
    drawn = inked(MODE_COLOURS[mode], "".join(track[low : high + 1]))
    return "".join(track[:low]) + drawn + "".join(track[high + 1 :])
