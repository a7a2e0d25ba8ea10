"""The conversation. Only a stretch of it is mounted; scrolling to an end mounts more.

So a conversation of 100,000 turns opens as quickly as one of ten.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from textual.binding import Binding
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

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

    def know(self, turns: Sequence[Turn]) -> None:
        """The whole conversation, of which the end is on screen already."""
        behind = len(self._turns) - self._start
        self._turns = list(turns)
        self._end = len(self._turns)
        self._start = max(0, self._end - behind)

    async def put(self, turn: Turn) -> None:
        """A turn as it now is: a new one at the end, in view, or one that is here already."""
        for place in range(len(self._turns) - 1, -1, -1):
            if self._turns[place].position == turn.position:
                self._turns[place] = turn
                if (view := self._view_of(turn.position)) is not None:
                    await view.finish(turn)
                return
        async with self._mounting:
            if self._end < len(self._turns):
                await self._show(self._turns)
            await self.query("#empty").remove()
            self._turns.append(turn)
            self._end = len(self._turns)
            await self.mount(TurnView(turn, self._kinds.get(turn.position)))
            self.anchor()

    async def stream(self, piece: str, position: int, *, typing: bool = False) -> None:
        """A piece of the reply that will be the turn at `position`."""
        if not self._turns or self._turns[-1].position != position:
            await self.put(Turn(position, Role.ASSISTANT, "", None, None, Status.STREAMING))
        view = self._view_of(position)
        if view is not None and view.reply is not None:
            view.reply.add(piece, typing=typing)

    async def draw_behind_key(self) -> None:
        """The reply that is growing, if one is, now that a key was drawn."""
        view = self._view_of(self._turns[-1].position) if self._turns else None
        if view is not None and view.reply is not None:
            await view.reply.draw_behind_key()

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
                self._extending = True
                self.call_later(self._extend_up, self._shown)
            elif new >= self.max_scroll_y - 2 and self._end < len(self._turns) and new > old:
                self._extending = True
                self.call_later(self._extend_down, self._shown)

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
                for view in list(self.query(TurnView))[MOST:]:
                    view.remove()
                self._end = self._start + MOST

    async def _extend_down(self, shown: int) -> None:
        async with self._mounting:
            if shown != self._shown:
                return
            end = min(len(self._turns), self._end + STEP)
            await self.mount_all(self._views(self._end, end))
            self._end = end
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
                self._extending = True
                self.call_later(self._extend_up, shown)
            elif self._end < len(self._turns):
                self._extending = True
                self.call_later(self._extend_down, shown)

    def _settle(self, at: int | None, shown: int) -> None:
        """Once the views have their heights: bring up the turn that is wanted."""
        if shown != self._shown:
            return
        view = None if at is None else self._view_of(at)
        if view is not None:
            self.scroll_to_widget(view, top=True, animate=False)
        self._extending = False
        if at is None and self._start:
            self._extending = True
            self.call_later(self._extend_up, shown)
        else:
            self._fill(shown)

    def _view_of(self, position: int) -> TurnView | None:
        """The view of a turn, if it is mounted; the latest are looked at first."""
        views = (view for view in reversed(self.children) if isinstance(view, TurnView))
        return next((view for view in views if view.turn.position == position), None)

    def _views(self, start: int, end: int) -> list[TurnView]:
        return [TurnView(turn, self._kinds.get(turn.position)) for turn in self._turns[start:end]]
