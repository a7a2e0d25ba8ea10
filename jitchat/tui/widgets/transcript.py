"""The transcript: the turns of the conversation, a cursor, and the reply streaming at the end.

Only turns around the view are loaded, and only those in view are drawn, so that a conversation of
100,000 turns opens as quickly as one of ten, and is as fast at its end as at its beginning.
"""

import asyncio
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from textual.binding import Binding
from textual.message import Message
from textual.style import Style

from jitchat.store.database import waiting
from jitchat.text.code_blocks import CodeBlock, code_blocks, has_code
from jitchat.text.sanitize import shorten
from jitchat.tui.actions import pane_bindings
from jitchat.tui.drawing import MUTED
from jitchat.tui.render.reading import overlaid
from jitchat.tui.render.verbatim import verbatim
from jitchat.tui.render.wrap import Look
from jitchat.tui.widgets.found_marks import FoundMarks
from jitchat.tui.widgets.line_view import Block, LineView, Part, Row, Sign
from jitchat.tui.widgets.reply import Pace
from jitchat.tui.widgets.turn_block import TurnBlock
from jitchat.tui.widgets.turn_details import NOTHING, Detail, TurnDetails, is_cut
from jitchat.turn_list import in_memory, joined, position_at, replaced, up_to
from jitchat.values import Role, Status, ToolCall, Turn
from jitchat.window.carriers import Carrier
from jitchat.window.exchange import is_requested
from jitchat.window.steering import Steering

FIRST, NEAR, KEPT = 4, 20, 40
"""Turns loaded for the first frame; those on either side of the view before more are loaded, and
then."""
LATEST = 10
"""Turns that are looked at first."""

_BLOCKS, _NAME = 9, 12
"""Code blocks that have a key, and characters shown of each."""

_MARGIN = 3
"""Lines between a match and the edge of the screen, which a notice may cover."""

EMPTY = (
    "No messages yet.\n\nType below and press Enter. Every turn is stored in full on this machine;"
    " the bar shows what each request contains."
)


class EmptyBlock(Block):
    """Stands where there are no turns yet."""

    def drawn(self, look: Look) -> Iterable[Part]:
        text, lines = verbatim(look.narrower(5), (EMPTY, look.style(MUTED)))
        indent = look.decoration("  ")
        indented = [[indent, *line] for line in lines]
        yield Part("empty", text, [[], [], *indented, [], []])


