"""The conversation: its turns, a cursor on them, and the reply that grows at the end.

Only the turns around where the user looks are mounted, so that a conversation of 100,000 turns
opens as quickly as one of ten. What is in view stays where it is while something changes above it.
"""

import asyncio
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from textual.binding import Binding
from textual.containers import VerticalScroll
from textual.content import Content
from textual.geometry import Size
from textual.layout import DockArrangeResult
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Static

from jitchat.text.code_blocks import CodeBlock, code_blocks, has_code
from jitchat.text.sanitize import shorten
from jitchat.tui.actions import pane_bindings
from jitchat.tui.widgets.found_marks import FoundMarks
from jitchat.tui.widgets.markdown_part import MarkdownPart
from jitchat.tui.widgets.reply import ReplyBody
from jitchat.tui.widgets.turn_view import NOTHING, Detail, TurnDetails, TurnView, is_cut
from jitchat.turn_list import joined, replaced, up_to
from jitchat.values import Role, Status, ToolCall, Turn
from jitchat.window.exchange import is_requested
from jitchat.window.steering import Steering
from jitchat.window.window import Segment

FIRST, STEP, MOST = 4, 10, 100
"""Turns mounted for the first frame, added at a time, and kept."""
AROUND = 12
"""Turns mounted on either side of one that is looked for."""

_BLOCKS, _NAME = 9, 12
"""So many blocks of code have a key, and so many characters of each are named."""

_MARGIN = 3
"""Lines between a match and an end of the screen; a notice may lie there."""

EMPTY = (
    "Nothing has been said here yet.\n\nWrite below and press Enter. Every turn is kept whole on"
    " this machine; the bar shows what goes into each request."
)


