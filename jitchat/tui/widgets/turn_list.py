"""A list of turns of which only those around where the user looks are mounted.

So a conversation of 100,000 turns opens as quickly as one of ten. What is in view stays where it
is while something changes above it.
"""

import asyncio
from bisect import bisect_left
from collections.abc import Sequence
from operator import attrgetter

from textual.containers import VerticalScroll
from textual.content import Content
from textual.geometry import Size
from textual.layout import DockArrangeResult
from textual.widget import Widget
from textual.widgets import Static

from jitchat.tui.widgets.turn_view import TurnView
from jitchat.values import Turn

FIRST, STEP, MOST = 4, 10, 100
"""Turns mounted for the first frame, added at a time, and kept."""
AROUND = 12
"""Turns mounted on either side of one that is looked for."""

EMPTY = (
    "Nothing has been said here yet.\n\nWrite below and press Enter. Every turn is kept whole on"
    " this machine; the bar shows what goes into each request."
)


class TurnList(VerticalScroll):
    """The child at the top of the screen keeps its place from each layout to the next."""

    def __init__(self, identity: str) -> None:
        super().__init__(id=identity)
        self._top: tuple[Widget, int] | None = None
        """The child at the top of the screen, and its line as last laid out."""
        self._turns: list[Turn] = []
        self._start = self._end = 0
        """The turns that are mounted, by index."""
        self._is_extending = False
        self._shown = 0
        """Counts the conversations and places that were shown: what comes late is of another."""
        self._mounting = asyncio.Lock()

    def page(self, pages: int) -> None:
        """Scroll down by pages, at once: after the next layout another line can be meant."""
        goal = self.scroll_target_y + pages * self.scrollable_content_region.height
        self.scroll_to(y=goal, immediate=True)

    def action_page_up(self) -> None:
        self.page(-1)

    def action_page_down(self) -> None:
        self.page(1)

    def arrange(self, size: Size, optimal: bool = False) -> DockArrangeResult:
        """Lay the children out, and scroll by as much as the one at the top has moved."""
        arranged = super().arrange(size, optimal)
        regions = {placement.widget: placement.region for placement in arranged.placements}
        if self._top is not None and self._top[0] in regions:
            child, before = self._top
            moved = regions[child].y - before
            self._top = child, regions[child].y
            if moved:
                self._shift(moved)
        in_view = (child for child, region in regions.items() if region.bottom > self.scroll_y)
        top = next(in_view, None)
        self._top = None if top is None else (top, regions[top].y)
        return arranged

    def _shift(self, lines: int) -> None:
        """Scroll within the layout that is being made, so that no frame shows another place."""
        self.app.animator.force_stop_animation(self, "scroll_y")  # its goal has moved too
        y = max(0.0, self.scroll_y + lines)
        self.set_reactive(TurnList.scroll_y, y)
        self.set_reactive(TurnList.scroll_target_y, y)
        self.vertical_scrollbar.position = y

    async def show(self, turns: Sequence[Turn], at: int | None = None) -> None:
        """Show another conversation, or another place in it: its end, or the turn at `at`."""
        async with self._mounting:
            await self._show(turns, at)

    async def _show(self, turns: Sequence[Turn], at: int | None = None) -> None:
        self._is_extending = True
        self._shown += 1
        self._turns = list(turns)
        size = len(self._turns)
        found = next((n for n, turn in enumerate(self._turns) if turn.position == at), size)
        self._start = max(0, found - (FIRST if at is None else AROUND))
        self._end = min(size, found + AROUND)
        views = await self.views_of(self._turns[self._start : self._end])
        self.anchor(at is None)
        await self.remove_children()
        await self.mount_all(views or [Static(Content(EMPTY), id="empty")])
        self.call_after_refresh(self._settle, at, self._shown)

    async def know(self, turns: Sequence[Turn]) -> None:
        """Take in the whole conversation, of which a stretch is on screen already."""
        async with self._mounting:
            shown = [view.turn.position for view in self._mounted()]
            self._turns = list(turns)
            if not shown:
                await self._show(self._turns)
                return
            position = attrgetter("position")
            self._start = bisect_left(self._turns, shown[0], key=position)
            self._end = bisect_left(self._turns, shown[-1] + 1, key=position)

    async def take_in(self, turns: Sequence[Turn]) -> None:
        """Take in what is stored now: the end is shown anew if another instance wrote there."""
        latest = [turn.position for turn in turns[-STEP:]]
        if latest != [turn.position for turn in self._turns[-STEP:]]:
            await self.show(turns)

    def watch_scroll_y(self, old: float, new: float) -> None:
        """Mount more when an end is no more than a page away."""
        super().watch_scroll_y(old, new)
        if not self._is_extending and self.is_mounted:
            page = self.size.height
            if new <= page and self._start > 0 and new < old:
                self._extend(self._shown, up=True)
            elif new >= self.max_scroll_y - page and self._end < len(self._turns) and new > old:
                self._extend(self._shown, up=False)

    def on_resize(self) -> None:
        self.call_after_refresh(self._fill, self._shown)

    def _extend(self, shown: int, *, up: bool) -> None:
        self._is_extending = True
        self.call_later(self._mount_more, shown, up)

    async def _mount_more(self, shown: int, up: bool) -> None:
        async with self._mounting:
            if shown != self._shown:
                return
            start = max(0, self._start - STEP) if up else self._end
            end = self._start if up else min(len(self._turns), self._end + STEP)
            views = await self.views_of(self._turns[start:end])
            await self.mount_all(views, before=0 if up else None)
            self._start, self._end = min(start, self._start), max(end, self._end)
            if self._end - self._start > MOST and up:
                await self.remove_children(self._mounted()[MOST:])
                self._end = self._start + MOST
                self.anchor(anchor=False)  # there is no end to follow
            elif self._end - self._start > MOST:
                await self.remove_children(self._mounted()[:-MOST])
                self._start = self._end - MOST
            self.call_after_refresh(self._extended, shown)

    def _extended(self, shown: int) -> None:
        if shown == self._shown:
            self._is_extending = False
            self._fill(shown)

    def _fill(self, shown: int) -> None:
        """Mount more at an end that is reached, also where the turns leave room."""
        if shown == self._shown and not self._is_extending:
            if self._start > 0 and self.scroll_y <= 0:
                self._extend(shown, up=True)
            elif self._end < len(self._turns) and self.scroll_y >= self.max_scroll_y:
                self._extend(shown, up=False)

    def _settle(self, at: int | None, shown: int) -> None:
        """Once the views have their heights: bring up the turn that is wanted."""
        if shown != self._shown:
            return
        view = None if at is None else self._view_of(at)
        if view is not None:
            self.scroll_to_widget(view, top=True, animate=False)
        if at is None and self._start:
            self._extend(shown, up=True)
        else:
            self.call_after_refresh(self._extended, shown)

    def _view_of(self, position: int) -> TurnView | None:
        views = reversed(self._mounted())  # mostly one of the latest is wanted
        return next((view for view in views if view.turn.position == position), None)

    def _mounted(self) -> list[TurnView]:
        return [view for view in self.children if isinstance(view, TurnView)]

    async def views_of(self, turns: Sequence[Turn]) -> list[TurnView]:
        return [TurnView(turn) for turn in turns]
