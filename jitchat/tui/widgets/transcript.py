"""The conversation. Only a stretch of it is mounted; scrolling to an end mounts more.

So a conversation of 100,000 turns opens as quickly as one of ten.
"""

from __future__ import annotations

import asyncio
from bisect import bisect_left
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import replace
from typing import Any

from textual.binding import Binding
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from jitchat.tui.widgets.reply_body import ReplyBody
from jitchat.tui.widgets.turn_view import TurnView
from jitchat.turn import Role, Status, Turn
from jitchat.window.window import Kind

FIRST, STEP, MOST = 4, 10, 100
"""Turns mounted for the first frame, added at a time, and kept."""
AROUND = 12
"""Turns mounted on either side of one that is looked for."""

EMPTY = (
    "Nothing has been said here yet.\n\nWrite below and press Enter. Every turn is kept whole on"
    " this machine; the bar shows what goes into each request."
)


class Transcript(VerticalScroll):
    """The turns around where the user looks."""

    BINDINGS = [  # noqa: RUF012  Textual's own shape
        Binding("j", "scroll_down", show=False),
        Binding("k", "scroll_up", show=False),
        Binding("g", "first", show=False),
        Binding("G", "last", show=False),
    ]

    def __init__(self) -> None:
        super().__init__(id="transcript")
        self._turns: list[Turn] = []
        self._start = self._end = 0
        self._kinds: Mapping[int, Kind] = {}
        self._extending = False
        self._shown = 0
        self._grown: list[str] = []
        """The pieces of the reply that is growing."""
        self._mounting = asyncio.Lock()

    async def show(self, turns: Sequence[Turn], at: int | None = None) -> None:
        """Another conversation, or another place in it: its end, or the turn at position `at`."""
        async with self._mounting:
            await self._show(turns, at)

    async def _show(self, turns: Sequence[Turn], at: int | None = None) -> None:
        self._extending = True
        self._shown += 1
        self._turns = list(turns)
        size = len(self._turns)
        found = next((n for n, turn in enumerate(self._turns) if turn.position == at), size)
        self._start = max(0, found - (FIRST if at is None else AROUND))
        self._end = min(size, found + AROUND)
        self.anchor(at is None)
        await self.remove_children()
        views = self._views(self._start, self._end)
        await self.mount_all(views or [Static(Content(EMPTY), id="empty")])
        self.call_after_refresh(self._settle, at, self._shown)

    async def know(self, turns: Sequence[Turn]) -> None:
        """The whole conversation, of which a stretch is on screen already."""
        async with self._mounting:
            shown = [view.turn.position for view in self._mounted()]
            self._turns = list(turns)
            if not shown:
                await self._show(self._turns)
                return
            self._start = bisect_left(self._turns, shown[0], key=_position)
            self._end = bisect_left(self._turns, shown[-1] + 1, key=_position)

    async def take_in(self, turns: Sequence[Turn]) -> None:
        """What is stored now: if another instance wrote between ours, show the end anew."""
        latest = [turn.position for turn in turns[-STEP:]]
        if latest != [turn.position for turn in self._turns[-STEP:]]:
            await self.show(turns)

    async def put(self, turn: Turn) -> None:
        """A turn as it now is: a new one at the end, in view, or one that is here already."""
        for place in range(len(self._turns) - 1, -1, -1):
            if self._turns[place].position == turn.position:
                self._turns[place] = turn
                if (view := self._view_of(turn.position)) is not None:
                    await view.finish(turn)
                return
        async with self._mounting:
            if turn.role is Role.ASSISTANT:
                await self._drop_stream()
            if self._end < len(self._turns):
                await self._show(self._turns)
            await self.query("#empty").remove()
            self._turns.append(turn)
            self._end = len(self._turns)
            await self.mount(TurnView(turn, self._kinds.get(turn.position)))
            self.anchor()

    async def stream(self, piece: str, position: int, *, typing: bool = False) -> None:
        """A piece of the reply that will be the turn at `position`, if nobody comes between."""
        if self._growing_turn() is None:
            self._grown.clear()
            await self.put(Turn(position, Role.ASSISTANT, "", None, None, Status.STREAMING))
        self._grown.append(piece)
        if (reply := self._growing_reply()) is not None:
            reply.add(piece, typing=typing)

    async def end_stream(self) -> None:
        """No more comes of a reply that was not stored: what came of it stays in view."""
        if (growing := self._growing_turn()) is not None:
            text = "".join(self._grown)
            await self.put(replace(growing, content=text, status=Status.INTERRUPTED))

    async def draw_behind_key(self) -> None:
        """The reply that is growing, if one is, now that a key was drawn."""
        if (reply := self._growing_reply()) is not None:
            await reply.draw_behind_key()

    def _growing_turn(self) -> Turn | None:
        last = self._turns[-1] if self._turns else None
        return last if last is not None and last.status is Status.STREAMING else None

    def _growing_reply(self) -> ReplyBody | None:
        growing = self._growing_turn()
        view = self._view_of(growing.position) if growing else None
        return view.reply if view is not None else None

    async def _drop_stream(self) -> None:
        """Its reply was stored at another place: somebody else's turn came between."""
        if (growing := self._growing_turn()) is not None:
            if (view := self._view_of(growing.position)) is not None:
                await view.remove()
            self._turns.pop()
            self._end = min(self._end, len(self._turns))

    def mark(self, kinds: Mapping[int, Kind]) -> None:
        """Which turns the window has, and as what."""
        self._kinds = kinds
        with self.app.batch_update():
            for view in self.query(TurnView):
                view.mark(kinds.get(view.turn.position))

    def watch_scroll_y(self, old: float, new: float) -> None:
        """Mount more when an end comes near."""
        super().watch_scroll_y(old, new)
        if not self._extending and self.is_mounted:
            if new <= 2 and self._start > 0 and new < old:
                self._extend(self._extend_up, self._shown)
            elif new >= self.max_scroll_y - 2 and self._end < len(self._turns) and new > old:
                self._extend(self._extend_down, self._shown)

    def on_resize(self) -> None:
        """A larger terminal has room for more."""
        self.call_after_refresh(self._fill, self._shown)

    async def action_first(self) -> None:
        """To the first turn of all."""
        if self._turns:
            await self.show(self._turns, self._turns[0].position)

    async def action_last(self) -> None:
        """To the latest turn."""
        await self.show(self._turns)
        self.scroll_end(animate=False)

    def _extend(self, way: Callable[[int], Coroutine[Any, Any, None]], shown: int) -> None:
        self._extending = True
        self.call_later(way, shown)

    async def _extend_up(self, shown: int) -> None:
        async with self._mounting:
            if shown != self._shown:
                return
            start = max(0, self._start - STEP)
            height = self.virtual_size.height
            await self.mount_all(self._views(start, self._start), before=0)
            self._start = start
            self.call_after_refresh(self._keep_place, height, shown)
            if self._end - self._start > MOST:
                await self.remove_children(self._mounted()[MOST:])
                self._end = self._start + MOST

    async def _extend_down(self, shown: int) -> None:
        async with self._mounting:
            if shown != self._shown:
                return
            end = min(len(self._turns), self._end + STEP)
            await self.mount_all(self._views(self._end, end))
            self._end = end
            views = self._mounted()
            if self._end - self._start > MOST:
                above = views[-MOST].virtual_region.y
                await self.remove_children(views[:-MOST])
                self._start = self._end - MOST
                self.scroll_to(y=self.scroll_y - above, animate=False)
            self._extending = False
            self.call_after_refresh(self._fill, shown)

    def _keep_place(self, height: int, shown: int) -> None:
        if not self.is_anchored:
            self.scroll_to(y=self.scroll_y + self.virtual_size.height - height, animate=False)
        self._extending = False
        self._fill(shown)

    def _fill(self, shown: int) -> None:
        """Mount more where the turns that are mounted leave room."""
        if shown == self._shown and not self._extending and self.max_scroll_y == 0:
            if self._start > 0:
                self._extend(self._extend_up, shown)
            elif self._end < len(self._turns):
                self._extend(self._extend_down, shown)

    def _settle(self, at: int | None, shown: int) -> None:
        """Once the views have their heights: bring up the turn that is wanted."""
        if shown != self._shown:
            return
        view = None if at is None else self._view_of(at)
        if view is not None:
            self.scroll_to_widget(view, top=True, animate=False)
        self._extending = False
        if at is None and self._start:
            self._extend(self._extend_up, shown)
        else:
            self._fill(shown)

    def _view_of(self, position: int) -> TurnView | None:
        """The view of a turn, if it is mounted; the latest are looked at first."""
        views = reversed(self._mounted())
        return next((view for view in views if view.turn.position == position), None)

    def _mounted(self) -> list[TurnView]:
        return [view for view in self.children if isinstance(view, TurnView)]

    def _views(self, start: int, end: int) -> list[TurnView]:
        return [self._view(turn) for turn in self._turns[start:end]]

    def _view(self, turn: Turn) -> TurnView:
        if turn.status is Status.STREAMING:
            turn = replace(turn, content="".join(self._grown))
        return TurnView(turn, self._kinds.get(turn.position))


def _position(turn: Turn) -> int:
    return turn.position
