"""What a model wrote, as Markdown; while it grows, it is drawn so that keys come first.

To draw it is to lay out the screen and the whole of its last paragraph: a key that comes in the
middle waits. So it is drawn now and then, and beside typing right behind a key, for the next one
is then furthest away.
"""

from __future__ import annotations

import asyncio
import time

from textual.timer import Timer
from textual.widgets import Markdown

from jitchat.text.safe import visible

DRAW_EVERY = 0.1
"""Seconds between two drawings, at least."""
SHARE, LONGEST_REST = 3, 1.0
"""And as many times what the last one took, up to so many seconds."""
DRAW_BESIDE_TYPING = 0.6
"""Seconds until it is drawn although keys were pressed just now."""


class ReplyBody(Markdown):
    """The text of an assistant's turn."""

    def __init__(self, text: str) -> None:
        super().__init__(visible(text), open_links=False, classes="turn-body")
        self._pending: list[str] = []
        self._waiting: Timer | None = None
        self._drawn_at = self._took = 0.0
        self._drawing = asyncio.Lock()

    def add(self, piece: str, *, typing: bool) -> None:
        """A piece of the reply; drawn with those that come within the same moment."""
        self._pending.append(piece)
        if self._waiting is None:
            wait = DRAW_BESIDE_TYPING if typing else self._rest
            self._waiting = self.set_timer(wait, self._draw)

    async def draw_behind_key(self) -> None:
        """A key was drawn: a good moment, unless the last drawing was just now."""
        rested = time.monotonic() - self._drawn_at >= self._rest
        if rested and not self._drawing.locked():
            await self._draw()

    async def finish(self, text: str) -> None:
        """The whole of it, as it was stored."""
        async with self._drawing:
            self._take_pending()
            await self.update(visible(text))

    @property
    def _rest(self) -> float:
        return max(DRAW_EVERY, min(SHARE * self._took, LONGEST_REST))

    async def _draw(self) -> None:
        # Two appends at once would both begin where the first one did.
        async with self._drawing:
            begun = time.monotonic()
            if pieces := self._take_pending():
                await self.append(visible(pieces))
                self.call_after_refresh(self._drawn, begun)

    def _take_pending(self) -> str:
        if self._waiting is not None:
            self._waiting.stop()
            self._waiting = None
        pieces = "".join(self._pending)
        self._pending.clear()
        return pieces

    def _drawn(self, begun: float) -> None:
        self._drawn_at = time.monotonic()
        self._took = self._drawn_at - begun
