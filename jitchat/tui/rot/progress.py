"""How far a run is, and how long the rest takes about. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from jitchat.rot.cells import Cell
from jitchat.rot.figures import duration
from jitchat.rot.run import Run
from jitchat.turn import Mode

_BASE, _CHOSEN = 2_000, 4_000
"""Tokens that a request is worth beside what is read for it, and that a window of `recency` or
`jit` has at the most, about."""
_MADE = 0.1
"""Of a conversation's length: what making and searching it is worth, for each of its cells."""
_EXACT = 10.0
"""Seconds below which tenths are told."""
_FROM = 1.0
"""Seconds after which something can be said of the rest."""


def weight(cell: Cell, run: Run) -> float:
    """Tell how much work a cell is, about, in tokens: nothing is sent of what does not fit."""
    made = _MADE * cell.length
    if cell.mode is not Mode.FULL:
        return made + _BASE + min(cell.length, _CHOSEN)
    return made + (_BASE + cell.length if cell.length < run.limit - run.reserve else 0)


@dataclass(frozen=True, slots=True)
class Progress:
    """A moment of a run that is being asked, or of one that is not any more."""

    done: int
    of: int
    seconds: float
    """Since it was begun, or gone on with, here."""
    worked: float
    """The weight of the cells that were decided since then."""
    left: float
    """The weight of those that are not."""
    is_running: bool
    before: float = 0.0
    """Seconds that were spent before that, in earlier legs."""

    @property
    def seconds_left(self) -> float | None:
        """About; None where nothing can be told yet."""
        if not self.is_running or not self.worked or self.seconds < _FROM:
            return None
        return max(0.0, self.seconds / self.worked * self.left)

    @property
    def count(self) -> str:
        """`210 of 420 cells`."""
        return f"{self.done:,} of {self.of:,} cells"

    @property
    def sentence(self) -> str:
        """`210 of 420 cells · 12 s · about 11 s left`."""
        told = [self.count]
        if self.is_running:
            told.append(span(self.before + self.seconds))
            if self.seconds_left is not None:
                told.append(f"about {span(self.seconds_left)} left")
        elif self.done < self.of:
            told.append("stopped and kept: R goes on")
        elif took := self.before + self.seconds:
            told.append(f"done in {_took(took)}")
        return " · ".join(told)

    def bar(self, width: int) -> tuple[str, str]:
        """Draw what is done and what is not, in so many cells."""
        halves = 2 * width * self.done // self.of if self.of else 0
        full, half = divmod(halves, 2)
        done = "━" * full + "╸" * half
        return done, "━" * (width - len(done))


def _took(seconds: float) -> str:
    return duration(seconds) if seconds < _EXACT else span(seconds)


def span(seconds: float) -> str:
    """Write a time to wait, or one that has passed: `8 s`, `3 min`, `1 h 12 min`."""
    whole = max(0, round(seconds))
    if whole < 100:
        return f"{whole} s"
    hours, minutes = divmod(round(whole / 60), 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min"
