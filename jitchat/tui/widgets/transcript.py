"""The transcript: the turns of the conversation, a cursor, and the reply streaming at the end.

Only the turns around the visible area are mounted, so that a conversation of 100,000 turns opens as
quickly as one of ten. The visible turns do not move when something changes above them.
"""

import asyncio
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from textual.binding import Binding
from textual.containers import VerticalScroll
from textual.geometry import Size
from textual.layout import DockArrangeResult
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Static

from jitchat.text.code_blocks import CodeBlock, code_blocks, has_code
from jitchat.text.sanitize import shorten
from jitchat.tui.actions import pane_bindings
from jitchat.tui.drawing import Content
from jitchat.tui.widgets.found_marks import FoundMarks
from jitchat.tui.widgets.reply import CUT_CODE
from jitchat.tui.widgets.turn_view import NOTHING, Detail, TurnDetails, TurnView, is_cut
from jitchat.turn_list import joined, replaced, up_to
from jitchat.values import Role, Status, ToolCall, Turn
from jitchat.window.exchange import is_requested
from jitchat.window.steering import Steering
from jitchat.window.window import Segment

FIRST, STEP, MOST = 4, 10, 100
"""Turns mounted for the first frame, turns added at a time, and maximum turns kept mounted."""
AROUND = 12
"""Turns mounted on either side of a turn that is jumped to."""

_BLOCKS, _NAME = 9, 12
"""Code blocks that have a key, and characters shown of each."""

_MARGIN = 3
"""Lines between a match and the edge of the screen, which a notice may cover."""

EMPTY = (
    "No messages yet.\n\nType below and press Enter. Every turn is stored in full on this machine;"
    " the bar shows what each request contains."
)


