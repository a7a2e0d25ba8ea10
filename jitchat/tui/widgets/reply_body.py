"""What a model wrote, as Markdown; while it grows, it is drawn so that keys come first.

To draw it is to lay out the screen and its last paragraphs: a key that comes in the middle
waits. So it is drawn now and then, and beside typing right behind a key, for the next one is then
furthest away.
"""

from __future__ import annotations

import asyncio
import time

from textual.timer import Timer

from jitchat.text.safe import visible
from jitchat.tui.widgets.reply_parts import ReplyParts

DRAW_EVERY = 0.1
"""Seconds between two drawings, at least."""
SHARE, LONGEST_REST = 0.2, 1.5
"""And so long that it takes no more of the event loop's time, up to so many seconds."""
MOST_AT_ONCE = 600
"""Characters in one drawing, some three paragraphs; more where it would fall behind."""
DRAW_BESIDE_TYPING = 0.6
"""Seconds until it is drawn although keys were pressed just now."""


class ReplyBody(ReplyParts):
    """The text of an assistant's turn."""

    def __init__(self, text: str) -> None:
        super().__init__(visible(text))
        self._pending: list[str] = []
        self._waiting: Timer | None = None
        self._drawn_at = self._worked = float("-inf")
        self._drawing = asyncio.Lock()

    def add(self, piece: str, *, typing: bool) -> None:
        """A piece of the reply; drawn with those that come within the same moment."""
        self._pending.append(piece)
        if self._waiting is None:
            wait = DRAW_BESIDE_TYPING if typing else DRAW_EVERY
            self._waiting = self.set_timer(wait, self._draw_if_rested)

    async def draw_behind_key(self) -> None:
        """A key was drawn: a good moment, unless the last drawing was just now."""
        if self._rest <= 0 and not self._drawing.locked():
            await self._draw()

    async def finish(self, text: str) -> None:
        """The whole of it, as it was stored."""
        async with self._drawing:
            while await self._grow_a_little():  # noqa: ASYNC110  it waits for nothing
                await asyncio.sleep(0)
            await self.become(visible(text))
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
        pieces = self._take_pending()
        now = _quick(pieces)
        if now < len(pieces):
            self._pending.append(pieces[now:])
        if pieces:
            await self.grow(visible(pieces[:now]))
        return bool(pieces)

    def _take_pending(self) -> str:
        if self._waiting is not None:
            self._waiting.stop()
            self._waiting = None
        pieces = "".join(self._pending)
        self._pending.clear()
        return pieces


def _quick(pieces: str) -> int:
    """How many characters are drawn now: whole lines, and not much more than `MOST_AT_ONCE`."""
    most = max(MOST_AT_ONCE, len(pieces) // 3)
    if len(pieces) <= most:
        return len(pieces)
    return pieces.rfind("\n", 0, most) + 1 or most
