"""Blocks of lines that scroll. Only blocks in view are drawn, and no widget stands for them.

The heights of other blocks are estimated. The first line in view is the fixed point: the others
follow when heights are corrected, when blocks change, and when some are added above it.
"""

import sys
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from math import ceil
from typing import Any, NamedTuple

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style as RichStyle
from textual import events
from textual.geometry import Offset, Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.scrollbar import ScrollBar
from textual.selection import Selection
from textual.strip import Strip
from textual.style import Style
from textual.widget import Widget

from jitchat.text.sanitize import TerminalText
from jitchat.tui.render.reading import between, copied, overlaid
from jitchat.tui.render.wrap import Line, Look, Piece, Theme

ROW, LAST = 1 << 14, (1 << 31) - 1
"""Added to the vertical offset of a selection by each block, so that it stays valid when blocks
above change their heights; and the largest offset, as compiled geometry has 32 bits."""
_DRAWN = 16
"""Blocks on either side of the view whose lines are kept; those of a reply of 5,000 characters take
about 170 kB."""
_STRIPS = 400
"""Strips that are kept: a few pages."""
_PASSES = 4
"""Maximum number of times that lines are drawn until the width is certain."""


class Part(NamedTuple):
    """Lines of a block that say one text."""

    name: str
    text: str | TerminalText
    """The source of the lines, or a text that is drawn as it is."""
    lines: Sequence[Line]
    folds: bool = False
    """Whether a click folds or unfolds it."""

    def copied(self, first: tuple[int, int], last: tuple[int, int]) -> str:
        """Return what is copied between two places, each a line and a character in it."""
        lines = between(self.lines, max(first, (0, 0)), last)
        if isinstance(self.text, str):
            return copied(self.text, lines)
        spans = [piece.span for line in lines for piece in line if piece.span[0] < piece.span[1]]
        start, end = 0, sys.maxsize
        if first > (0, 0):
            start = min((start for start, _ in spans), default=end)
        if last[0] < len(self.lines):
            end = max((end for _, end in spans), default=0)
        return self.text.source_between(start, end)


@dataclass(eq=False)
class Block:
    """Lines that belong together. A subclass says in `drawn` what they are."""

    number: int = 0
    """Its place in the order of blocks, which selections go by."""
    parts: Sequence[Part] = field(default=(), init=False)
    lines: Sequence[Line] = field(default=(), init=False)
    height: int = field(default=0, init=False)
    """Estimated until it is drawn."""
    look: Look | None = field(default=None, init=False)
    """In which it is drawn; None if it has to be drawn anew."""

    def drawn(self, look: Look) -> Iterable[Part]:
        raise NotImplementedError

    def forget(self) -> None:
        """Drop the lines; the height stays."""
        self.parts = self.lines = ()
        self.look = None

    def change(self) -> None:
        """Have it drawn anew."""
        self.look = None

    def draw(self, look: Look) -> None:
        if self.look is not look:
            self.parts = list(self.drawn(look))
            self.lines = [line for part in self.parts for line in part.lines]
            self.height = len(self.lines)
            self.look = look

    def place(self, line: int) -> tuple[Part | None, int]:
        """Return the part that a line belongs to, and its number in that part."""
        for part in self.parts:
            if line < len(part.lines):
                return part, line
            line -= len(part.lines)
        return None, line

    def line_of(self, name: str) -> int:
        """Return the number of a part's first line."""
        line = 0
        for part in self.parts:
            if part.name == name:
                break
            line += len(part.lines)
        return line


Sign = tuple[str, Style]


class Row(NamedTuple):
    """A line of the screen."""

    line: Line = ()
    number: int = 0
    """Of its block."""
    at: int = 0
    """Its place in the block."""
    bar: Sign | None = None
    """In the margin."""
    ground: Style = Style()

    @property
    def offset(self) -> int:
        """What a selection takes for its vertical place."""
        return min(self.number * ROW + self.at, LAST)