class Transcript(VerticalScroll):
    """One of the turns is chosen while the list has the focus."""

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
        """The child at the top of the screen, and its line as last laid out."""
        self._turns: Sequence[Turn] = ()
        self._start = self._end = 0
        """The turns that are mounted, by index."""
        self._is_extending = False
        self._shown = 0
        """Counts the conversations and places that were shown: what comes late is of another."""
        self._mounting = asyncio.Lock()
        self._showing: asyncio.Future[None] | None = None
        self.details: TurnDetails | None = None
        """Of the conversation that is on screen; None before there is one."""
        self._carrier: Callable[[Turn], Segment | None] = lambda _: None
        """Tells what the window has of a turn."""
        self._steering = Steering()
        self._grown: list[str] = []
        """The pieces of the reply that is growing."""
        self._found = FoundMarks()
        self._cursor: int | None = None
        """The position of the turn that was chosen last; None for the last one."""

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
        """Write what a key asks first; empty where it acts at once."""
        asked = binding.tooltip.format(turn=self.chosen.position if self.chosen else "")
        blocks = self._blocks_of(binding)
        if len(blocks) == 1:
            return ""  # there is no other one to copy
        names = (shorten(block.language or block.code, _NAME) for block in blocks)
        listed = ", ".join(f"{number} {name}" for number, name in enumerate(names, start=1))
        return f"{asked} {listed}" if len(blocks) > 1 else asked

    def choices_of(self, binding: Binding) -> dict[str, str]:
        """Tell which keys answer a question but Enter, and the action of each."""
        numbers = range(1, len(self._blocks_of(binding)) + 1)
        return {str(number): f"screen.do('copy_code', '{number}')" for number in numbers}

    def _blocks_of(self, binding: Binding) -> Sequence[CodeBlock]:
        chosen = self.chosen if binding.id == "turn_copy_code" else None
        return code_blocks(chosen.content)[:_BLOCKS] if chosen is not None else ()

    @property
    def to_copy(self) -> Turn | None:
        """The turn under the cursor, else the last reply; None where there is neither."""
        replies = (turn for turn in reversed(self._turns) if turn.role is Role.ASSISTANT)
        return self.chosen or next(replies, None)

    async def put(self, turn: Turn) -> None:
        """Show a turn as it now is: a new one at the end, or one that is here already.

        What grows is the reply that is stored. A result takes its call off those that run.
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
        """Show that a call of a turn runs, or waits to be allowed, until its result is put."""
        if (view := self._view_of(turn.position)) is not None:
            view.show_call(call, runs=runs)

    async def replace_stored(self, turn: Turn) -> bool:
        """Take a reply that could not be stored for what it is in the store; False: it is not here.

        The reply that is growing is another one.
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

    async def stream(self, piece: str, position: int, *, typing: bool = False) -> None:
        """Append to the reply that will be the turn at `position`, if nobody comes between."""
        view = await self._begun_view(position)
        self._grown.append(piece)
        if view is not None and view.reply is not None:
            if view.reasoning is not None:
                view.reasoning.end()
            view.reply.add(piece, typing=typing)

    async def think(self, piece: str, position: int) -> None:
        if (view := await self._begun_view(position)) is not None:
            await view.think(piece)

    async def take_for_reasoning(self) -> None:
        """Take all of the reply so far for reasoning."""
        text = "".join(self._grown)
        self._grown.clear()
        view = self._growing_view()
        if view is not None and view.reply is not None:
            await view.reply.finish("")
            await view.think(text)

    async def end_stream(self) -> None:
        """No more comes of a reply that was not stored: what came of it stays in view."""
        if (growing := self._growing_turn()) is not None:
            text = "".join(self._grown)
            await self.put(replace(growing, content=text, status=Status.INTERRUPTED))

    async def warn(self, sentence: str) -> None:
        """Say below the last turn what is the matter with it."""
        if views := self._mounted():
            await views[-1].warn(sentence)

    async def draw_behind_key(self) -> None:
        """Draw the reply that is growing, if one is, now that a key was drawn."""
        view = self._growing_view()
        if view is not None and view.reply is not None:
            await view.reply.draw_behind_key()

    def mark(self, carrier: Callable[[Turn], Segment | None]) -> None:
        """Show which turns the window has, and as what: `carrier` tells what carries a turn."""
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
            shown = replace(turn, content="".join(self._grown)) if is_growing else turn
            segment = self._carrier(turn)
            views.append(TurnView(shown, segment, details.get(turn.position, NOTHING)))
            views[-1].hold(self._steering.of(turn.position))
        return views

    def action_page(self, pages: int) -> None:
        """Scroll down by pages, at once: after the next layout another line can be meant."""
        goal = self.scroll_target_y + pages * self.scrollable_content_region.height
        self.scroll_to(y=goal, immediate=True)

    def arrange(self, size: Size, optimal: bool = False) -> DockArrangeResult:
        """Lay the children out, and scroll by as much as the one at the top has moved."""
        if not self._container_size:  # Textual would look for the end as in a room of no height
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
        """Scroll within the layout that is being made, so that no frame shows another place."""
        self.app.animator.force_stop_animation(self, "scroll_y")  # its goal has moved too
        y = max(0.0, self.scroll_y + lines)
        self.set_reactive(Transcript.scroll_y, y)
        self.set_reactive(Transcript.scroll_target_y, y)
        self.vertical_scrollbar.position = y

    async def show(self, turns: Sequence[Turn], at: int | None = None) -> None:
        """Show another conversation, or another place in it: its end, or the turn at `at`.

        Once begun it is done to the end, whatever becomes of the caller: where the removal of
        widgets is cancelled, Textual cancels their parent, too, and the screen stands still.
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
        """Take in the whole conversation, of which a stretch is on screen already."""
        async with self._mounting:
            shown = [view.turn.position for view in self._mounted()]
            self._turns = turns
            if not shown:
                await self._show(self._turns)
                return
            self._start = up_to(self._turns, shown[0] - 1)
            self._end = up_to(self._turns, shown[-1])

    async def take_in(self, turns: Sequence[Turn]) -> None:
        """Take in what is stored now: the end is shown anew if another instance wrote there."""
        latest = [turn.position for turn in turns[-STEP:]]
        if latest != [turn.position for turn in self._turns[-STEP:]]:
            await self.show(turns)

    def watch_scroll_y(self, old: float, new: float) -> None:
        """Mount more when an end is no more than a page away; fold what is far."""
        super().watch_scroll_y(old, new)
        self._fold_away()
        self.call_after_refresh(self._fold_away)  # a jump goes further than was near
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
            self._found.mark(self._mounted())
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

    @property
    def first_in_view(self) -> int:
        """The position of the turn at the top of the screen; 0 where there is none."""
        return self._nearest_in_view(1) or 0

    def mark_found(
        self, pattern: re.Pattern[str] | None, current: tuple[int, int] | None = None
    ) -> None:
        """Mark what matches, also in turns that come on screen later; None ends that.

        `current` is the position of a turn, and which of the matches in its text is shown.
        """
        self._found.look_for(pattern, current)
        self._found.mark(self._mounted())

    async def go_to(self, position: int) -> None:
        """Bring the turn at a position into view, at the current match where it has that."""
        self.release_anchor()
        if self._view_of(position) is None:
            await self.show(self._turns, position)
        self.point_at(position)
        self.call_after_refresh(self._reveal, position, 4)

    def _reveal(self, position: int, tries: int) -> None:
        """Scroll to the turn, or its current match; what is folded away is laid out on the way."""
        view = self._view_of(position)
        if view is None:
            return
        self._found.mark([view])
        place = self._found.place(view)
        if place is None:
            self.scroll_to_widget(view, top=True, animate=False, immediate=True)
            return
        static, line = place
        parts = [each for each in static.ancestors if isinstance(each, MarkdownPart)]
        if tries and (self._is_extending or not static.region.height):
            self.scroll_to_widget(
                parts[0] if parts else view, top=True, animate=False, immediate=True
            )
            self.call_after_refresh(self._reveal, position, tries - 1)
            return
        y = static.region.y - self.region.y + self.scroll_y + line
        if not self.scroll_y + _MARGIN <= y < self.scroll_y + self.size.height - _MARGIN:
            self.scroll_to(y=y - self.size.height // 3, animate=False, immediate=True)

    def toggle_fold(self) -> bool:
        """Fold or unfold the reasoning or the call of the chosen turn, or of the last with either.

        Tells whether there is any.
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
        """Wrap lines of code that are longer than the screen is wide, or cut them again."""
        self.toggle_class("-code-wrapped")
        for reply in self._replies():
            reply.measure_again()

    def _fold_away(self) -> None:
        for reply in self._replies():
            reply.fold_away()

    def _replies(self) -> list[ReplyBody]:
        return [view.reply for view in self._mounted() if view.reply is not None]

    def on_focus(self) -> None:
        """Show the cursor, where the user looks."""
        self.point_at(self._nearest_in_view(-1))

    async def action_move(self, step: int) -> None:
        """Move to the next turn or the one before, from where the user looks."""
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
            else:  # of a turn that is larger than the screen, to where it is entered
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
        """Move the cursor: to a position, or to the end."""
        self._cursor = position
        if position is None and self._turns:
            position = self._turns[-1].position
        for view in self._mounted():
            view.choose(chosen=view.turn.position == position)
        if self.has_focus:
            self.screen.refresh_bindings()

    def _place(self, position: int | None, role: Role | None = None) -> int | None:
        """The index of the turn at a position, said by `role`; the latest are looked at first."""
        turns, size = self._turns, len(self._turns)
        latest = reversed(range(max(0, size - STEP), size))
        places = (*latest, up_to(turns, position) - 1) if size and position is not None else ()
        at_position = (at for at in places if turns[at].position == position)
        return next((at for at in at_position if role in (None, turns[at].role)), None)

    def _place_of_cursor(self) -> int | None:
        """The index of the turn under the cursor; the last one where that is gone."""
        place = self._place(self._cursor)
        return len(self._turns) - 1 if place is None and self._turns else place

    def _is_in_view(self, view: TurnView) -> bool:
        """Whether it is on screen once what was scrolled is drawn: keys can come faster."""
        lines = view.virtual_region
        return lines.y < self.scroll_y + self.size.height and lines.bottom > self.scroll_y

    def _nearest_in_view(self, step: int) -> int | None:
        """The position of the first turn on screen that one comes to by such a step."""
        seen = [view.turn.position for view in self._mounted() if self._is_in_view(view)]
        return seen[0 if step > 0 else -1] if seen else None

    def _growing_turn(self) -> Turn | None:
        last = self._turns[-1] if self._turns else None
        return last if last is not None and last.status is Status.STREAMING else None

    def _growing_view(self) -> TurnView | None:
        growing = self._growing_turn()
        return self._view_of(growing.position) if growing is not None else None

    async def _begun_view(self, position: int) -> TurnView | None:
        """The view of the reply that grows, which begins now if none does."""
        if self._growing_turn() is None:
            self._grown.clear()
            await self.put(Turn(position, Role.ASSISTANT, "", None, None, Status.STREAMING))
        return self._growing_view()
