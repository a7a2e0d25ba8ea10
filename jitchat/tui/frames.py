"""What goes out to the terminal: one frame at a time, and of each only what is different.

Textual's frames repaint whole lines, most of which are on the screen already. A line that is slower
than they are would fall behind, and everything after them with it. So a frame goes out when the
terminal has answered for the one before; what changed meanwhile is one repaint.
"""

import asyncio
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, groupby, zip_longest
from operator import itemgetter

from rich.color import ColorSystem
from rich.console import Console
from rich.control import Control
from textual._compositor import ChopsUpdate, Compositor, CompositorUpdate, LayoutUpdate
from textual.geometry import Region
from textual.strip import Strip

ASK, ANSWER = "\x1b[5n", b"\x1b[0n"
"""A terminal gives the answer once it has read all that was written before the question (DSR)."""
_PATIENCE = 1.0
"""Seconds after which a terminal that has never answered is not asked again."""
_SLOWEST = 100
"""Bytes a second for which one that has answered is waited for."""
_PAUSE = 0.02
"""Seconds until a terminal that refuses what was written is looked at again."""
_GAP, _MANY, _LONG = 8, 7, 1_000
"""Cells that are written again, as skipping them takes no less; the changed lines from which on
lines that are there are moved; and the characters from which on it is checked if that takes less.
"""
_CERTAIN = re.compile("[ -~\xa0-\xac\xae-\u02ff\u0370-\u0482\u2010-\u2027\u2190-\u25ff]*")
"""Characters of one cell each; about others terminals differ, which moves what is beside them."""

Update = ChopsUpdate | LayoutUpdate
Cell = tuple[str, str]
"""The sequences that begin and end its style, around a NUL, and its text."""
Rows = dict[int, Sequence[Cell]]
Drawn = dict[tuple[int, int], tuple[Strip, Sequence[Cell]]]
"""By line and column."""


class RowCompositor(Compositor):
    """Draws the rows that have changed; Textual's draws all rows of all widgets for one of them."""

    def _get_renders(
        self, crop: Region | None = None
    ) -> Iterable[tuple[Region, Region, list[Strip]]]:
        """Yield the region of each widget in `crop`, what is drawn of it, and its lines."""
        for widget, (region, clip) in self.visible_widgets.items():
            drawn = region.intersection(clip)
            if crop is not None:
                # all columns, since lines are divided where widgets begin and end
                rows = Region(drawn.x, crop.y, drawn.width, crop.height)
                drawn = drawn.intersection(rows if crop.overlaps(drawn) else Region())
            if drawn:
                yield region, drawn, widget.render_lines(drawn.translate(-region.offset))


class Difference(CompositorUpdate):
    """Stands for an update where Textual writes it."""

    def __init__(self, frames: "Frames", update: Update) -> None:
        self._frames = frames
        self._update = update

    def render_segments(self, console: Console) -> str:
        return self._frames.written(self._update, console)


class Frames:
    def __init__(self, repaint: Callable[..., object], is_behind: Callable[[], bool]) -> None:
        """`repaint` is called with what has to be drawn, or with nothing for the whole screen.

        `is_behind` says whether the terminal refuses what was written last.
        """
        self._repaint = repaint
        self._is_behind = is_behind
        self._rows: Rows = {}
        """What the terminal shows."""
        self._drawn: Drawn = {}
        """The strips in it."""
        self._late: list[Sequence[Region]] = []
        """What changed while no frame could go out."""
        self._has_answered = False
        self._is_asked = True
        """Whether it is asked after each frame."""
        self._asked = 0
        self.answers = 0
        """How often it has answered, which another thread counts."""
        self._timeout: asyncio.TimerHandle | None = None
        """Set while the next frame has to wait."""

    @property
    def is_unanswered(self) -> bool:
        return self.answers < self._asked

    @property
    def awaits_answer(self) -> bool:
        return self._is_asked and self.is_unanswered

    def begin(self) -> str:
        """Return what is written first to a terminal, of which nothing is known."""
        self._asked = self.answers + 1
        self._rows = {}
        self.proceed()
        return ASK

    def next(self, update: Update) -> Difference | None:
        """Return the next frame; None if it has to wait."""
        if self._timeout is None:
            return Difference(self, update)
        self._late.append(_regions(update))
        return None

    def written(self, update: Update, console: Console) -> str:
        """Return what is written to show an update: all of it if it is of the whole screen."""
        if isinstance(update, LayoutUpdate):
            self._rows.clear()
            self._drawn.clear()
        known = {id(strip): cells for strip, cells in self._drawn.values()}
        drawn = {
            (y, x): (strip, known.get(id(strip)) or _split(strip, console))
            for y, x, strip in _strips(update)
        }
        after = dict(self._rows)
        for (y, x), (_, cells) in drawn.items():
            row = after.get(y, [])
            gap = [("", "")] * (x - len(row))
            after[y] = [*row[:x], *gap, *cells, *row[x + len(cells) :]]
        changed = {y: row for y, row in after.items() if row != self._rows.get(y)}
        scroll, rows = "", self._rows
        if len(changed) > _MANY:
            scroll, rows = _scrolled(self._rows, self._drawn, drawn)
        text = scroll + _difference(rows, after)
        if scroll and len(text) > _LONG:
            text = min(text, _difference(self._rows, changed), key=len)
        self._drawn |= drawn
        self._rows = after
        if text and self._is_asked:
            text += ASK
            self._asked += 1
            self._wait(_PATIENCE + len(text) / _SLOWEST if self._has_answered else _PATIENCE)
        elif text:
            self._wait(0)
        return text

    def _wait(self, seconds: float) -> None:
        self._timeout = asyncio.get_running_loop().call_later(seconds, self._give_up)

    def _give_up(self) -> None:
        self._is_asked = self._has_answered
        if self._has_answered:
            self._asked = self.answers  # one is lost
        if self._is_behind():
            self._wait(_PAUSE)
        else:
            self.proceed()

    def answer(self) -> None:
        """Go on if the terminal has answered for all."""
        self._has_answered = True
        self._is_asked = True
        if not self.is_unanswered:
            self.proceed()

    def proceed(self) -> None:
        """Wait no longer."""
        if self._timeout is not None:
            self._timeout.cancel()
            self._timeout = None
        late = self._late
        if late:
            self._late = []
            self._repaint(*(chain.from_iterable(late) if all(late) else ()))


