"""A reply while it streams, and how often it is drawn.

A draw delays any key pressed meanwhile. So the text is drawn at intervals, and during typing right
after a key, when the next key is furthest away. Of a very long text only the beginning is drawn,
and a line says how much more there is.
"""

import time
from collections.abc import Callable, Iterable

from textual.widget import Widget

from jitchat.text.figures import plural
from jitchat.tui.alarm import Alarm
from jitchat.tui.render.render import Growing
from jitchat.tui.render.wrap import Look
from jitchat.tui.widgets.line_view import Block, LineView, Part

DRAW_EVERY = 0.15
"""Minimum seconds between two draws."""
SHARE, LONGEST_REST = 0.2, 1.5
"""Maximum share of the event loop's time for drawing, and the longest pause to stay below it."""
LONGEST, HEAD = 40_000, 1_500
"""Maximum characters drawn, and how many of a longer text that is shown verbatim."""
LONGEST_LINE = 4_000
"""Maximum characters drawn in one line of a text that is shown verbatim."""
DRAW_BESIDE_TYPING = 0.6
"""Seconds after which the text is drawn even during typing."""


class ReplyBlock(Block):
    """A reply, as far as it has come."""

    def __init__(self, text: str = "") -> None:
        super().__init__()
        self._text = text
        self._deltas: list[str] = []
        self._is_complete = bool(text)
        self._growing = Growing()

    @property
    def text(self) -> str:
        if self._deltas:
            self._text += "".join(self._deltas)
            self._deltas.clear()
        return self._text

    def add(self, delta: str) -> None:
        self._deltas.append(delta)
        self._is_complete = False

    def complete(self, text: str) -> None:
        """Take the complete text."""
        self._deltas.clear()
        self._text = text
        self._is_complete = True
        self.change()

    def body(self, look: Look) -> Part:
        left = len(self.text) - LONGEST
        lines = self._growing.draw(self.text[:LONGEST], look, is_complete=self._is_complete)
        if left > 0:
            lines = [*lines, [look.decoration(left_out(left), "info")]]
        return Part("body", self.text, lines)

    def drawn(self, look: Look) -> Iterable[Part]:
        yield self.body(look)

    def forget(self) -> None:
        super().forget()
        self._growing = Growing()


class Pace:
    """Draws what streams, together with what arrives shortly after."""

    def __init__(self, widget: Widget, draw: Callable[[], None]) -> None:
        self._widget, self._draw_text = widget, draw
        self._waiting = Alarm()
        self._drawn_at = self._worked = float("-inf")

    def draw_soon(self, *, typing: bool = False) -> None:
        if not self._waiting.is_set:
            wait = DRAW_BESIDE_TYPING if typing else DRAW_EVERY
            self._waiting.set(self._widget.set_timer(wait, self._draw_if_rested))

    def draw_after_key(self) -> None:
        """Draw after a key was drawn, if there is anything new, unless the last was too recent."""
        if self._waiting.is_set and self._rest <= 0:
            self._draw()

    def stop(self) -> None:
        self._waiting.stop()

    @property
    def _rest(self) -> float:
        """Seconds until the next draw is allowed."""
        passed, worked = time.monotonic() - self._drawn_at, time.thread_time() - self._worked
        return max(DRAW_EVERY, min(worked / SHARE, LONGEST_REST)) - passed

    def _draw_if_rested(self) -> None:
        if (rest := self._rest) > 0:
            self._waiting.set(self._widget.set_timer(rest, self._draw_if_rested))
        else:
            self._draw()

    def _draw(self) -> None:
        self._drawn_at, self._worked = time.monotonic(), time.thread_time()
        self._waiting.stop()
        self._draw_text()


class ReplyView(LineView):
    """Shows a reply alone, and follows its end."""

    def __init__(self, *, classes: str | None = None) -> None:
        super().__init__(classes=classes)
        self._block = ReplyBlock()
        self.blocks = [self._block]
        self._pace = Pace(self, self._draw)

    @property
    def source(self) -> str:
        return self._block.text

    def add(self, delta: str) -> None:
        self._block.add(delta)
        self._pace.draw_soon()

    def finish(self, text: str) -> None:
        self._pace.stop()
        self._block.complete(text)
        self.settle()

    def _draw(self) -> None:
        self._block.change()
        self.settle()


def beginning(text: str) -> str:
    """Return the part of a verbatim text that is drawn: all of it, unless it is very long."""
    head = text if len(text) <= LONGEST else text[:HEAD]
    place = 0
    for line in head.splitlines(keepends=True):
        if len(line) > LONGEST_LINE:
            return head[: place + LONGEST_LINE]
        place += len(line)
    return head


def left_out(characters: int) -> str:
    return f"… {plural(characters, 'more character')}; Enter shows them"