class Transcript(LineView):
    """The turns; one of them is chosen while the transcript has the focus."""

    LEFT, RIGHT = 3, 1
    IS_AT_BOTTOM = True
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
        self._turns: Sequence[Turn] = ()
        self._start = 0
        """The index of the first turn that is loaded."""
        self._is_loading = False
        """Whether more turns are being loaded."""
        self._sought = 0
        """The place of the scrollbar that was asked for last."""
        self._shown = 0
        """Number of times that turns were shown, to ignore late callbacks of earlier ones."""
        self._loading = asyncio.Lock()
        self.details: TurnDetails | None = None
        """For the conversation on screen; None before the first one."""
        self._carrier: Callable[[Turn], Carrier | None] = lambda _: None
        """Returns what carries a turn in the window."""
        self._steering = Steering()
        self._growing: TurnBlock | None = None
        """The block of the streaming reply."""
        self._pace = Pace(self, self._draw_growing)
        self._found = FoundMarks()
        self._new: set[int] = set()
        """The ids of turns by other programs, until the next message is sent here."""
        self._cursor: int | None = None
        """The position of the turn under the cursor; None for the last one."""

    @property
    def turn_blocks(self) -> list[TurnBlock]:
        return [block for block in self.blocks if isinstance(block, TurnBlock)]

    @property
    def _end(self) -> int:
        """The index behind the last turn that is loaded."""
        return self._start + len(self.turn_blocks)

    @property
    def has_end(self) -> bool:
        return self._end == len(self._turns)

    @property
    def _usual_height(self) -> float:
        """The mean of the loaded turns, for one that is not."""
        return max(1.0, sum(block.height for block in self.blocks) / len(self.blocks))

    @property
    def unloaded(self) -> tuple[int, int]:
        below = max(0, len(self._turns) - self._end)
        return round(self._start * self._usual_height), round(below * self._usual_height)

    def seek(self, y: int) -> None:
        """Show the turns at a place of the scrollbar; of several, those at the last."""
        self._sought = y
        self.call_later(self._show_sought, y)

    async def _show_sought(self, y: int) -> None:
        if y != self._sought:
            return
        number = y / self._usual_height
        if y >= self._tops[-1]:
            number = self._end + (y - self._tops[-1]) / self._usual_height
        position = self._turns[min(int(number), len(self._turns) - 1)].position
        await self.show(self._turns, position)

    @property
    def chosen(self) -> Turn | None:
        """The turn under the cursor; None while the focus is elsewhere."""
        place = self._place_of_cursor() if self.has_focus else None
        return None if place is None else self._turn_at(place)

    @property
    def _chosen_block(self) -> TurnBlock | None:
        return self.block_of(self.chosen.position) if self.chosen is not None else None

    def offers(self, binding: Binding) -> bool:
        block = self._chosen_block
        if block is None:
            return False
        is_reply = block.turn.role is Role.ASSISTANT
        applies = {
            "turn_edit": block.turn.role is Role.USER,
            "turn_go_on": is_reply and is_cut(block.turn, block.detail),
            "turn_reasoning": block.is_foldable,
            "turn_copy_code": has_code(block.turn.content),
            "turn_mattered": is_reply,
            "turn_miss": is_reply,
            "turn_requested": is_requested(block.turn),
            "turn_version_after": bool(block.detail.versions),
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
        replies = (turn for turn in reversed(in_memory(self._turns)) if turn.role is Role.ASSISTANT)
        return self.chosen or next(replies, None)

    async def put(self, turn: Turn) -> None:
        """Show a turn's current state: add it at the end, or update it if it is shown already.

        The streaming reply becomes the stored one. A tool result closes its open call.
        """
        async with self._loading:
            if turn.use.answers is not None:
                for each in self.turn_blocks:
                    each.take_result(turn.use.answers)
            (made,) = await self._blocks_for([turn])
            place = self._place_of(turn.position, turn.role)
            if place is None and turn.role is Role.USER:
                self._mark_read()
            if place is None and turn.role is Role.ASSISTANT and self._growing_turn() is not None:
                place = len(self._turns) - 1
            if place is None:
                await self._add(made)
                return
            before = self._turns[place]
            block = self.block_of(before.position)
            self._turns = replaced(self._turns, place, turn)
            if before.status is Status.STREAMING:
                self._growing = None
            if block is not None:
                block.finish(turn, made.detail)
                self.settle()

    def _mark_read(self) -> None:
        self._new.clear()
        for block in self.turn_blocks:
            block.mark_read()

    async def _add(self, block: TurnBlock) -> None:
        if not self.has_end:
            await self._show(self._turns, None)
        self._turns = joined(self._turns, [block.turn])
        blocks = [*self.turn_blocks, block][-KEPT:]
        self._load(len(self._turns) - len(blocks), blocks)
        self.scroll_to_end()
        self.point_at(None)

    def show_call(self, turn: Turn, call: ToolCall, *, runs: bool) -> None:
        """Show that a tool call is running or waiting for approval, until its result is put."""
        if (block := self.block_of(turn.position)) is not None:
            block.show_call(call, runs=runs)
            self.settle()

    async def replace_stored(self, turn: Turn) -> bool:
        """Update a reply that could not be stored at first; return False if it is not shown.

        A reply that is still streaming at this position is a different one.
        """
        place = self._place_of(turn.position, turn.role)
        if place is None or self._turns[place].status is Status.STREAMING:
            return False
        if (block := self.block_of(turn.position)) is not None:
            block.warn("")
        await self.put(turn)
        return True

    def detail_of(self, turn: Turn) -> Detail:
        block = self.block_of(turn.position)
        return block.detail if block is not None else NOTHING

    async def stream(self, delta: str, position: int, *, typing: bool = False) -> None:
        """Append a delta to the streaming reply, which is expected at `position`."""
        (await self._growing_block(position)).add(delta)
        self._pace.draw_soon(typing=typing)

    async def think(self, delta: str, position: int) -> None:
        (await self._growing_block(position)).think(delta)
        self._pace.draw_soon()

    async def take_for_reasoning(self) -> None:
        """Turn all of the reply so far into reasoning."""
        if self._growing is not None:
            self._growing.take_for_reasoning()
            self.settle()

    async def end_stream(self) -> None:
        """End a reply that was not stored; the part received stays on screen."""
        if (turn := self._growing_turn()) is not None:
            text = self._growing.text if self._growing is not None else ""
            await self.put(replace(turn, content=text, status=Status.INTERRUPTED))

    async def warn(self, sentence: str) -> None:
        """Show a warning below the last turn."""
        for block in self.turn_blocks[-1:]:
            block.warn(sentence)
            self.settle()

    def draw_after_key(self) -> None:
        """Draw the streaming reply, if there is one, after a key was drawn."""
        self._pace.draw_after_key()

    def _draw_growing(self) -> None:
        if self._growing is not None:
            self._growing.change()
            self.settle()

    def mark(self, carrier: Callable[[Turn], Carrier | None]) -> None:
        """Mark the turns that are in the window; `carrier` returns what carries a turn."""
        self._carrier = carrier
        for block in self.turn_blocks:
            block.mark(carrier(block.turn))
        self.settle()

    def hold(self, steering: Steering) -> None:
        if steering != self._steering:
            self._steering = steering
            for block in self.turn_blocks:
                block.hold(steering.of(block.turn.position))
            self.settle()

    async def _blocks_for(self, turns: Sequence[Turn]) -> list[TurnBlock]:
        details = await self.details.of(turns) if self.details is not None else {}
        return [self._block_for(turn, details.get(turn.position, NOTHING)) for turn in turns]

    def _block_for(self, turn: Turn, detail: Detail = NOTHING) -> TurnBlock:
        growing = self._growing
        if growing is not None and growing.turn == turn:
            return growing
        hold = self._steering.of(turn.position)
        block = TurnBlock(turn, self._carrier(turn), detail, hold, is_new=turn.id in self._new)
        block.estimate(self.container_size.width)
        return block

    async def show(self, turns: Sequence[Turn], at: int | None = None) -> None:
        """Show a conversation from the turn at position `at`, or its end if `at` is None."""
        async with self._loading:
            await self._show(turns, at)

    async def _show(self, turns: Sequence[Turn], at: int | None) -> None:
        self._shown += 1
        self._is_loading = False
        size = len(turns)
        found = size if at is None else up_to(turns, at - 1)
        if found < size and position_at(turns, found) != at:
            found = size
        start = max(0, found - (FIRST if found == size else NEAR))
        end = found + max(NEAR, self.container_size.height)
        read = await asyncio.to_thread(turns.__getitem__, slice(start, end))
        blocks = await self._blocks_for(read)
        self._turns = turns
        self._load(start, blocks)
        if at is None or found == size:
            self.scroll_to_end()
        else:
            self.scroll_to_line(found - start, 0)

    def _load(self, start: int, blocks: Sequence[TurnBlock]) -> None:
        self._start = start
        self.blocks = [*blocks] or [EmptyBlock()]
        for number, block in enumerate(self.blocks, start=start):
            block.number = number

    async def know(self, turns: Sequence[Turn]) -> None:
        """Set the turns of the whole conversation, part of which is on screen already."""
        async with self._loading:
            shown = self.turn_blocks
            if not shown:
                await self._show(turns, None)
                return
            self._turns = turns
            start = up_to(turns, shown[0].turn.position - 1)
            self._load(start, shown[: len(turns) - start])
            self.settle()

    async def take_in(self, turns: Sequence[Turn]) -> int:
        """Reload the stored turns, and mark those that another program added as new.

        What is in view stays, unless that is the end, or these turns are of another branch.
        Return the number of new turns.
        """
        before = self._turns
        known = [turn.position for turn in before[-LATEST:]]
        if known == [turn.position for turn in turns[-LATEST:]]:
            return 0
        start = max(0, len(before) - LATEST)
        is_longer = known == [turn.position for turn in turns[start : len(before)]]
        new = turns[len(before) if is_longer else up_to(turns, max(known, default=0)) :]
        self._new.update(turn.id for turn in new)
        if is_longer and not self.follows:
            await self.know(turns)
        else:
            await self.show(turns)
        return len(new)

    def settle(self) -> None:
        """Load more turns, too, if there are few on either side of the view."""
        super().settle()
        first, last = self.numbers_in_view
        is_few = max(0, first - NEAR) < self._start
        is_few |= min(len(self._turns), last + NEAR) > self._end
        if is_few and self.container_size and not self._is_loading:
            self._is_loading = True
            self.call_later(self._load_around, self._shown)

    async def _load_around(self, shown: int) -> None:
        """Load the turns around the view, and drop those that are far from it."""
        async with self._loading:
            if shown != self._shown:
                return
            first, last = self.numbers_in_view
            start = max(0, first - KEPT)
            numbers = range(start, min(len(self._turns), last + KEPT))
            loaded = {block.number: block for block in self.turn_blocks}
            missing = [number for number in numbers if number not in loaded]
            new = await asyncio.to_thread(lambda: [self._turns[number] for number in missing])
            made = iter(await self._blocks_for(new))
            self._load(start, [loaded.get(number) or next(made) for number in numbers])
            self.follows = self.follows and self.has_end
            self._is_loading = False
            self.settle()

    def block_of(self, position: int) -> TurnBlock | None:
        blocks = reversed(self.turn_blocks)  # usually one of the latest is requested
        return next((block for block in blocks if block.turn.position == position), None)

    def blocks_between(self, first: int, last: int) -> Iterable[Block]:
        """Return the blocks of turns, also of those that are no longer loaded."""
        for number in range(max(0, first), min(last + 1, len(self._turns))):
            is_loaded = self._start <= number < self._end
            turn = self._turn_at(number)
            yield self.blocks[number - self._start] if is_loaded else self._block_for(turn)

    def _turn_at(self, place: int) -> Turn:
        """Return a turn that is loaded, or was once and may have to be read again."""
        if self._start <= place < self._end:
            return self.turn_blocks[place - self._start].turn
        with waiting():
            return self._turns[place]

    # What shows the state of a turn

    def dressed(self, row: Row, block: Block, part: Part, line: int) -> Row:
        if not isinstance(block, TurnBlock) or part.name == "space":
            return row
        look, position = self._look, block.turn.position
        if self.has_focus and position == self._position_of_cursor:
            row = row._replace(ground=look.style("on $panel"))
            if part.name == "header":
                emphasis = look.style("$cursor-style")
                row = row._replace(line=overlaid(row.line, 0, sys.maxsize, emphasis))
        if block.bar is not None:
            sign, style = block.bar
            row = row._replace(bar=(sign, self.visual_style + row.ground + look.style(style)))
        if part.name == "body":
            for place, style in self._found.in_line(position, part, line):
                marked = overlaid(row.line, place.start, place.end, look.style(style))
                row = row._replace(line=marked)
        return row

    def margin(self, row: Row, ground: Style) -> Iterable[Sign]:
        if self.has_focus:
            yield "▌", self.visual_style + self.look.style("$primary")
        else:
            yield " ", Style(self.visual_style.background)
        yield row.bar or (" ", Style(ground.background))
        yield " ", Style(ground.background)

    @property
    def first_in_view(self) -> int:
        """The position of the turn at the top of the screen; 0 if there is none."""
        return self._nearest_in_view(1) or 0

    def mark_found(
        self, pattern: re.Pattern[str] | None, current: tuple[int, int] | None = None
    ) -> None:
        """Highlight matches; None removes the highlights.

        `current` is the position of a turn and the index of the current match in its text.
        """
        self._found.look_for(pattern, current)
        self.settle()

    async def go_to(self, position: int) -> None:
        """Scroll to the turn at a position, or to the current match in it."""
        if self.block_of(position) is None:
            await self.show(self._turns, position)
        block = self.block_of(position)
        self.point_at(position)
        if block is None or not self.container_size.height:
            return
        index = self.blocks.index(block)
        self.height_of(index)
        body = next(part for part in block.parts if part.name == "body")
        match = self._found.line_of_current(position, body)
        line = 0 if match is None else block.line_of("body") + match
        page = self.container_size.height
        y = self._tops[index] + line - self.scroll_y
        if match is None:
            self.scroll_to_line(index, 0)
        elif not _MARGIN <= y < page - _MARGIN:
            self.scroll_to_line(*self.walk(index, line, -(page // 3)))
        self.follows = False

    def toggle_fold(self) -> bool:
        """Fold or unfold the reasoning or call of the chosen turn, or else of the last with one.

        Return whether there was any.
        """
        chosen = self._chosen_block
        for block in [chosen] if chosen is not None else reversed(self.turn_blocks):
            if block.is_foldable:
                block.toggle()
                if block.is_unfolded:
                    self.scroll_to_line(self.blocks.index(block), 0)
                self.settle()
                return True
        return False

    def fold(self, block: Block) -> None:
        if isinstance(block, TurnBlock):
            block.toggle()
            self.keep_place()

    def wrap_code(self) -> None:
        """Cut off code lines that are wider than the screen, or wrap them again."""
        self.wraps_code = not self.wraps_code
        self.settle()

    def on_focus(self) -> None:
        """Show the cursor on a visible turn."""
        self.point_at(self._nearest_in_view(-1))
        self.refresh()

    def on_blur(self) -> None:
        self.settle()
        self.refresh()

    async def action_move(self, step: int) -> None:
        """Move to the next or previous turn, starting from a visible one."""
        place = self._place_of_cursor()
        if place is None:
            return
        first, last = self.numbers_in_view
        if not first <= place <= last:
            self.point_at(self._nearest_in_view(step))
        elif 0 <= place + step < len(self._turns):
            position = position_at(self._turns, place + step)
            if self.block_of(position) is None:
                await self.show(self._turns, position)
            self.reveal(place + step - self._start, step)
            self.point_at(position)
        elif step > 0:
            self.scroll_to_end()

    def action_page(self, pages: int) -> None:
        if self.blocks:
            self.scroll_lines(pages * self.container_size.height)

    async def action_first(self) -> None:
        if self._turns:
            first = position_at(self._turns, 0)
            await self.show(self._turns, first)
            self.point_at(first)

    async def action_last(self) -> None:
        await self.show(self._turns)
        self.point_at(None)

    def action_open(self) -> None:
        if (block := self._chosen_block) is not None:
            self.post_message(self.Opened(block.turn, block.detail))

    def point_at(self, position: int | None) -> None:
        """Move the cursor to the turn at a position, or to the last one."""
        self._cursor = position
        self.settle()
        if self.has_focus:
            self.screen.refresh_bindings()

    def _place_of(self, position: int | None, role: Role | None = None) -> int | None:
        """Return the index of the turn at a position with this role; the latest are tried first."""
        turns, size = self._turns, len(self._turns)
        latest = reversed(range(max(0, size - LATEST), size))
        places = (*latest, up_to(turns, position) - 1) if size and position is not None else ()
        at_position = (at for at in places if position_at(turns, at) == position)
        return next((at for at in at_position if role in (None, self._turn_at(at).role)), None)

    def _place_of_cursor(self) -> int | None:
        """Return the index of the turn under the cursor; the last one if it no longer exists."""
        place = self._place_of(self._cursor)
        return len(self._turns) - 1 if place is None and self._turns else place

    @property
    def _position_of_cursor(self) -> int | None:
        is_last = self._cursor is None and self._turns
        return self._turns[-1].position if is_last else self._cursor

    def _nearest_in_view(self, step: int) -> int | None:
        """Return the position of the visible turn that comes first in this direction."""
        number = self.numbers_in_view[0 if step > 0 else -1]
        return position_at(self._turns, number) if self._turns else None

    def _growing_turn(self) -> Turn | None:
        last = self._turns[-1] if self._turns else None
        return last if last is not None and last.status is Status.STREAMING else None

    async def _growing_block(self, position: int) -> TurnBlock:
        """Return the block of the streaming reply, starting one if there is none."""
        if self._growing_turn() is None:
            self._growing = None
            await self.put(Turn(position, Role.ASSISTANT, "", None, None, Status.STREAMING))
        if self._growing is None:
            self._growing = self.block_of(position) or self._block_for(self._turns[-1])
        return self._growing
