"""A reply on screen while it streams: its text and its reasoning.

Drawing lays out the screen and the last paragraphs, and delays any key pressed meanwhile. So the
text is drawn at intervals, and during typing right after a key, when the next key is furthest away.
Of a very long text only the beginning is drawn, and a line says how much more there is.

Only the last part of the text grows. Parts far from the visible area keep their height and are not
laid out, so that a reply of a hundred pages costs as much as one of three.

While the reasoning streams, only its last line is shown, also drawn at intervals.
"""

import asyncio
import time

from markdown_it import MarkdownIt
from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.timer import Timer
from textual.widgets import Static

from jitchat.text.sanitize import for_terminal, one_line
from jitchat.tui.drawing import Content, Verbatim
from jitchat.tui.widgets.markdown_part import MarkdownPart

DRAW_EVERY = 0.1
"""Minimum seconds between two draws."""
SHARE, LONGEST_REST = 0.2, 1.5
"""Maximum share of the event loop's time for drawing, and the longest pause to stay below it."""
MOST_AT_ONCE, MOST_BEHIND = 600, 1_200
"""Maximum characters per draw, about three paragraphs; and when drawing falls behind."""
BETWEEN = 0.02
"""Seconds left for keys between two draws of text that has already arrived."""
LONGEST, HEAD, LONGEST_LINE = 40_000, 1_500, 4_000
"""Maximum characters drawn: in total, of a longer text that arrives at once, and in one line."""
DRAW_BESIDE_TYPING = 0.6
"""Seconds after which the text is drawn even during typing."""
MOST_BLOCKS = 8
"""Maximum Markdown blocks in one part, about a screenful."""
NEAR = 0.25
"""Screen heights above and below the screen that are laid out too."""


class ReplyBody(Vertical):
    def __init__(self, text: str) -> None:
        super().__init__(classes="turn-body")
        begun = beginning(text)
        self._texts = [for_terminal(begun).cells]
        """The text drawn so far, in chunks."""
        self._parts = [MarkdownPart(self.source, first=True)]
        self._at_once = bool(begun)
        """Whether the only part was parsed as a whole: Textual appends to such a text wrongly."""
        self._width = 0
        self._drawn, self._left = len(begun), len(text) - len(begun)
        """Characters that are drawn, and that are left out."""
        self._more: Static | None = None
        self._pending: list[str] = []
        self._waiting: Timer | None = None
        self._drawn_at = self._worked = float("-inf")
        self._drawing = asyncio.Lock()

    def compose(self) -> ComposeResult:
        yield from self._parts

    async def on_mount(self) -> None:
        await self._show_left()

    @property
    def source(self) -> str:
        return "".join(self._texts)

    def add(self, delta: str, *, typing: bool) -> None:
        """Append a delta; it is drawn together with those that arrive shortly after."""
        self._pending.append(delta)
        if self._waiting is None:
            wait = DRAW_BESIDE_TYPING if typing else DRAW_EVERY
            self._waiting = self.set_timer(wait, self._draw_if_rested)

    async def draw_after_key(self) -> None:
        """Draw after a key was drawn, unless the last draw was too recent."""
        if self._rest <= 0 and not self._drawing.locked():
            await self._draw()

    async def finish(self, text: str) -> None:
        async with self._drawing:
            while await self._grow_a_little():
                self.call_after_refresh(self.fold_away)
                await asyncio.sleep(BETWEEN if self._pending else 0)
            if self._left and text:
                self._left = len(text) - self._drawn
            else:
                self._drawn, self._left = len(text), 0
                await self._become(for_terminal(text).cells)
            await self._show_left()
            self.call_after_refresh(self.fold_away)

    @property
    def _rest(self) -> float:
        """Seconds until the next draw is allowed."""
        passed, worked = time.monotonic() - self._drawn_at, time.thread_time() - self._worked
        return max(DRAW_EVERY, min(worked / SHARE, LONGEST_REST)) - passed

    async def _draw_if_rested(self) -> None:
        self._waiting = None
        if (rest := self._rest) > 0:
            self._waiting = self.set_timer(rest, self._draw_if_rested)
        else:
            await self._draw()

    async def _draw(self) -> None:
        # Two concurrent appends would both start at the same place.
        async with self._drawing:
            drawn_at, worked = time.monotonic(), time.thread_time()
            if await self._grow_a_little():
                self._drawn_at, self._worked = drawn_at, worked
                self.call_after_refresh(self.fold_away)
                if self._pending and self._waiting is None:
                    self._waiting = self.set_timer(DRAW_EVERY, self._draw_if_rested)

    async def _grow_a_little(self) -> bool:
        """Append as much pending text as is quick to draw; return whether any was pending."""
        if self._waiting is not None:
            self._waiting.stop()
            self._waiting = None
        text = "".join(self._pending)
        self._pending.clear()
        is_flood = len(text) > LONGEST
        now = 0 if self._left else HEAD if is_flood else _quick(text)
        room = min(_room(self.source, text[:now]), LONGEST - self._drawn)
        if self._left or is_flood or room < now:
            self._left += len(text) - room
        elif now < len(text):
            self._pending.append(text[now:])
        self._drawn += room
        if room:
            await self._grow(for_terminal(text[:room]).cells)
        await self._show_left()
        return bool(text)

    async def _grow(self, text: str) -> None:
        self._texts.append(text)
        part = self._parts[-1]
        with self.app.batch_update():
            if self._at_once:
                self._at_once, text = False, self.source
                await part.markdown.update("")
            await part.markdown.append(text)
            if len(part.blocks) > MOST_BLOCKS:
                begun = await part.split()
                self._parts.append(MarkdownPart("", first=False))
                await self.mount(self._parts[-1])
                await self._parts[-1].markdown.append(begun)

    async def _become(self, text: str) -> None:
        """Show the final text.

        Text that was parsed incrementally is parsed again only if the whole may render differently.
        """
        before = self.source
        if text.startswith(before) and not _defines_links(text):
            if len(text) > len(before):
                await self._grow(text[len(before) :])
            return
        self._texts = [text]
        for part in self._parts[1:]:
            await part.remove()
        del self._parts[1:]
        self._at_once = bool(text)
        self._parts[0].fold(folded=False)
        await self._parts[0].markdown.update(text)

    def fold_away(self) -> None:
        """Fold the parts that are far from the visible area."""
        if len(self._parts) == 1 or not self.is_mounted:
            return
        screen = self.screen.region
        near = screen.grow((int(NEAR * screen.height), 0) * 2)
        for part in self._parts[:-1]:
            part.fold(folded=not part.region.overlaps(near))

    def on_resize(self, event: events.Resize) -> None:
        """Lay out again, because the stored heights belong to the old width."""
        if event.size.width != self._width:
            self._width = event.size.width
            self.measure_again()

    def measure_again(self) -> None:
        """Lay out all parts again, because their stored heights may have changed."""
        for part in self._parts:
            part.fold(folded=False)
        self.call_after_refresh(self.fold_away)

    async def _show_left(self) -> None:
        if self._more is None and self._left and self.is_attached:
            self._more = Static(classes="turn-note")
            await self.mount(self._more)
        if self._more is not None:
            self._more.display = bool(self._left)
            self._more.update(Content(left_out(self._left)))


