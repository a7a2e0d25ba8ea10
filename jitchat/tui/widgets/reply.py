"""A reply on screen as it grows: its text, and its reasoning.

To draw it is to lay out the screen and its last paragraphs: a key that comes in the middle
waits. So it is drawn now and then, and beside typing right behind a key, for the next one is then
furthest away. Of what is very long, the beginning is drawn, and a line says how much more there is.

Only the last part of the text grows. One that is far from what the user sees keeps its height and
is not laid out, so that a reply of a hundred pages costs what one of three does.

While the reasoning grows, its last line is shown; drawn now and then, for only the end is read.
"""

import asyncio
import time

from markdown_it import MarkdownIt
from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.timer import Timer
from textual.widgets import Static

from jitchat.text.sanitize import for_terminal, one_line
from jitchat.tui.widgets.markdown_part import MarkdownPart

DRAW_EVERY = 0.1
"""Seconds between two drawings, at least."""
SHARE, LONGEST_REST = 0.2, 1.5
"""And so long that it takes no more of the event loop's time, up to so many seconds."""
MOST_AT_ONCE, MOST_BEHIND = 600, 1_200
"""Characters in one drawing, some three paragraphs; and where it would fall behind."""
BETWEEN = 0.02
"""Seconds for keys between two drawings of what is there already."""
LONGEST, HEAD, LONGEST_LINE = 40_000, 1_500, 4_000
"""Characters that are drawn as a reply grows, of so many that come at once, and of one line."""
DRAW_BESIDE_TYPING = 0.6
"""Seconds until it is drawn although keys were pressed just now."""
MOST_BLOCKS = 8
"""Paragraphs, lists and the like in one part, about a screen of them."""
NEAR = 0.25
"""Screens above and below that are laid out, too."""


