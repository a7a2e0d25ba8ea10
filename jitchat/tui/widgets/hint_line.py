"""The last line: what the next request costs, and the keys that matter now."""

from __future__ import annotations

import time
from collections.abc import Sequence
from math import ceil

from rich.cells import cell_len
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.timer import Timer
from textual.widgets import Static

from jitchat.text.safe import one_line
from jitchat.tui.figures import WORKING
from jitchat.tui.palette import MUTED

Key = tuple[str, str]

IDLE = (("⏎", "send"), ("⇧⇥", "mode"), ("^L", "model"), ("F2", "inspect"), ("F1", "help"))
EDITING = (("⏎", "send as a fork"), ("Esc", "leave it"))
BUSY = (("Esc", "stop"), ("⇧⇥", "mode"), ("F2", "inspect"), ("F1", "help"))


class HintLine(Horizontal):
    """Cost on the left, keys on the right."""

    def __init__(self) -> None:
        super().__init__(id="hint-line")
        self._mark = Static(id="working")
        self._cost = Static(id="cost")
        self._keys = Static(id="keys")
        self._countdown: Timer | None = None
        self._edited: int | None = None
        self._sentences: tuple[str, ...] = ("",)
        self._busy = False
        self._told = Content()
        self._drawn: tuple[Key, ...] = ()

    def compose(self) -> ComposeResult:
        """A mark and two texts."""
        yield self._mark
        yield self._cost
        yield self._keys

    def on_mount(self) -> None:
        """Idle at first."""
        self.show_keys(busy=False)

    @property
    def sentences(self) -> tuple[str, ...]:
        """What is shown of the cost, or of what is going on, the longest form first."""
        return self._sentences

    def show_cost(self, sentence: str, *shorter: str) -> None:
        """What the next request costs, or what is going on; the first form that has room."""
        if self._countdown is not None:
            self._countdown.stop()
            self._countdown = None
        self._sentences = (sentence, *shorter)
        self._tell_sentence()

    def show_working(self, working: bool) -> None:
        """Whether another window is being worked out than the one that it tells of."""
        self._mark.update(WORKING if working else "", layout=False)

    def show_faded(self, faded: bool) -> None:
        """Whether that takes long."""
        self._cost.set_class(faded, "-faded")

    def show_edit(self, position: int | None) -> None:
        """Which turn is edited; None for none any more."""
        self._edited = position
        self.show_cost(*self._sentences)
        self.show_keys(busy=False)

    def count_down(self, seconds: float, why: str) -> None:
        """Tell when the request is sent again, until something else is shown."""
        until = time.monotonic() + seconds

        def tick() -> None:
            left = max(0, ceil(until - time.monotonic()))
            self._tell(Content(f"again in {left} s · {one_line(why)}"))

        self.show_cost("")
        tick()
        self._countdown = self.set_interval(0.25, tick)

    def show_keys(self, *, busy: bool) -> None:
        """The keys for this state."""
        self._busy = busy
        self._draw_keys()

    def on_resize(self) -> None:
        """Other words and keys find room."""
        if self._countdown is None:
            self._tell_sentence()
        self._draw_keys()

    def _tell_sentence(self) -> None:
        edited = f"editing #{self._edited} · " if self._edited is not None else ""
        room = self.content_size.width - 1 - len(edited) - _width(self._least_keys())
        told = [one_line(sentence) for sentence in self._sentences]
        fits = next((each for each in told if cell_len(each) <= room), told[-1])
        self._tell(Content.assemble((edited, "bold"), fits))

    def _least_keys(self) -> tuple[Key, ...]:
        return fitting(self._keys_now(), 0)

    def _keys_now(self) -> tuple[Key, ...]:
        idle = IDLE if self._edited is None else EDITING
        return BUSY if self._busy else idle

    def _tell(self, told: Content) -> None:
        self._cost.update(told, layout=False)
        if self._told.cell_length != told.cell_length:
            self._told = told
            self._draw_keys()

    def _draw_keys(self) -> None:
        """As many keys as the sentence leaves room for."""
        keys = fitting(self._keys_now(), self.content_size.width - 1 - self._told.cell_length)
        if keys != self._drawn:
            self._drawn = keys
            parts = [part for key, word in keys for part in ((f" {key} ", "bold"), (word, MUTED))]
            self._keys.update(Content.assemble(*parts))


def fitting(keys: Sequence[Key], room: int) -> tuple[Key, ...]:
    """Leave out what does not fit, from the last but one on; the first and the last stay."""
    kept = list(keys)
    while len(kept) > 2 and _width(kept) > room:
        del kept[-2]
    return tuple(kept)


def _width(keys: Sequence[Key]) -> int:
    return sum(len(key) + len(word) + 2 for key, word in keys)
