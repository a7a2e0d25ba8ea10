"""The last line: what the next request costs, and the keys that matter now."""

from __future__ import annotations

import time
from collections.abc import Sequence
from math import ceil

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.timer import Timer
from textual.widgets import Static

from jitchat.text.safe import one_line

Key = tuple[str, str]

IDLE = (("⏎", "send"), ("⇧⇥", "mode"), ("^L", "model"), ("F2", "inspect"), ("F1", "help"))
EDITING = (("⏎", "send as a fork"), ("Esc", "leave it"))
BUSY = (("Esc", "stop"), ("⇧⇥", "mode"), ("F2", "inspect"), ("F1", "help"))


class HintLine(Horizontal):
    """Cost on the left, keys on the right."""

    def __init__(self) -> None:
        super().__init__(id="hint-line")
        self._cost = Static(id="cost")
        self._keys = Static(id="keys")
        self._countdown: Timer | None = None
        self._edited: int | None = None
        self._sentence = ""
        self._busy = False
        self._told = Content()
        self._drawn: tuple[Key, ...] = ()

    def compose(self) -> ComposeResult:
        """Two texts."""
        yield self._cost
        yield self._keys

    def on_mount(self) -> None:
        """Idle at first."""
        self.show_keys(busy=False)

    @property
    def sentence(self) -> str:
        """What is shown of the cost, or of what is going on."""
        return self._sentence

    def show_cost(self, sentence: str) -> None:
        """What the next request costs, or what is going on."""
        if self._countdown is not None:
            self._countdown.stop()
            self._countdown = None
        self._sentence = sentence
        edited = (f"editing #{self._edited} · ", "bold") if self._edited is not None else ""
        self._tell(Content.assemble(edited, one_line(sentence)))

    def show_edit(self, position: int | None) -> None:
        """Which turn is edited; None for none any more."""
        self._edited = position
        self.show_cost(self._sentence)
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
        """Other keys find room."""
        self._draw_keys()

    def _tell(self, told: Content) -> None:
        self._cost.update(told, layout=False)
        if self._told.cell_length != told.cell_length:
            self._told = told
            self._draw_keys()

    def _draw_keys(self) -> None:
        """As many keys as the sentence leaves room for."""
        idle = IDLE if self._edited is None else EDITING
        room = self.content_size.width - self._told.cell_length
        keys = fitting(BUSY if self._busy else idle, room)
        if keys != self._drawn:
            self._drawn = keys
            parts = [part for key, word in keys for part in ((f" {key} ", "bold"), (word, "dim"))]
            self._keys.update(Content.assemble(*parts))


def fitting(keys: Sequence[Key], room: int) -> tuple[Key, ...]:
    """Leave out what does not fit, from the last but one on; the first and the last stay."""
    kept = list(keys)
    while len(kept) > 2 and sum(len(key) + len(word) + 2 for key, word in kept) > room:
        del kept[-2]
    return tuple(kept)
