"""A reply on screen while it streams: its text and its reasoning.

Drawing lays out the screen and the last paragraphs, and delays any key pressed meanwhile. So the
text is drawn at intervals, and during typing right after a key, when the next key is furthest away.
Of a very long text only the beginning is drawn, and a line says how much more there is.

While the reasoning streams, only its last line is shown, also drawn at intervals.
"""

import re
import sys
import time
from dataclasses import dataclass

from rich.cells import cell_len
from rich.segment import Segment
from textual import events
from textual.geometry import Size
from textual.message import Message
from textual.selection import Selection
from textual.strip import Strip
from textual.style import Style
from textual.widget import Widget

from jitchat.text.figures import plural
from jitchat.text.sanitize import one_line
from jitchat.tui.alarm import Alarm
from jitchat.tui.drawing import Verbatim
from jitchat.tui.render.growing import Growing
from jitchat.tui.render.look import Line, Look, Theme
from jitchat.tui.render.reading import Place, between, copied, found, overlaid

DRAW_EVERY = 0.1
"""Minimum seconds between two draws."""
SHARE, LONGEST_REST = 0.2, 1.5
"""Maximum share of the event loop's time for drawing, and the longest pause to stay below it."""
LONGEST, HEAD = 40_000, 1_500
"""Maximum characters drawn, and how many of a longer text that is shown verbatim."""
LONGEST_LINE = 4_000
"""Maximum characters drawn in one line of a text that is shown verbatim."""
DRAW_BESIDE_TYPING = 0.6
"""Seconds after which the text is drawn even during typing."""
CUT_CODE = "-code-cut"
"""Class of a container in which lines of code are cut off rather than wrapped."""
FOUND, CURRENT = "$text-warning on $warning-muted underline", "bold reverse"


class ReplyBody(Widget):
    """Draws the lines of a reply, with what is selected and found in them."""

    @dataclass
    class Pointed(Message):
        """The mouse is over a link, or no longer over one."""

        leads_to: str
        """Address and title; empty for no link."""

    def __init__(self, text: str) -> None:
        super().__init__(classes="turn-body")
        self.source = text
        """The text so far, of which at most `LONGEST` characters are drawn."""
        self._growing = Growing()
        self._is_complete = bool(text)
        self._lines: list[Line] = []
        self._pattern: re.Pattern[str] | None = None
        self._current: int | None = None
        """The index of the current match."""
        self._found: list[list[Place]] = []
        self._pointed = ""
        self._pending: list[str] = []
        self._waiting = Alarm()
        self._drawn_at = self._worked = float("-inf")

    @property
    def lines(self) -> list[Line]:
        return self._lines_at(self.content_size.width)

    def add(self, delta: str, *, typing: bool) -> None:
        """Append a delta; it is drawn together with those that arrive shortly after."""
        self._pending.append(delta)
        if not self._waiting.is_set:
            wait = DRAW_BESIDE_TYPING if typing else DRAW_EVERY
            self._waiting.set(self.set_timer(wait, self._draw_if_rested))

    def draw_after_key(self) -> None:
        """Draw after a key was drawn, unless the last draw was too recent."""
        if self._rest <= 0:
            self._draw()

    def finish(self, text: str) -> None:
        """Show the complete text."""
        self._take_pending()
        self.source, self._is_complete = text, True
        self.refresh(layout=True)

    @property
    def _rest(self) -> float:
        """Seconds until the next draw is allowed."""
        passed, worked = time.monotonic() - self._drawn_at, time.thread_time() - self._worked
        return max(DRAW_EVERY, min(worked / SHARE, LONGEST_REST)) - passed

    def _draw_if_rested(self) -> None:
        if (rest := self._rest) > 0:
            self._waiting.set(self.set_timer(rest, self._draw_if_rested))
        else:
            self._draw()

    def _draw(self) -> None:
        self._drawn_at, self._worked = time.monotonic(), time.thread_time()
        if self._take_pending():
            self.refresh(layout=True)

    def _take_pending(self) -> bool:
        """Append the pending text as far as it is drawn; return whether any was pending."""
        self._waiting.stop()
        text = "".join(self._pending)
        self._pending.clear()
        self.source += text
        self._is_complete = self._is_complete and not text
        return bool(text)

    def _lines_at(self, width: int) -> list[Line]:
        theme = self.app.current_theme
        is_ansi = self.app.native_ansi_color
        looks = Theme(theme.name, theme.dark, is_ansi, self.app.theme_variables)
        is_cut = any(node.has_class(CUT_CODE) for node in self.ancestors)
        look = Look(width, looks, wraps_code=not is_cut)
        text, left = self.source[:LONGEST], len(self.source) - LONGEST
        lines = self._growing.draw(text, look, is_complete=self._is_complete)
        if lines is not self._lines:
            self._lines = lines
            self._find()
        return [*lines, [look.decoration(left_out(left), "info")]] if left > 0 else lines

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        del container, viewport
        return len(self._lines_at(width))

    def render_line(self, y: int) -> Strip:
        width, base = self.content_size.width, self.visual_style
        lines = self.lines
        line = lines[y] if y < len(lines) else []
        for number, places in enumerate(self._found):
            style = Style.parse(CURRENT if number == self._nearest else FOUND)
            for place in (place for place in places if place.line == y):
                line = overlaid(line, place.start, place.end, style)
        span = self.text_selection.get_span(y) if self.text_selection is not None else None
        if span is not None:
            end = span[1] if span[1] >= 0 else sys.maxsize
            line = overlaid(line, span[0], end, self.screen.get_visual_style("screen--selection"))
        shown = (piece for piece in line if piece.text)
        segments = [Segment(piece.text, (base + piece.style).rich_style) for piece in shown]
        return Strip(segments).adjust_cell_length(width, base.rich_style).apply_offsets(0, y)

    def selection_updated(self, selection: Selection | None) -> None:
        del selection
        self.refresh()

    def get_selection(self, selection: Selection) -> tuple[str, str]:
        first = (selection.start.y, selection.start.x) if selection.start else (0, 0)
        last = (selection.end.y, selection.end.x) if selection.end else (sys.maxsize, 0)
        return copied(self.source, between(self.lines, first, last)), "\n"

    def look_for(self, pattern: re.Pattern[str] | None, current: int | None) -> None:
        """Highlight what matches a pattern, and differently the match with an index."""
        if (pattern, current) != (self._pattern, self._current):
            self._pattern, self._current = pattern, current
            self._find()
            self.refresh()

    def line_of_match(self) -> int | None:
        """Return the line of the current match; None if it is not drawn."""
        self._find()
        is_drawn = self._current is not None and self._found
        return self._found[self._nearest][0].line if is_drawn else None

    @property
    def _nearest(self) -> int:
        """The index of the current match; of the last one if fewer are drawn; -1 for none."""
        return -1 if self._current is None else min(self._current, len(self._found) - 1)

    def _find(self) -> None:
        pattern = self._pattern
        self._found = [] if pattern is None else found(self.source, self._lines, pattern)

    def on_mouse_move(self, event: events.MouseMove) -> None:
        lines, end = self.lines, 0
        pointed = ""
        for piece in lines[event.y] if 0 <= event.y < len(lines) else ():
            end += cell_len(piece.text)
            if event.x < end:
                pointed = piece.link
                break
        self._point(pointed)

    def on_leave(self) -> None:
        self._point("")

    def _point(self, pointed: str) -> None:
        if pointed != self._pointed:
            self._pointed = pointed
            self.post_message(self.Pointed(pointed))


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