class Transcript(VerticalScroll):
    """The turns; one of them is chosen while the transcript has the focus."""

    BINDINGS = [  # noqa: RUF012  Textual's own shape
        Binding("down", "move(1)", show=False),
        Binding("up", "move(-1)", show=False),
        Binding("home", "first", show=False),
        Binding("end", "last", show=False),
        Binding("pageup", "page(-1)", show=False),
        Binding("pagedown", "page(1)", show=False),
        Binding("enter", "open", "text", False, "⏎", id="transcript_open"),
        *pane_bindings(),
    ]

    @dataclass
    class Opened(Message):
        turn: Turn
        detail: Detail

    def __init__(self) -> None:
        super().__init__(id="transcript")
        self._top: tuple[Widget, int] | None = None
        """The topmost visible child, and its line in the last layout."""
        self._turns: Sequence[Turn] = ()
        self._start = self._end = 0
        """The range of mounted turns, by index."""
        self._is_extending = False
        self._shown = 0
        """Number of times that turns were shown, to ignore late callbacks of earlier ones."""
        self._mounting = asyncio.Lock()
        self._showing: asyncio.Future[None] | None = None
        self.details: TurnDetails | None = None
        """For the conversation on screen; None before the first one."""
        self._carrier: Callable[[Turn], Segment | None] = lambda _: None
        """Returns the segment of a turn in the window."""
        self._steering = Steering()
        self._deltas: list[str] = []
        """The deltas of the streaming reply."""
        self._found = FoundMarks()
        self._cursor: int | None = None
        """The position of the turn under the cursor; None for the last one."""

    @property
    def chosen(self) -> Turn | None:
        """The turn under the cursor; None while the focus is elsewhere."""
        place = self._place_of_cursor() if self.has_focus else None
        return None if place is None else self._turns[place]

    @property
    def _chosen_view(self) -> TurnView | None:
        return self._view_of(self.chosen.position) if self.chosen is not None else None

    def offers(self, binding: Binding) -> bool:
        view = self._chosen_view
        if view is None:
            return False
        is_reply = view.turn.role is Role.ASSISTANT
        applies = {
            "turn_edit": view.turn.role is Role.USER,
            "turn_go_on": is_reply and is_cut(view.turn, view.detail),
            "turn_reasoning": view.foldable is not None,
            "turn_copy_code": has_code(view.turn.content),
            "turn_mattered": is_reply,
            "turn_miss": is_reply,
            "turn_requested": is_requested(view.turn),
            "turn_version_after": bool(view.detail.versions),
        }
        return applies.get(binding.id or "", True)

    def question_of(self, binding: Binding) -> str:
        """Write the question that a key asks first; empty if the key acts at once."""
        question = binding.tooltip.format(turn=self.chosen.position if self.chosen else "")
        blocks = self._blocks_of(binding)
        if len(blocks) == 1:
            return ""  # there is no other block to choose
        names = (shorten(block.language or block.code, _NAME) for block in blocks)
        listed = ", ".join(f"{number} {name}" for number, name in enumerate(names, start=1))
        return f"{question} {listed}" if len(blocks) > 1 else question

    def choices_of(self, binding: Binding) -> dict[str, str]:
        """Return the keys, besides Enter, that answer a question, with the action of each."""
        numbers = range(1, len(self._blocks_of(binding)) + 1)
        return {str(number): f"screen.do('copy_code', '{number}')" for number in numbers}

    def _blocks_of(self, binding: Binding) -> Sequence[CodeBlock]:
        chosen = self.chosen if binding.id == "turn_copy_code" else None
        return code_blocks(chosen.content)[:_BLOCKS] if chosen is not None else ()

    @property
    def to_copy(self) -> Turn | None:
        """The turn under the cursor, or the last reply; None if there is neither."""
        replies = (turn for turn in reversed(self._turns) if turn.role is Role.ASSISTANT)
        return self.chosen or next(replies, None)

    async def put(self, turn: Turn) -> None:
        """Show a turn's current state: add it at the end, or update it if it is shown already.

        The streaming reply becomes the stored one. A tool result closes its open call.
        """
        if turn.use.answers is not None:
            for mounted in self._mounted():
                mounted.take_result(turn.use.answers)
        place = self._place(turn.position, turn.role)
        if place is None and turn.role is Role.ASSISTANT and self._growing_turn() is not None:
            place = len(self._turns) - 1
        if place is not None:
            details = await self.details.of([turn]) if self.details is not None else {}
            view = self._view_of(self._turns[place].position)
            self._turns = replaced(self._turns, place, turn)
            if view is not None:
                await view.finish(turn, details.get(turn.position, NOTHING))
            return
        async with self._mounting:
            if self._end < len(self._turns):
                await self._show(self._turns)
            views = await self.views_of([turn])
            await self.query("#empty").remove()
            self._turns = joined(self._turns, [turn])
            self._end = len(self._turns)
            self.point_at(None)
            await self.mount_all(views)
            self.anchor()

    def show_call(self, turn: Turn, call: ToolCall, *, runs: bool) -> None:
        """Show that a tool call is running or waiting for approval, until its result is put."""
        if (view := self._view_of(turn.position)) is not None:
            view.show_call(call, runs=runs)

    async def replace_stored(self, turn: Turn) -> bool:
        """Update a reply that could not be stored at first; return False if it is not shown.

        A reply that is still streaming at this position is a different one.
        """
        place = self._place(turn.position, turn.role)
        if place is None or self._turns[place].status is Status.STREAMING:
            return False
        view = self._view_of(turn.position)
        if view is not None:
            await view.warn("")
        await self.put(turn)
        return True

    def detail_of(self, turn: Turn) -> Detail:
        view = self._view_of(turn.position)
        return view.detail if view is not None else NOTHING

    async def stream(self, delta: str, position: int, *, typing: bool = False) -> None:
        """Append a delta to the streaming reply, which is expected at `position`."""
        view = await self._streaming_view(position)
        self._deltas.append(delta)
        if view is not None and view.reply is not None:
            if view.reasoning is not None:
                view.reasoning.end()
            view.reply.add(delta, typing=typing)

    async def think(self, delta: str, position: int) -> None:
        if (view := await self._streaming_view(position)) is not None:
            await view.think(delta)

    async def take_for_reasoning(self) -> None:
        """Turn all of the reply so far into reasoning."""
        text = "".join(self._deltas)
        self._deltas.clear()
        view = self._growing_view()
        if view is not None and view.reply is not None:
            view.reply.finish("")
            await view.think(text)

    async def end_stream(self) -> None:
        """End a reply that was not stored; the part received stays on screen."""
        if (growing := self._growing_turn()) is not None:
            text = "".join(self._deltas)
            await self.put(replace(growing, content=text, status=Status.INTERRUPTED))

    async def warn(self, sentence: str) -> None:
        """Show a warning below the last turn."""
        if views := self._mounted():
            await views[-1].warn(sentence)

    def draw_after_key(self) -> None:
        """Draw the streaming reply, if there is one, after a key was drawn."""
        view = self._growing_view()
        if view is not None and view.reply is not None:
            view.reply.draw_after_key()

    def mark(self, carrier: Callable[[Turn], Segment | None]) -> None:
        """Mark the turns that are in the window; `carrier` returns the segment of a turn."""
        self._carrier = carrier
        with self.app.batch_update():
            for view in self.query(TurnView):
                view.mark(carrier(view.turn))

    def hold(self, steering: Steering) -> None:
        if steering != self._steering:
            self._steering = steering
            with self.app.batch_update():
                for view in self.query(TurnView):
                    view.hold(steering.of(view.turn.position))

    async def views_of(self, turns: Sequence[Turn]) -> list[TurnView]:
        details = await self.details.of(turns) if self.details is not None else {}
        views = []
        for turn in turns:
            is_growing = turn.status is Status.STREAMING
            shown = replace(turn, content="".join(self._deltas)) if is_growing else turn
            segment = self._carrier(turn)
            views.append(TurnView(shown, segment, details.get(turn.position, NOTHING)))
            views[-1].hold(self._steering.of(turn.position))
        return views

    def action_page(self, pages: int) -> None:
        """Scroll down by pages, immediately, because the next layout may shift the lines."""
        goal = self.scroll_target_y + pages * self.scrollable_content_region.height
        self.scroll_to(y=goal, immediate=True)

    def arrange(self, size: Size, optimal: bool = False) -> DockArrangeResult:
        """Lay out the children, and scroll by as much as the topmost visible one has moved."""
        if not self._container_size:  # Textual would compute the end for a container of no height
            self._container_size = size
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
        """Scroll within the current layout, so that no frame is drawn at another position."""
        self.app.animator.force_stop_animation(self, "scroll_y")  # its target has moved too
        y = max(0.0, self.scroll_y + lines)
        self.set_reactive(Transcript.scroll_y, y)
        self.set_reactive(Transcript.scroll_target_y, y)
        self.vertical_scrollbar.position = y

    async def show(self, turns: Sequence[Turn], at: int | None = None) -> None:
        """Show a conversation from the turn at position `at`, or its end if `at` is None.

        The operation is completed even if the caller is cancelled: if the removal of widgets is
        cancelled, Textual also cancels their parent, and the screen freezes.
        """
        self._showing = asyncio.ensure_future(self._show_alone(turns, at))
        await asyncio.shield(self._showing)

    async def _show_alone(self, turns: Sequence[Turn], at: int | None) -> None:
        async with self._mounting:
            await self._show(turns, at)

    async def _show(self, turns: Sequence[Turn], at: int | None = None) -> None:
        self._is_extending = True
        self._shown += 1
        self._turns = turns
        size = len(self._turns)
        found = size if at is None else up_to(turns, at - 1)
        if found < size and turns[found].position != at:
            found = size
        self._start = max(0, found - (FIRST if at is None else AROUND))
        self._end = min(size, found + AROUND)
        views = await self.views_of(self._turns[self._start : self._end])
        self.anchor(at is None)
        await self.remove_children()
        await self.mount_all(views or [Static(Content(EMPTY), id="empty")])
        self.call_after_refresh(self._settle, at, self._shown)

    async def know(self, turns: Sequence[Turn]) -> None:
        """Set the turns of the whole conversation, part of which is on screen already."""
        async with self._mounting:
            shown = [view.turn.position for view in self._mounted()]
            self._turns = turns
            if not shown:
                await self._show(self._turns)
                return
            self._start = up_to(self._turns, shown[0] - 1)
            self._end = up_to(self._turns, shown[-1])

    async def take_in(self, turns: Sequence[Turn]) -> None:
        """Reload the stored turns: show the end again if another process has changed it."""
        latest = [turn.position for turn in turns[-STEP:]]
        if latest != [turn.position for turn in self._turns[-STEP:]]:
            await self.show(turns)

    def watch_scroll_y(self, old: float, new: float) -> None:
        """Mount more turns if an end is less than a page away."""
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
                self.anchor(anchor=False)  # the end to follow is not mounted
            elif self._end - self._start > MOST:
                await self.remove_children(self._mounted()[:-MOST])
                self._start = self._end - MOST
            self.call_after_refresh(self._extended, shown)

    def _extended(self, shown: int) -> None:
        if shown == self._shown:
            self._is_extending = False
            self._found.mark(self._mounted())
            self._fill(shown)

    def _fill(self, shown: int) -> None:
        """Mount more turns at an end that has been reached, or if they do not fill the screen."""
        if shown == self._shown and not self._is_extending:
            if self._start > 0 and self.scroll_y <= 0:
                self._extend(shown, up=True)
            elif self._end < len(self._turns) and self.scroll_y >= self.max_scroll_y:
                self._extend(shown, up=False)

    def _settle(self, at: int | None, shown: int) -> None:
        """Scroll to the requested turn, once the views have their heights."""
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
        views = reversed(self._mounted())  # usually one of the latest is requested
        return next((view for view in views if view.turn.position == position), None)

    def _mounted(self) -> list[TurnView]:
        return [view for view in self.children if isinstance(view, TurnView)]

    @property
    def first_in_view(self) -> int:
        """The position of the turn at the top of the screen; 0 if there is none."""
        return self._nearest_in_view(1) or 0

    def mark_found(
        self, pattern: re.Pattern[str] | None, current: tuple[int, int] | None = None
    ) -> None:
        """Highlight matches, also in turns mounted later; None removes the highlights.

        `current` is the position of a turn and the index of the current match in its text.
        """
        self._found.look_for(pattern, current)
        self._found.mark(self._mounted())

    async def go_to(self, position: int) -> None:
        """Scroll to the turn at a position, or to the current match in it."""
        self.release_anchor()
        if self._view_of(position) is None:
            await self.show(self._turns, position)
        self.point_at(position)
        self.call_after_refresh(self._reveal, position, 4)

    def _reveal(self, position: int, tries: int) -> None:
        """Scroll to the turn or its current match, which may first have to be laid out."""
        view = self._view_of(position)
        if view is None:
            return
        self._found.mark([view])
        place = self._found.place(view)
        if place is None:
            self.scroll_to_widget(view, top=True, animate=False, immediate=True)
            return
        body, line = place
        if tries and (self._is_extending or not body.region.height):
            self.scroll_to_widget(view, top=True, animate=False, immediate=True)
            self.call_after_refresh(self._reveal, position, tries - 1)
            return
        y = body.region.y - self.region.y + self.scroll_y + line
        if not self.scroll_y + _MARGIN <= y < self.scroll_y + self.size.height - _MARGIN:
            self.scroll_to(y=y - self.size.height // 3, animate=False, immediate=True)

    def toggle_fold(self) -> bool:
        """Fold or unfold the reasoning or call of the chosen turn, or else of the last with one.

        Return whether there was any.
        """
        chosen = self._chosen_view
        for view in [chosen] if chosen is not None else reversed(self._mounted()):
            if view.foldable is not None:
                view.foldable.toggle()
                if view.foldable.unfolded:
                    self.release_anchor()
                    self.call_after_refresh(self.scroll_to_widget, view, top=True, animate=False)
                return True
        return False

    def wrap_code(self) -> None:
        """Cut off code lines that are wider than the screen, or wrap them again."""
        self.toggle_class(CUT_CODE)
        for view in self._mounted():
            if view.reply is not None:
                view.reply.refresh(layout=True)

    def on_focus(self) -> None:
        """Show the cursor on a visible turn."""
        self.point_at(self._nearest_in_view(-1))

    async def action_move(self, step: int) -> None:
        """Move to the next or previous turn, starting from a visible one."""
        place = self._place_of_cursor()
        if place is None:
            return
        nearest, view = self._nearest_in_view(step), self._view_of(self._turns[place].position)
        if nearest is not None and (view is None or not self._is_in_view(view)):
            self.point_at(nearest)
        elif 0 <= place + step < len(self._turns):
            position = self._turns[place + step].position
            view = self._view_of(position)
            if view is None:
                await self.show(self._turns, position)
            else:  # a turn larger than the screen is entered at its near end
                top = step > 0 and view.outer_size.height > self.size.height
                self.scroll_to_widget(view, top=top, animate=False, immediate=True)
            self.point_at(position)
        elif step > 0:
            self.scroll_end(animate=False)

    async def action_first(self) -> None:
        if self._turns:
            await self.show(self._turns, self._turns[0].position)
            self.point_at(self._turns[0].position)

    async def action_last(self) -> None:
        await self.show(self._turns)
        self.point_at(None)
        self.scroll_end(animate=False)

    def action_open(self) -> None:
        if (view := self._chosen_view) is not None:
            self.post_message(self.Opened(view.turn, view.detail))

    def point_at(self, position: int | None) -> None:
        """Move the cursor to the turn at a position, or to the last one."""
        self._cursor = position
        if position is None and self._turns:
            position = self._turns[-1].position
        for view in self._mounted():
            view.choose(chosen=view.turn.position == position)
        if self.has_focus:
            self.screen.refresh_bindings()

    def _place(self, position: int | None, role: Role | None = None) -> int | None:
        """Return the index of the turn at a position with this role; the latest are tried first."""
        turns, size = self._turns, len(self._turns)
        latest = reversed(range(max(0, size - STEP), size))
        places = (*latest, up_to(turns, position) - 1) if size and position is not None else ()
        at_position = (at for at in places if turns[at].position == position)
        return next((at for at in at_position if role in (None, turns[at].role)), None)

    def _place_of_cursor(self) -> int | None:
        """Return the index of the turn under the cursor; the last one if it no longer exists."""
        place = self._place(self._cursor)
        return len(self._turns) - 1 if place is None and self._turns else place

    def _is_in_view(self, view: TurnView) -> bool:
        """Whether it is visible at the current scroll position, which may not be drawn yet."""
        lines = view.virtual_region
        return lines.y < self.scroll_y + self.size.height and lines.bottom > self.scroll_y

    def _nearest_in_view(self, step: int) -> int | None:
        """Return the position of the visible turn that comes first in this direction."""
        seen = [view.turn.position for view in self._mounted() if self._is_in_view(view)]
        return seen[0 if step > 0 else -1] if seen else None

    def _growing_turn(self) -> Turn | None:
        last = self._turns[-1] if self._turns else None
        return last if last is not None and last.status is Status.STREAMING else None

    def _growing_view(self) -> TurnView | None:
        growing = self._growing_turn()
        return self._view_of(growing.position) if growing is not None else None

    async def _streaming_view(self, position: int) -> TurnView | None:
        """Return the view of the streaming reply, starting one if there is none."""
        if self._growing_turn() is None:
            self._deltas.clear()
            await self.put(Turn(position, Role.ASSISTANT, "", None, None, Status.STREAMING))
        return self._growing_view()
