"""A run as text of 80 columns, with colours or without.

Maps stand side by side as far as the width goes; more of them, or more lengths than fit, go on
below.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from textwrap import wrap

from rich.cells import cell_len

from jitchat.lab import stats
from jitchat.lab.colours import MODE_COLOURS, colour_of, ink_on, parts_of
from jitchat.lab.experiment import Experiment, Result, Verdict
from jitchat.lab.report import READER_CAVEAT, brief_title, mode_lines, settings_line
from jitchat.lab.run_file import Run, short
from jitchat.lab.stats import Tallies, Tally, tallied
from jitchat.text.sanitize import for_terminal
from jitchat.values import Mode

_PLAIN = "\x1b[0m"


def on(ground: str, ink: str, text: str) -> str:
    """Write our own text in a colour on another; both are `#rrggbb`."""
    return f"\x1b[48;2;{_told(ground)}m{inked(ink, text)}"


def inked(ink: str, text: str) -> str:
    """Write our own text in a colour."""
    return f"\x1b[38;2;{_told(ink)}m{text}{_PLAIN}"


def _told(colour: str) -> str:
    return ";".join(map(str, parts_of(colour)))


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
            told = f"{name:<{_MODE}} {short(length):>{_LENGTH}} {stats.share(tally):>{_SHARE}}"
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


_AXIS = 6
_SHADES = "░▒▓█"
_UNFIT, _FAILED = "╱", "×"
LEGEND = (
    "░ under 25 %  ▒ under 50 %  ▓ under 75 %  █ 75 % and more",
    f"{_UNFIT * 4} {Verdict.UNFIT.value}  {_FAILED} {Verdict.FAILED.value}  blank: no result yet",
)


@dataclass(frozen=True, slots=True)
class _Map:
    """The squares of a mode, or of some of its lengths."""

    mode: Mode
    lengths: Sequence[int]
    square: int
    """Columns."""
    gap: int
    """Columns behind each square."""

    @property
    def width(self) -> int:
        return len(self.lengths) * (self.square + self.gap)


def maps(asked: Experiment, tallies: Tallies, width: int, *, colour: bool) -> Iterator[str]:
    """Draw them, line by line, none of more than `width` columns."""
    for row in _rows(asked, width):
        yield " " * _AXIS + " ".join(_name(each, tallies) for each in row)
        yield f"{'k':>{_AXIS - 1}} " + " ".join(_lengths(each) for each in row)
        for depth in asked.depths:
            drawn = (_line(each, depth, tallies, colour=colour) for each in row)
            yield f"{stats.percent(depth):>{_AXIS - 1}} " + " ".join(drawn)
        yield ""


def _rows(asked: Experiment, width: int) -> Iterator[list[_Map]]:
    """Set maps side by side; with gaps if all of them fit with gaps, else without."""
    square = max(4, 1 + max(len(_thousands(length)) for length in asked.lengths))
    room, count = width - _AXIS + 1, len(asked.lengths)
    gap = 1 if (count * (square + 1) + 1) * len(asked.modes) <= room else 0
    most = max(1, (room - 1) // (square + gap))
    row: list[_Map] = []
    for mode in asked.modes:
        for start in range(0, count, most):
            made = _Map(mode, asked.lengths[start : start + most], square, gap)
            if row and sum(each.width + 1 for each in (*row, made)) > room:
                yield row
                row = []
            row.append(made)
    yield row


def _name(drawn: _Map, tallies: Tallies) -> str:
    tally = tallies.by_mode.get(drawn.mode, Tally())
    shares = (stats.total(tally), *([stats.percent(tally.share)] if tally.answered else []))
    forms = (f"{drawn.mode.value} {share}" for share in shares)
    told = next((each for each in forms if len(each) <= drawn.width), drawn.mode.value)
    return f"{told:<{drawn.width}}"


def _lengths(drawn: _Map) -> str:
    behind = " " * drawn.gap
    return "".join(f"{_thousands(each):>{drawn.square}}{behind}" for each in drawn.lengths)


def _thousands(length: int) -> str:
    return f"{length / 1000:g}"


def _line(drawn: _Map, depth: float, tallies: Tallies, *, colour: bool) -> str:
    squares = (tallies.squares.get((drawn.mode, length, depth)) for length in drawn.lengths)
    behind = " " * drawn.gap
    return "".join(_square(each, drawn.square, colour=colour) + behind for each in squares)


def _square(tally: Tally | None, width: int, *, colour: bool) -> str:
    if tally is None or not tally.cells:
        return " " * width
    if tally.share is None:
        return _UNFIT * width if tally.unfit else f"{_FAILED:>{width}}"
    number = stats.points(tally.share)
    if colour:
        ground = colour_of(tally.share)
        return on(ground, ink_on(ground), f"{number:>{width}}")
    shade = _SHADES[min(len(_SHADES) - 1, int(tally.share * len(_SHADES)))]
    return f"{shade}{number:>{width - 1}}"


WIDTH = 80


def text_picture(run: Run, results: Sequence[Result], *, colour: bool = False) -> str:
    """Draw a run, finished or not.

    With `colour`, squares and curves are coloured by escape sequences for 24-bit colours, and
    the numbers take the place of the shades.
    """
    lines = _lines(run, tallied(results), colour=colour)
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _lines(run: Run, tallies: Tallies, *, colour: bool) -> Iterator[str]:
    asked = run.experiment
    yield from _wrapped(f"Context rot: {brief_title(run)}")
    yield from _wrapped(stats.decided(run, tallies.whole))
    yield from _wrapped(settings_line(run))
    yield ""
    yield "Right answers in per cent. Down: depth of the fact, 0 % is the beginning."
    yield "Across: thousands of tokens of the conversation."
    yield ""
    yield from maps(asked, tallies, WIDTH, colour=colour)
    yield from LEGEND[1:] if colour else LEGEND
    yield ""
    yield "Right answers by length, in their 95 % intervals (Wilson)"
    yield from curves(asked, tallies, colour=colour)
    yield ""
    for mode in asked.modes:
        for at, line in enumerate(mode_lines(mode, asked, tallies)):
            yield from _wrapped(f"{'' if at else mode.value:<8}{line}")
    if run.is_reader:
        yield ""
        yield from _wrapped(READER_CAVEAT)


def _wrapped(text: str) -> list[str]:
    """Break a text of whatever origin into lines; a letter may be two columns wide."""
    safe = for_terminal(text)
    width = WIDTH if cell_len(safe) <= len(safe) else WIDTH // 2
    return [
        line.replace("\N{NO-BREAK SPACE}", " ")
        for line in wrap(safe, width, break_on_hyphens=False)
    ]