MOST_UNFOLDED = 40_000
"""Maximum characters of unfolded reasoning; the exact text has all of it."""
_TAIL = 400


class Reasoning(Verbatim):
    """The reasoning of a reply, folded at first; a click unfolds it or folds it again."""

    def __init__(self, text: str = "", tokens: int = 0) -> None:
        super().__init__(classes="turn-reasoning")
        self._text, self._tokens = text, tokens
        self._deltas: list[str] = []
        """The deltas received so far; empty once the reasoning is complete."""
        self._tail = ""
        self._waiting = Alarm()
        self.unfolded = False

    def on_mount(self) -> None:
        self._draw()

    def on_click(self) -> None:
        self.toggle()

    def toggle(self) -> None:
        if not self._deltas:
            self.unfolded = not self.unfolded
            self._draw()

    def add(self, delta: str) -> None:
        self._deltas.append(delta)
        self._tail = (self._tail + delta)[-_TAIL:]
        if not self._waiting.is_set:
            self._waiting.set(self.set_timer(DRAW_EVERY, self._draw_growing))

    def settle(self, text: str, tokens: int = 0) -> None:
        """Show the complete text; `tokens` are those that the provider reported, or 0."""
        self._waiting.stop()
        self.remove_class("-growing")
        self._text, self._tokens = text, tokens
        self._deltas.clear()
        self._draw()

    def end(self) -> None:
        """Complete the reasoning with the deltas received, because the answer begins."""
        if self._deltas:
            self.settle(self._text + "".join(self._deltas))

    def _draw_growing(self) -> None:
        self._waiting.stop()
        self.add_class("-growing")
        lines = self._tail.rstrip().splitlines() or [""]
        self.show(f"▾ thinking… {one_line(lines[-1])}", layout=False)

    def _draw(self) -> None:
        size = (
            f"{self._tokens:,} tokens ✓" if self._tokens else plural(len(self._text), "character")
        )
        if not self.unfolded:
            self.show(f"▸ reasoning · {size}")
            return
        left = len(self._text) - MOST_UNFOLDED
        more = f"\n{left_out(left)}" if left > 0 else ""
        text = self._text[:MOST_UNFOLDED]
        self.show(f"▾ reasoning · {size}\n{text}{more}")