class LineView(ScrollView):
    """Draws the lines in view, with what is selected in them."""

    DEFAULT_CSS = "LineView { width: 1fr; height: 1fr; overflow: hidden auto; }"
    LEFT, RIGHT = 0, 0
    """Cells beside the text."""
    IS_AT_BOTTOM = False
    """Whether lines that do not fill the view stand at its bottom."""

    @dataclass
    class Pointed(Message):
        """The mouse is over a link, or no longer over one."""

        leads_to: str
        """Address and title; empty for no link."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002  as Textual has it
        super().__init__(id=id, classes=classes)
        self.blocks: list[Block] = []
        self.follows = True
        """Whether the end stays in view."""
        self.wraps_code = True
        self._look = Look(1, Theme("", is_dark=True, is_ansi=False, variables={}))
        self._place = Block(), 0
        """The block at the top of the view, and its first line there."""
        self._tops: list[int] = []
        """The first line of each block, and the one after the last."""
        self._rows: list[Row] = []
        self._strips: dict[tuple[int, int], tuple[object, Strip]] = {}
        """By the number of a block and the line in it: what was drawn, and the state it shows."""
        self._hovered: tuple[Block, str] | None = None
        """A block and the name of its part under the mouse."""
        self._pointed = ""
        self._pressed = Offset()
        self._drawn_thumb: tuple[Size, int, int] = Size(), 0, 0
        """The size and the thumb that the scrollbar shows."""
        self._is_settling = False
        """Whether Textual limits the place to a size that is not certain yet."""

    @property
    def look(self) -> Look:
        """The current look; the same object as long as nothing in it changes."""
        theme = self.app.current_theme
        is_ansi = self.app.native_ansi_color
        looks = Theme(theme.name, theme.dark, is_ansi, self.app.theme_variables)
        width = self._room.width - self.scrollbar_size_vertical - self.LEFT - self.RIGHT
        look = Look(max(1, width), looks, self.wraps_code)
        if look != self._look:
            self._look = look
        return self._look

    @property
    def _room(self) -> Size:
        """The size of the view; unlike `size`, it does not ask for the layout of the screen."""
        return self.container_size

    @property
    def has_end(self) -> bool:
        """Whether nothing comes after the last block."""
        return True

    @property
    def unloaded(self) -> tuple[int, int]:
        """The lines of what comes before the first block and after the last, as estimated."""
        return 0, 0

    # Where the lines are

    def settle(self) -> None:
        """Draw what is in view, and scroll so that its first line, or the end, stays in place."""
        if not self.is_attached or not self._room.height or not self.blocks:
            return
        for _ in range(_PASSES):
            look = self.look
            index, line = self._fixed(look)
            if self.follows:
                index, line = self._place_of_end()
            index, line = min((index, line), self._end_below(index, line))
            self._place = self.blocks[index], line
            self._keep_drawn(index)
            self._set_scroll(index, line)
            if look is self.look:
                break
        self._show_rows()

    def _fixed(self, look: Look) -> tuple[int, int]:
        """Return the first line in view as the index of its block and its number there."""
        block, line = self._place
        if block not in self.blocks:
            return 0, 0
        part, inside = block.place(line)
        before = len(part.lines) if part is not None else 1
        block.draw(look)
        if part is not None:
            after = next((len(each.lines) for each in block.parts if each.name == part.name), 0)
            line = block.line_of(part.name) + inside * max(1, after) // max(1, before)
        return self.blocks.index(block), min(line, max(0, block.height - 1))

    def height_of(self, index: int) -> int:
        """Draw a block, and return its height."""
        block = self.blocks[index]
        block.draw(self._look)
        return block.height

    def walk(self, index: int, line: int, lines: int) -> tuple[int, int]:
        """Return the place so many lines further down or up, drawing all in between."""
        line += lines
        while line < 0 and index > 0:
            index -= 1
            line += self.height_of(index)
        while line >= self.height_of(index):
            if index == len(self.blocks) - 1:
                return index, self.height_of(index) - 1
            line -= self.height_of(index)
            index += 1
        return index, max(0, line)

    def _place_of_end(self) -> tuple[int, int]:
        """Return the place of the first line in view when the last line is."""
        last = len(self.blocks) - 1
        return self.walk(last, self.height_of(last), -self._room.height)

    def _end_below(self, index: int, line: int) -> tuple[int, int]:
        """Draw what is in view from a place on; return the end if it is in view, or the place."""
        room = self._room.height + line
        for each in range(index, len(self.blocks)):
            room -= self.height_of(each)
            if room <= 0:
                return index, line
        return self._place_of_end()

    def _keep_drawn(self, index: int) -> None:
        """Drop the lines of blocks that are far from the view."""
        for each, block in enumerate(self.blocks):
            if block.lines and not index - _DRAWN <= each <= index + _DRAWN + self._room.height:
                block.forget()

    def _set_scroll(self, index: int, line: int) -> None:
        above, below = self.unloaded
        self._tops = list(accumulate((block.height for block in self.blocks), initial=above))
        total = self._tops[-1] + below
        y = self._tops[index] + line
        size = Size(self._room.width, total)
        self.set_reactive(Widget.virtual_size, size)
        self.set_reactive(Widget.scroll_y, float(y))
        self.set_reactive(Widget.scroll_target_y, float(y))
        thumb = self._room, *self._thumb(y, total)
        if thumb != self._drawn_thumb:
            self._drawn_thumb = thumb
            self._scroll_update(size)
            if self.show_vertical_scrollbar:
                self.vertical_scrollbar.position = y
        elif self.show_vertical_scrollbar:
            self.vertical_scrollbar.set_reactive(ScrollBar.position, float(y))

    def _thumb(self, y: int, total: int) -> tuple[int, int]:
        """Return where the scrollbar's thumb begins and its length, in eighths of cells.

        As Textual draws it, so that what is skipped would look the same.
        """
        height = self._room.height
        if total <= height:
            return 0, 0
        length = max(1.0, height * height / total)
        start = (height - length) * y / (total - height)
        return int(8 * start), ceil(8 * length)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Move the first line in view by as many lines, or to a place further away."""
        lines = round(new_value) - round(old_value)
        if self._is_settling or not lines or not self.blocks:
            return
        if abs(lines) <= self._room.height:
            self.scroll_lines(lines)
            return
        index = bisect_right(self._tops, round(new_value)) - 1
        if 0 <= index < len(self.blocks):
            self.scroll_to_line(index, round(new_value) - self._tops[index])
        else:
            self.seek(round(new_value))

    def seek(self, y: int) -> None:
        """Load and show what is at a place outside of the blocks."""

    def scroll_lines(self, lines: int) -> None:
        self.scroll_to_line(*self.walk(*self._fixed(self.look), lines))

    def scroll_to_line(self, index: int, line: int) -> None:
        """Put a line at the top of the view, as far as there is enough below it."""
        self._place = self.blocks[index], line
        self.keep_place()

    def keep_place(self) -> None:
        """Draw what has changed, and follow the end only if it is in view."""
        self.follows = False
        self.settle()
        self.follows = self.scroll_y >= self.max_scroll_y and self.has_end

    def reveal(self, index: int, step: int) -> None:
        """Bring a block into view; of one that is larger than the view, the end that comes first.

        `step` is the direction in which it is reached.
        """
        first, line = self._fixed(self.look)
        page, height = self._room.height, self.height_of(index) - 1
        bottom = sum(map(self.height_of, range(first, index))) - line + height
        is_above = (index, 0) < (first, line)
        if (height > page and step > 0) or (height <= page and is_above):
            self.scroll_to_line(index, 0)
        elif height > page or bottom > page:
            self.scroll_to_line(*self.walk(index, height, -page))

    @property
    def numbers_in_view(self) -> tuple[int, int]:
        """The numbers of the first and the last block in view."""
        numbers = [row.number for row in self._rows if row.line] or [0]
        return numbers[0], numbers[-1]

    def scroll_to(self, *place: Any, **options: Any) -> None:  # noqa: ANN401  Textual's own
        """Scroll at once: each step of an animation would be written to the terminal."""
        super().scroll_to(*place, **(options | {"animate": False}))

    def scroll_to_end(self) -> None:
        self.follows = True
        self.settle()

    def _size_updated(self, *sizes: Any, **options: Any) -> bool:  # noqa: ANN401  Textual's own
        self._is_settling = True
        is_changed = super()._size_updated(*sizes, **options)
        self._is_settling = False
        if is_changed:
            self.settle()
        return is_changed

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self.settle()

    # What is drawn

    def _show_rows(self) -> None:
        """Draw the lines of the screen that have changed."""
        before = self._rows
        self._rows = list(self._rows_in_view())
        changed = [y for y, row in enumerate(self._rows) if before[y : y + 1] != [row]]
        width = self._room.width
        if len(changed) == len(self._rows):
            self.refresh()
        elif changed:
            self.refresh(*(Region(0, y, width, 1) for y in changed))

    def _rows_in_view(self) -> Iterable[Row]:
        left = min(self._room.height, self.virtual_size.height)
        first, line = self._place
        index = self.blocks.index(first)
        blank = [Row(number=self.blocks[0].number)] * (self._room.height - left)
        row = Row()
        if self.IS_AT_BOTTOM:
            yield from blank
        for block in self.blocks[index:]:
            while line < block.height and left:
                row = self._row(block, line)
                yield row
                line += 1
                left -= 1
            line = 0
        if not self.IS_AT_BOTTOM:
            yield from [Row((), row.number, row.at)] * len(blank)

    def _row(self, block: Block, line: int) -> Row:
        row = Row(block.lines[line], block.number, line)
        part, inside = block.place(line)
        if part is not None:
            row = self.dressed(row, block, part, inside)
            if (block, part.name) == self._hovered:
                row = row._replace(ground=row.ground + self._look.style("on $boost"))
        selection = self.text_selection
        span = selection.get_span(row.offset) if selection is not None else None
        if span is not None:
            end = span[1] if span[1] >= 0 else sys.maxsize
            style = self.screen.get_visual_style("screen--selection")
            row = row._replace(line=overlaid(row.line, span[0], end, style))
        return row

    def dressed(self, row: Row, block: Block, part: Part, line: int) -> Row:
        """Add what shows a block's state; `line` is the number of the line in its part."""
        del block, part, line
        return row

    def render_lines(self, crop: Region) -> list[Strip]:
        """Return strips that Textual knows from earlier frames, with what it has made of them."""
        if "@click" in self.hover_style.meta:
            return super().render_lines(crop)  # highlights what is clicked on
        strips = [self.render_line(y) for y in crop.line_range]
        _, background = self.background_colors
        for each in self.get_line_filters():
            strips = [strip.apply_filter(each, background) for strip in strips]
        return [strip.crop(*crop.column_span) for strip in strips]

    def render_line(self, y: int) -> Strip:
        row = self._rows[y] if y < len(self._rows) else Row()
        state = row, self.visual_style, self._room.width, self._look.width, self.has_focus
        known = self._strips.get((row.number, row.at))
        if known is not None and known[0] == state:
            return known[1]
        strip = self._strip(row)
        if len(self._strips) >= _STRIPS:
            self._strips.clear()
        self._strips[row.number, row.at] = state, strip
        return strip

    def _strip(self, row: Row) -> Strip:
        ground = self.visual_style + row.ground
        shown = (piece for piece in row.line if piece.text)
        texts = [Segment(piece.text, (ground + piece.style).rich_style) for piece in shown]
        strip = Strip(texts).adjust_cell_length(self._look.width, ground.rich_style)
        strip = strip.apply_offsets(0, row.offset)
        row_start = RichStyle.from_meta({"offset": (0, row.offset)})
        margin = self.margin(row, ground)
        signs = [Segment(sign, style.rich_style + row_start) for sign, style in margin]
        blank = Style(ground.background).rich_style
        return Strip([*signs, *strip]).adjust_cell_length(self._room.width, blank)

    def margin(self, row: Row, ground: Style) -> Iterable[Sign]:
        """Return what is to the left of a line, cell by cell."""
        del row, ground
        return ()

    # Selecting and the mouse

    def selection_updated(self, selection: Selection | None) -> None:
        del selection
        self.settle()

    def get_selection(self, selection: Selection) -> tuple[str, str]:
        start, end = selection
        numbers = [block.number for block in self.blocks] or [0]
        first = (start.y, start.x) if start is not None else (numbers[0] * ROW, 0)
        last = (end.y, end.x) if end is not None else ((numbers[-1] + 1) * ROW - 1, 0)
        texts = []
        for block in self.blocks_between(first[0] // ROW, last[0] // ROW):
            block.draw(self._look)
            above = block.number * ROW
            for part in block.parts:
                begin, stop = (first[0] - above, first[1]), (last[0] - above, last[1])
                if begin[0] < len(part.lines) and stop[0] >= 0 and part.text:
                    texts.append(part.copied(begin, stop))
                above += len(part.lines)
        return "\n".join(texts), "\n"

    def blocks_between(self, first: int, last: int) -> Iterable[Block]:
        """Return blocks by their numbers."""
        return [block for block in self.blocks if first <= block.number <= last]

    def _under(self, at: Offset) -> tuple[Block | None, Part | None, Piece | None]:
        """Return what is under the mouse."""
        row = self._rows[at.y] if 0 <= at.y < len(self._rows) else Row()
        numbered = (each for each in self.blocks if each.number == row.number)
        block = next(numbered, None)
        part = block.place(row.at)[0] if block is not None and row.line else None
        end = self.LEFT
        for piece in row.line:
            start, end = end, end + cell_len(piece.text)
            if start <= at.x < end:
                return block, part, piece
        return block, part, None

    def on_mouse_move(self, event: events.MouseMove) -> None:
        block, part, piece = self._under(event.offset)
        self._point(piece.link if piece is not None else "")
        if block is not None and part is not None and part.folds:
            self._hover((block, part.name))
        else:
            self._hover(None)

    def on_leave(self) -> None:
        self._point("")
        self._hover(None)

    def _point(self, pointed: str) -> None:
        if pointed != self._pointed:
            self._pointed = pointed
            self.post_message(self.Pointed(pointed))

    def _hover(self, hovered: tuple[Block, str] | None) -> None:
        if hovered != self._hovered:
            self._hovered = hovered
            self.settle()

    def on_mouse_down(self, event: events.MouseDown) -> None:
        self._pressed = event.offset

    async def on_click(self, event: events.Click) -> None:
        """Fold or unfold what is clicked on; two clicks select a part, and three everything."""
        block, part, _ = self._under(event.offset)
        if block is not None and part is not None and part.folds and event.offset == self._pressed:
            self.fold(block)
        if event.chain > 1:
            event.prevent_default()
            await self.broker_event("click", event)
            self._select(block if event.chain == 2 else None, part)

    def _select(self, block: Block | None, part: Part | None) -> None:
        if block is None or part is None:
            self.text_select_all()
            return
        first = block.number * ROW + block.line_of(part.name)
        end = Offset(ROW, first + len(part.lines) - 1)
        self.screen.selections = {self: Selection(Offset(0, first), end)}

    def fold(self, block: Block) -> None:
        """Fold or unfold a block."""
