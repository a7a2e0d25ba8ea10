"""The scrubber: every send as a bar, to move between them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from textual import events
from textual.content import Content
from textual.reactive import reactive
from textual.widget import Widget

from jitchat.store.windows import Send
from jitchat.tui.figures import PART_BARS

_WIDEST = 4
"""Cells of a mark, with the gap behind it, where there are few."""


@dataclass(frozen=True, slots=True)
class Strip:
    """Which sends are in view, and where."""

    start: int
    """The first that is, from 0."""
    stop: int
    step: int
    """Cells from one mark to the next."""

    @property
    def bar(self) -> int:
        """Cells of one mark, without the gap behind it."""
        return max(1, self.step - 1)

    def column(self, place: int) -> int:
        """Find the first cell of a send's mark; the arrow for more is ahead of the first."""
        return 1 + (place - self.start) * self.step

    def place_at(self, column: int) -> int | None:
        """Find the send whose mark is drawn in a cell; None beside all of them."""
        place = self.start + (column - 1) // self.step
        return place if column > 0 and place < self.stop else None


def strip_of(count: int, place: int, width: int) -> Strip:
    """Fit `count` marks around the one at `place` into `width` cells, of which two are arrows'."""
    room = max(1, width - 2)
    step = max(1, min(_WIDEST, room // max(1, count)))
    fitting = room // step
    start = min(max(0, place - fitting // 2), max(0, count - fitting))
    return Strip(start, min(count, start + fitting), step)


def bar_lines(sizes: Sequence[int], largest: int, strip: Strip, height: int) -> list[str]:
    """Draw marks to the scale of the `largest`, as `height` lines; the smallest is one eighth."""
    steps = len(PART_BARS)
    levels = [
        max(1, size * height * steps // max(1, largest)) for size in sizes[strip.start : strip.stop]
    ]
    gap = " " * (strip.step - strip.bar)
    lines: list[str] = []
    for row in range(height - 1, -1, -1):
        cells = (max(0, min(steps, level - row * steps)) for level in levels)
        lines.append(
            "".join((PART_BARS[cell - 1] if cell else " ") * strip.bar + gap for cell in cells)
        )
    return lines


class Scrubber(Widget, can_focus=True):
    COMPONENT_CLASSES = {"scrubber--bar", "scrubber--here", "scrubber--base"}  # noqa: RUF012  Textual's own shape

    sends: reactive[tuple[Send, ...]] = reactive(())
    place: reactive[int] = reactive(0)
    """The send that is looked at, from 0."""
    base: reactive[int | None] = reactive(None)
    """The send that it is compared with; None for none."""

    def __init__(self) -> None:
        super().__init__(id="scrubber")
        self._sizes: list[int] = []
        self._largest = 0

    def watch_sends(self) -> None:
        """Sum the windows up once: there can be thousands."""
        self._sizes = [send.used for send in self.sends]
        self._largest = max(self._sizes, default=0)

    def render(self) -> Content:
        if not self.sends:
            return Content()
        strip = strip_of(len(self.sends), self.place, self.size.width)
        height = max(1, self.size.height - 2)
        bars = bar_lines(self._sizes, self._largest, strip, height)
        shown = self.sends[strip.start : strip.stop]
        letters = "".join(send.mode[0].ljust(strip.step) for send in shown)
        pointers = [" "] * strip.column(strip.stop)
        for _, sign, column in self._marked(strip):
            pointers[column : column + strip.bar] = sign * strip.bar
        lines = [
            *(self._line(line, strip, "scrubber--bar") for line in bars),
            self._line(letters, strip, ""),
            Content("".join(pointers).rstrip()),
        ]
        return Content("\n").join(lines)

    def _marked(self, strip: Strip) -> Iterator[tuple[str, str, int]]:
        """Name, sign and first cell of the send that is compared with, and of the one looked at."""
        for name, sign, place in (("base", "△", self.base), ("here", "▲", self.place)):
            if place is not None and strip.start <= place < strip.stop:
                yield name, sign, strip.column(place)

    def _line(self, text: str, strip: Strip, name: str) -> Content:
        """Put arrows at the ends where there are more; colour what is looked at and compared."""
        before = "‹" if strip.start > 0 else " "
        after = "›" if strip.stop < len(self.sends) else ""
        line = Content(f"{before}{text[: strip.column(strip.stop) - 1]}{after}")
        line = line.stylize(self.get_visual_style(name)) if name else line
        for marked, _, column in self._marked(strip):
            style = self.get_visual_style(f"scrubber--{marked}")
            line = line.stylize(style, column, column + strip.bar)
        return line

    async def on_click(self, event: events.Click) -> None:
        place = strip_of(len(self.sends), self.place, self.size.width).place_at(event.x)
        if place is not None:
            await self.run_action(f"screen.go({place})")