def beginning(text: str) -> str:
    """Return the part of a complete text that is drawn: all of it, unless it is very long."""
    head = text if len(text) <= LONGEST else text[:HEAD]
    return head[: _room("", head)]


def left_out(characters: int) -> str:
    return f"… {characters:,} more characters; Enter shows them"


def _defines_links(text: str) -> bool:
    """Whether the text contains link reference definitions."""
    if "]:" not in text:
        return False
    known: dict[str, object] = {}
    MarkdownIt("gfm-like").parse(text, known)
    return bool(known.get("references"))


def _quick(text: str) -> int:
    """Return the number of characters to draw now: whole lines, about `MOST_AT_ONCE` at most."""
    most = max(MOST_AT_ONCE, min(len(text) // 3, MOST_BEHIND))
    if len(text) <= most:
        return len(text)
    return text.rfind("\n", 0, most) + 1 or most


def _room(drawn: str, text: str) -> int:
    """Return how many characters of `text` can be drawn before a line exceeds `LONGEST_LINE`."""
    length, place = len(drawn) - drawn.rfind("\n") - 1, 0
    for line in text.splitlines(keepends=True):
        if length + len(line) > LONGEST_LINE:
            return place + max(0, LONGEST_LINE - length)
        length, place = (0 if line.endswith("\n") else length + len(line)), place + len(line)
    return place


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
        self._waiting: Timer | None = None
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
        if self._waiting is None:
            self._waiting = self.set_timer(DRAW_EVERY, self._draw_growing)

    def settle(self, text: str, tokens: int = 0) -> None:
        """Show the complete text; `tokens` are those that the provider reported, or 0."""
        self._stop()
        self.remove_class("-growing")
        self._text, self._tokens = text, tokens
        self._deltas.clear()
        self._draw()

    def end(self) -> None:
        """Complete the reasoning with the deltas received, because the answer begins."""
        if self._deltas:
            self.settle(self._text + "".join(self._deltas))

    def _draw_growing(self) -> None:
        self._stop()
        self.add_class("-growing")
        lines = self._tail.rstrip().splitlines() or [""]
        self.show(f"▾ thinking… {one_line(lines[-1])}", layout=False)

    def _draw(self) -> None:
        size = f"{self._tokens:,} tokens ✓" if self._tokens else f"{len(self._text):,} characters"
        if not self.unfolded:
            self.show(f"▸ reasoning · {size}")
            return
        left = len(self._text) - MOST_UNFOLDED
        more = f"\n{left_out(left)}" if left > 0 else ""
        text = self._text[:MOST_UNFOLDED]
        self.show(f"▾ reasoning · {size}\n{text}{more}")

    def _stop(self) -> None:
        if self._waiting is not None:
            self._waiting.stop()
            self._waiting = None