class ReplyBody(Vertical):
    def __init__(self, text: str) -> None:
        super().__init__(classes="turn-body")
        begun = beginning(text)
        self._texts = [for_terminal(begun)]
        """All that is drawn, as it came."""
        self._parts = [MarkdownPart(self.source, first=True)]
        self._at_once = bool(begun)
        """Whether the only part was parsed as a whole: to that, Textual appends wrongly."""
        self._width = 0
        self._drawn, self._left = len(begun), len(text) - len(begun)
        """Characters that are drawn, and that are not for want of room."""
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

    def add(self, piece: str, *, typing: bool) -> None:
        """Append a piece; it is drawn with those that come within the same moment."""
        self._pending.append(piece)
        if self._waiting is None:
            wait = DRAW_BESIDE_TYPING if typing else DRAW_EVERY
            self._waiting = self.set_timer(wait, self._draw_if_rested)

    async def draw_behind_key(self) -> None:
        """Draw now that a key was drawn, unless the last drawing was just now."""
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
                await self._become(for_terminal(text))
            await self._show_left()
            self.call_after_refresh(self.fold_away)

    @property
    def _rest(self) -> float:
        """Seconds until it may be drawn again."""
        passed, worked = time.monotonic() - self._drawn_at, time.thread_time() - self._worked
        return max(DRAW_EVERY, min(worked / SHARE, LONGEST_REST)) - passed

    async def _draw_if_rested(self) -> None:
        self._waiting = None
        if (rest := self._rest) > 0:
            self._waiting = self.set_timer(rest, self._draw_if_rested)
        else:
            await self._draw()

    async def _draw(self) -> None:
        # Two appends at once would both begin where the first one did.
        async with self._drawing:
            drawn_at, worked = time.monotonic(), time.thread_time()
            if await self._grow_a_little():
                self._drawn_at, self._worked = drawn_at, worked
                self.call_after_refresh(self.fold_away)
                if self._pending and self._waiting is None:
                    self._waiting = self.set_timer(DRAW_EVERY, self._draw_if_rested)

    async def _grow_a_little(self) -> bool:
        """Append what is quick to draw of what waits; tell whether anything did."""
        if self._waiting is not None:
            self._waiting.stop()
            self._waiting = None
        pieces = "".join(self._pending)
        self._pending.clear()
        is_flood = len(pieces) > LONGEST
        now = 0 if self._left else HEAD if is_flood else _quick(pieces)
        room = min(_room(self.source, pieces[:now]), LONGEST - self._drawn)
        if self._left or is_flood or room < now:
            self._left += len(pieces) - room
        elif now < len(pieces):
            self._pending.append(pieces[now:])
        self._drawn += room
        if room:
            await self._grow(for_terminal(pieces[:room]))
        await self._show_left()
        return bool(pieces)

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
        """Show another text, or all of this one, once it is known that nothing more comes.

        What was parsed as it came is parsed again only where it may read otherwise as a whole.
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
        """Lay out only what is near what the user sees."""
        if len(self._parts) == 1 or not self.is_mounted:
            return
        screen = self.screen.region
        near = screen.grow((int(NEAR * screen.height), 0) * 2)
        for part in self._parts[:-1]:
            part.fold(folded=not part.region.overlaps(near))

    def on_resize(self, event: events.Resize) -> None:
        """Measure again: heights that were kept are those of the old width."""
        if event.size.width != self._width:
            self._width = event.size.width
            self.measure_again()

    def measure_again(self) -> None:
        """Lay all of it out, for heights that were kept may be others now."""
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
    """Cut a text that is all there to what is drawn of it: all, unless it is very long."""
    head = text if len(text) <= LONGEST else text[:HEAD]
    return head[: _room("", head)]


def left_out(characters: int) -> str:
    return f"… {characters:,} characters more: Enter shows them"


def _defines_links(text: str) -> bool:
    """Whether a line says where links elsewhere in the text go."""
    if "]:" not in text:
        return False
    known: dict[str, object] = {}
    MarkdownIt("gfm-like").parse(text, known)
    return bool(known.get("references"))


def _quick(pieces: str) -> int:
    """Count the characters to draw now: whole lines, and not much more than `MOST_AT_ONCE`."""
    most = max(MOST_AT_ONCE, min(len(pieces) // 3, MOST_BEHIND))
    if len(pieces) <= most:
        return len(pieces)
    return pieces.rfind("\n", 0, most) + 1 or most


def _room(drawn: str, pieces: str) -> int:
    """Count the characters that can follow until a line is too long to be laid out."""
    length, place = len(drawn) - drawn.rfind("\n") - 1, 0
    for line in pieces.splitlines(keepends=True):
        if length + len(line) > LONGEST_LINE:
            return place + max(0, LONGEST_LINE - length)
        length, place = (0 if line.endswith("\n") else length + len(line)), place + len(line)
    return place


MOST_UNFOLDED = 40_000
"""Characters of reasoning that are unfolded; the exact text has all of them."""
_TAIL = 400


class Reasoning(Static):
    """Folded until it is asked for; a click unfolds it, and folds it again."""

    def __init__(self, text: str = "", tokens: int = 0) -> None:
        super().__init__(classes="turn-reasoning")
        self._text, self._tokens = text, tokens
        self._pieces: list[str] = []
        """What came since it grows; empty once it is settled."""
        self._tail = ""
        self._waiting: Timer | None = None
        self.unfolded = False

    def on_mount(self) -> None:
        self._draw()

    def on_click(self) -> None:
        self.toggle()

    def toggle(self) -> None:
        if not self._pieces:
            self.unfolded = not self.unfolded
            self._draw()

    def add(self, piece: str) -> None:
        self._pieces.append(piece)
        self._tail = (self._tail + piece)[-_TAIL:]
        if self._waiting is None:
            self._waiting = self.set_timer(DRAW_EVERY, self._draw_growing)

    def settle(self, text: str, tokens: int = 0) -> None:
        """Show the whole of it; `tokens` where the provider reported them, else 0."""
        self._stop()
        self.remove_class("-growing")
        self._text, self._tokens = text, tokens
        self._pieces.clear()
        self._draw()

    def end(self) -> None:
        """Settle what came: the answer begins."""
        if self._pieces:
            self.settle(self._text + "".join(self._pieces))

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
        left = len(self._text) - MOST_UNFOLDED
        more = f"\n{left_out(left)}" if left > 0 else ""
        text = for_terminal(self._text[:MOST_UNFOLDED])
        self.update(Content(f"▾ reasoning · {size}\n{text}{more}"))

    def _stop(self) -> None:
        if self._waiting is not None:
            self._waiting.stop()
            self._waiting = None
