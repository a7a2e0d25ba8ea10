"""The last line: what the next request costs, and the keys that matter now."""

from __future__ import annotations

import time
from math import ceil

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.timer import Timer
from textual.widgets import Static

from jitchat.text.safe import one_line

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
        self._cost.update(Content.assemble(edited, one_line(sentence)), layout=False)

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
            self._cost.update(Content(f"again in {left} s · {one_line(why)}"), layout=False)

        self.show_cost("")
        tick()
        self._countdown = self.set_interval(0.25, tick)

    def show_keys(self, *, busy: bool) -> None:
        """The keys for this state."""
        parts: list[tuple[str, str]] = []
        idle = IDLE if self._edited is None else EDITING
        for key, word in BUSY if busy else idle:
            parts += [(f" {key} ", "bold"), (word, "dim")]
        self._keys.update(Content.assemble(*parts))