def _difference(before: Rows, after: Rows) -> str:
    """Return what is written to come from some cells to others."""
    return "".join(
        Control.move_to(start, y).segment.text + "".join(_in_styles(row[start:end]))
        for y, row in after.items()
        if row != before.get(y)
        for start, end in _runs(before.get(y, []), row)
    )


def _runs(before: Sequence[Cell], after: Sequence[Cell]) -> Iterator[tuple[int, int]]:
    """Yield where cells differ, with the few cells in between."""
    pairs = zip_longest(before, after)
    differ = [at for at, (old, new) in enumerate(pairs) if old != new]
    first = 0
    for number, at in enumerate(differ, start=1):
        if number == len(differ) or differ[number] - at > _GAP:
            start = differ[first]
            while start > 0 and not after[start][1]:
                start -= 1  # a strip that is whole begins there
            yield start, at + 1
            first = number


def _in_styles(cells: Sequence[Cell]) -> Iterator[str]:
    for style, alike in groupby(cells, itemgetter(0)):
        yield style.replace("\0", "".join(text for _, text in alike))


def _scrolled(before: Rows, drawn_before: Drawn, drawn: Drawn) -> tuple[str, Rows]:
    """Return what moves lines on the terminal, and its cells then.

    They move as far as most of what is drawn has moved; the lines that become free are blank.
    """
    known = {(x, id(strip)): y for (y, x), (strip, _) in drawn_before.items()}
    moves = [(y, known.get((x, id(strip)), y)) for (y, x), (strip, _) in drawn.items()]
    steps = Counter(old - y for y, old in moves if old != y)
    if not steps:
        return "", before
    step = max(steps, key=steps.__getitem__)
    moved = [place for y, old in moves if old - y == step for place in (y, old)]
    top, bottom = min(moved), max(moved)
    rows = dict(before)
    for y in range(top, bottom + 1):
        rows[y] = before.get(y + step, []) if top <= y + step <= bottom else []
    command = "M" if step > 0 else "L"
    margins = f"\x1b[{top + 1};{bottom + 1}r{Control.move_to(0, top).segment.text}"
    return f"{margins}\x1b[{abs(step)}{command}\x1b[r", rows


def _regions(update: Update) -> Sequence[Region]:
    """Return what an update is of; nothing if it is of the whole screen."""
    if isinstance(update, LayoutUpdate):
        return ()
    return [Region(start, y, end - start, 1) for y, start, end in update.spans]


def _strips(update: Update) -> Iterator[tuple[int, int, Strip]]:
    """Yield what is drawn, with its line and column."""
    if isinstance(update, LayoutUpdate):
        for y, strips in enumerate(update.strips):
            x = 0
            for strip in strips:
                yield y, x, strip
                x += strip.cell_length
        return
    for y, start, end in update.spans:
        ends = update.chop_ends[y]
        for stop, (x, chop) in zip(ends, update.chops[y].items(), strict=False):
            if chop is not None and x < end and stop > start:
                yield y, x, chop


def _split(strip: Strip, console: Console) -> Sequence[Cell]:
    """Split a strip into cells; leave it whole if it is not certain where they are."""
    colours = console._color_system or ColorSystem.TRUECOLOR  # noqa: SLF001  as Textual does
    cells: list[Cell] = []
    for text, style, _ in strip:
        if not _CERTAIN.fullmatch(text):
            return [("\0", strip.render(console)), *[("\0", "")] * (strip.cell_length - 1)]
        dressed = "\0" if style is None else strip.render_style(style, "\0", colours)
        cells += [(dressed, character) for character in text]
    return cells
