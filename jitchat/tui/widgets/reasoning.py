"""What a model thought ahead of its answer: one line, or, unfolded, all of it as plain text.

While it grows, its last line is shown; drawn now and then, for only the end of it is read.
"""

from __future__ import annotations

from textual.content import Content
from textual.timer import Timer
from textual.widgets import Static

from jitchat.text.safe import one_line, visible

DRAW_EVERY = 0.1
"""Seconds between two drawings."""
MOST = 40_000
"""Characters that are unfolded; the exact text has all of them."""
_TAIL = 400


class Reasoning(Static):
    """Folded until it is asked for; a click does."""

    def __init__(self, text: str = "", tokens: int = 0) -> None:
        super().__init__(classes="turn-reasoning")
        self._text, self._tokens = text, tokens
        self._grown: list[str] = []
        self._tail = ""
        self._waiting: Timer | None = None
        self.unfolded = False

    def on_mount(self) -> None:
        """Draw it as it is."""
        self._draw()

    def on_click(self) -> None:
        """Fold or unfold."""
        self.toggle()

    def toggle(self) -> None:
        """Fold it, or show all of it."""
        if not self._grown:
            self.unfolded = not self.unfolded
            self._draw()

    def add(self, piece: str) -> None:
        """A piece more; drawn with those that come within the same moment."""
        self._grown.append(piece)
        self._tail = (self._tail + piece)[-_TAIL:]
        if self._waiting is None:
            self._waiting = self.set_timer(DRAW_EVERY, self._draw_growing)

    def settle(self, text: str, tokens: int = 0) -> None:
        """The whole of it; `tokens` where the provider reported them, else 0."""
        self._stop()
        self.remove_class("-growing")
        self._text, self._tokens = text, tokens
        self._grown.clear()
        self._draw()

    def end(self) -> None:
        """No more comes of it: the answer begins."""
        if self._grown:
            self.settle(self._text + "".join(self._grown))

    def _draw_growing(self) -> None:
        self._stop()
        self.add_class("-growing")
        lines = self._tail.rstrip().splitlines() or [""]
        self.update(Content(f"▾ thinking… {one_line(lines[-1])}"), layout=False)

    def _draw(self) -> None:
        size = f"{self._tokens:,} tokens ✓" if self._tokens else f"{len(self._text):,} characters"
        if not self.unfolded:
            self.update(Content(f"▸ reasoning · {size}"))
            return
        left = len(self._text) - MOST
        more = f"\n… {left:,} characters more: Enter shows them" if left > 0 else ""
        self.update(Content(f"▾ reasoning · {size}\n{visible(self._text[:MOST])}{more}"))

    def _stop(self) -> None:
        if self._waiting is not None:
            self._waiting.stop()
            self._waiting = None
