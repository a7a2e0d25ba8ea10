"""A run as a picture in characters, for a terminal recording or a slide: 80 columns at most."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from textwrap import wrap

from rich.cells import cell_len

from jitchat.rot import figures
from jitchat.rot.caveat import READER_CAVEAT
from jitchat.rot.cells import Result
from jitchat.rot.export.text_curves import curves
from jitchat.rot.export.text_maps import LEGEND, maps
from jitchat.rot.export.told import brief_title, mode_lines, settings_line
from jitchat.rot.run import Run
from jitchat.rot.tally import Tallies, tallied
from jitchat.text.safe import visible

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
    yield from _told(f"Context rot: {brief_title(run)}")
    yield from _told(figures.decided(run, tallies.whole))
    yield from _told(settings_line(run))
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
            yield from _told(f"{'' if at else mode.value:<8}{line}")
    if run.is_reader:
        yield ""
        yield from _told(READER_CAVEAT)


def _told(text: str) -> list[str]:
    """Break a text of whatever origin into lines; a letter may be two columns wide."""
    safe = visible(text)
    width = WIDTH if cell_len(safe) <= len(safe) else WIDTH // 2
    return [line.replace("\N{NO-BREAK SPACE}", " ") for line in wrap(safe, width)]
