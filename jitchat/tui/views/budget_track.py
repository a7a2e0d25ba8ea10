"""A slider over steps that are known: by keys, by clicks, by dragging."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from textual import events
from textual.binding import Binding
from textual.content import Content
from textual.message import Message
from textual.widget import Widget

from jitchat.tui.views.budget_drawing import draw_track, nearest

COARSE = 6
"""Steps of a page."""


class BudgetTrack(Widget, can_focus=True):
    """Sizes in tokens, ascending; one of them is looked at."""

    BINDINGS = [  # noqa: RUF012  Textual's own shape
        Binding("left,h", "step(-1)", "Less", show=False),
        Binding("right,l", "step(1)", "More", show=False),
        Binding("pagedown", f"step(-{COARSE})", "Much less", show=False),
        Binding("pageup", f"step({COARSE})", "Much more", show=False),
        Binding("home", "end(0)", "Least", show=False),
        Binding("end", "end(-1)", "Most", show=False),
    ]

    @dataclass
    class Moved(Message):
        """Another step is looked at."""

        at: int

    def __init__(self) -> None:
        super().__init__(id="budget-track")
        self.sizes: Sequence[int] = (1, 2)
        self.at = self.present = 0
        """Indices: what is looked at, and what is set."""
        self.mark: int | None = None
        self._dragging = False

    def show(self, sizes: Sequence[int], at: int, present: int) -> None:
        """Other steps."""
        self.sizes, self.at, self.present, self.mark = sizes, at, present, None
        self.refresh()

    def show_mark(self, mark: int | None) -> None:
        """Where the retrieved set settles; None for nowhere."""
        self.mark = mark
        self.refresh()

    def render(self) -> Content:
        """Draw marks, track and scale."""
        return draw_track(self.sizes, self.at, self.present, self.mark, max(1, self.size.width))

    def action_step(self, steps: int) -> None:
        """So many steps on."""
        self._go(self.at + steps)

    def action_end(self, index: int) -> None:
        """To the first or the last step."""
        self._go(index % len(self.sizes))

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Take hold of the thumb, wherever on the track."""
        self._dragging = True
        self.capture_mouse()
        self._go_to_cell(event.x)

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Drag it."""
        if self._dragging:
            self._go_to_cell(event.x)

    def on_mouse_up(self) -> None:
        """Let go."""
        self._dragging = False
        self.release_mouse()

    def _go_to_cell(self, cell: int) -> None:
        self._go(nearest(cell, self.sizes, max(1, self.size.width)))

    def _go(self, at: int) -> None:
        at = min(max(0, at), len(self.sizes) - 1)
        if at != self.at:
            self.at = at
            self.refresh()
            self.post_message(self.Moved(at))
