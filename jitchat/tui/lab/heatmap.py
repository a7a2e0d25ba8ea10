"""The heatmaps of a run: where the squares stand, how they are drawn, and the widget.

All maps stand side by side where every square has room for its number; else one is shown at a
time. Of a map that is larger than its room, the part that the cursor is in is shown.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding
from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from jitchat.lab.colours import colour_of, ink_on
from jitchat.lab.experiment import Experiment
from jitchat.lab.run_file import short
from jitchat.lab.stats import Place, Tally, percent, points, total
from jitchat.values import Mode

HEAD = 2
"""Rows above the squares of a map: its name, and the lengths."""
MARGIN = 6
"""Cells ahead of the squares: the depth."""
_GAP = 3
"""Cells from one map to the next."""
_LEAST, _MOST = 5, 11
"""Cells of a square: `100` and the two edges of the cursor; more than enough."""
HIGH = 3
"""Rows of a square where there is room: with one above and one below the number."""


@dataclass(frozen=True, slots=True)
class Grid:
    """What is asked: a map a mode, a column a length, a row a depth."""

    modes: tuple[Mode, ...]
    lengths: tuple[int, ...]
    depths: tuple[float, ...]

    @classmethod
    def of(cls, experiment: Experiment) -> Grid:
        """Take it of an experiment."""
        return cls(experiment.modes, experiment.lengths, experiment.depths)

    @property
    def first(self) -> Place:
        """The square at the top left."""
        return self.modes[0], self.lengths[0], self.depths[0]

    def place_of(self, place: Place) -> tuple[int, int, int]:
        """Tell the numbers of map, column and row, from 0."""
        mode, length, depth = place
        return self.modes.index(mode), self.lengths.index(length), self.depths.index(depth)

    def moved(self, place: Place, right: int, down: int) -> Place:
        """Go some squares on; beyond the side of a map is the one beside it."""
        across, row = self._across(place)
        across = max(0, min(len(self.modes) * len(self.lengths) - 1, across + right))
        row = max(0, min(len(self.depths) - 1, row + down))
        number, column = divmod(across, len(self.lengths))
        return self.modes[number], self.lengths[column], self.depths[row]

    def next_map(self, place: Place) -> Place:
        """Go to the same square of the next map; behind the last comes the first."""
        mode, length, depth = place
        number = (self.modes.index(mode) + 1) % len(self.modes)
        return self.modes[number], length, depth

    def _across(self, place: Place) -> tuple[int, int]:
        number, column, row = self.place_of(place)
        return number * len(self.lengths) + column, row


@dataclass(frozen=True, slots=True)
class HeatLayout:
    """How much of the maps is shown, and how large."""

    grid: Grid
    maps: int
    """Side by side."""
    wide: int
    """Cells of a square."""
    high: int
    """Rows of a square."""
    columns: int
    """Squares of a row of a map that are shown at once."""
    rows: int
    """Squares of a column that are shown at once."""
    first_map: int
    first_column: int
    first_row: int
    """Of what is shown, from 0."""

    @property
    def modes(self) -> tuple[Mode, ...]:
        """The maps that are shown, from the left."""
        return self.grid.modes[self.first_map : self.first_map + self.maps]

    @property
    def lengths(self) -> tuple[int, ...]:
        """The columns of each."""
        return self.grid.lengths[self.first_column : self.first_column + self.columns]

    @property
    def depths(self) -> tuple[float, ...]:
        """The rows of each."""
        return self.grid.depths[self.first_row : self.first_row + self.rows]

    @property
    def map_wide(self) -> int:
        """Cells of the squares of one map."""
        return self.wide * len(self.lengths)

    def left_of(self, number: int) -> int:
        """Tell the first cell of the squares of a map; `number` is of those shown, from 0."""
        return MARGIN + number * (self.map_wide + _GAP)

    def corner(self, place: Place) -> tuple[int, int] | None:
        """Tell the cell at the top left of a square; None where it is not shown."""
        mode, length, depth = place
        if mode not in self.modes or length not in self.lengths or depth not in self.depths:
            return None
        across = self.left_of(self.modes.index(mode)) + self.lengths.index(length) * self.wide
        return across, HEAD + self.depths.index(depth) * self.high

    def place_at(self, x: int, y: int) -> Place | None:
        """Find the square that a cell is in; None beside all of them."""
        row = (y - HEAD) // self.high
        if not 0 <= row < len(self.depths):
            return None
        for number, mode in enumerate(self.modes):
            column = (x - self.left_of(number)) // self.wide
            if 0 <= column < len(self.lengths):
                return mode, self.lengths[column], self.depths[row]
        return None


def least_wide(grid: Grid) -> int:
    """Tell how many cells a square needs at least: its number, and the length above it."""
    return max(_LEAST, *(len(short(length)) + 1 for length in grid.lengths))


def all_wide(grid: Grid) -> int:
    """Tell how many cells all maps need side by side."""
    number = len(grid.modes)
    return MARGIN + number * least_wide(grid) * len(grid.lengths) + _GAP * (number - 1)


def laid_out(grid: Grid, cursor: Place, width: int, height: int) -> HeatLayout:
    """Fit the maps into so many cells and rows, with the cursor in view."""
    maps = len(grid.modes) if all_wide(grid) <= width else 1
    room = (width - MARGIN - _GAP * (maps - 1)) // maps
    wide = max(least_wide(grid), min(_MOST, room // len(grid.lengths)))
    columns = max(1, min(len(grid.lengths), room // wide))
    room = max(1, height - HEAD)
    high = HIGH if room >= HIGH * len(grid.depths) else 1
    rows = min(len(grid.depths), room // high)
    number, column, row = grid.place_of(cursor)
    return HeatLayout(
        grid,
        maps,
        wide,
        high,
        columns,
        rows,
        number if maps == 1 else 0,
        _page(column, columns, len(grid.lengths)),
        _page(row, rows, len(grid.depths)),
    )


def _page(at: int, shown: int, of: int) -> int:
    """Tell where the page begins that something is on; the last one is as full as the others."""
    return min(at // shown * shown, of - shown)


NOTHING = Tally()
_HATCH = "╱"
_EDGES = ("▌", "▐")
_TOP, _BOTTOM = ("▛", "▀", "▜"), ("▙", "▄", "▟")
"""The cursor's: its corners, and what is between them."""


@dataclass(frozen=True, slots=True)
class Run:
    """Characters of one look."""

    text: str
    name: str
    """`mode`, `label`, `plain`, `none`, `unfit`, `failed`, `share`, or `cursor` for its edges."""
    colour: str = ""
    """Of the background, as `#rrggbb`; empty for that of the map."""


@dataclass(frozen=True, slots=True)
class Heat:
    """All that the maps show."""

    squares: Mapping[Place, Tally]
    modes: Mapping[Mode, Tally]
    """All squares of a map together."""
    asked: Collection[Place] = frozenset()
    """Squares of which a question is on its way."""


def square_text(tally: Tally, *, is_asked: bool = False) -> tuple[str, str]:
    """Write what stands in a square, and tell what it is; the share is of the answers."""
    if tally.share is not None:
        return f"{points(tally.share)}{'!' if tally.failed else ''}", "share"
    if tally.unfit:
        return "n/f", "unfit"
    if tally.failed:
        return "!", "failed"
    return "…" if is_asked else "·", "none"


def map_row(layout: HeatLayout, heat: Heat, cursor: Place, y: int) -> list[Run]:
    """Draw one row of all that is shown."""
    if y < HEAD:
        return list(_head(layout, heat, y))
    row, within = divmod(y - HEAD, layout.high)
    if row >= len(layout.depths):
        return []
    depth, is_middle = layout.depths[row], within == layout.high // 2
    label = f"{percent(depth):>{MARGIN - 1}}{_more(layout, row)}" if is_middle else " " * MARGIN
    runs = [Run(label, "label")]
    for number, mode in enumerate(layout.modes):
        runs += _gap(layout, number)
        for length in layout.lengths:
            place = mode, length, depth
            square = _square(layout, heat, place, within)
            runs += _under_cursor(square, within, layout.high) if place == cursor else [square]
    return runs


def _square(layout: HeatLayout, heat: Heat, place: Place, within: int) -> Run:
    """Draw one row of a square."""
    tally = heat.squares.get(place, NOTHING)
    text, name = square_text(tally, is_asked=place in heat.asked)
    wide, is_middle = layout.wide, within == layout.high // 2
    if name == "unfit":
        told = f"{text:{_HATCH}^{wide}}" if is_middle else _HATCH * wide
        return Run(told, name)
    # Numbers of two and three digits end in the same cell.
    told = f"{text.rjust(3 + text.endswith('!')):^{wide}}" if name == "share" else f"{text:^{wide}}"
    background = colour_of(tally.share) if tally.share is not None else ""
    return Run(told if is_middle else " " * wide, name, background)


def _under_cursor(square: Run, within: int, high: int) -> Iterator[Run]:
    """Draw the cursor around a row of its square."""
    inside = square.text[1:-1]
    left, right = _EDGES
    if high > 1 and within in (0, high - 1):
        left, line, right = _TOP if within == 0 else _BOTTOM
        inside = line * len(inside)
    name = square.name if inside == square.text[1:-1] and within == high // 2 else "cursor"
    yield Run(left, "cursor", square.colour)
    yield Run(inside, name, square.colour)
    yield Run(right, "cursor", square.colour)


def _head(layout: HeatLayout, heat: Heat, y: int) -> Iterator[Run]:
    yield Run(f"{'depth':>{MARGIN - 1}} " if y else " " * MARGIN, "label")
    for number, mode in enumerate(layout.modes):
        yield from _gap(layout, number)
        if y:
            lengths = (f"{short(length):^{layout.wide}}" for length in layout.lengths)
            yield Run("".join(lengths), "label")
        else:
            yield from _title(layout, heat.modes.get(mode, NOTHING), mode)


def _title(layout: HeatLayout, tally: Tally, mode: Mode) -> Iterator[Run]:
    """Name a map, and give its share and of how many that is, as far as there is room."""
    room = layout.map_wide if layout.maps > 1 else max(layout.map_wide, 40)
    more = _paging(layout)
    shares = (f"  {total(tally)}", f"  {percent(tally.share)}") if tally.answered else ("",)
    fits = room - len(mode.value)
    told = next((share + more for share in shares if len(share + more) <= fits), "")
    yield Run(mode.value, "mode")
    yield Run(told.ljust(fits)[: max(fits, 0)], "label")


def _paging(layout: HeatLayout) -> str:
    """Say which of the maps and of their lengths are shown, where that is not all."""
    maps, lengths = len(layout.grid.modes), len(layout.grid.lengths)
    told = [f"{layout.first_map + 1} of {maps}"] if layout.maps < maps else []
    if layout.columns < lengths:
        last = layout.first_column + layout.columns
        told.append(f"lengths {layout.first_column + 1}–{last} of {lengths}")
    return f"  {' · '.join(told)}" if told else ""


def _more(layout: HeatLayout, row: int) -> str:
    """Point to depths that are not shown, above or below."""
    if row == 0 and layout.first_row:
        return "↑"
    last = layout.first_row + layout.rows
    return "↓" if row == layout.rows - 1 and last < len(layout.grid.depths) else " "


def _gap(layout: HeatLayout, number: int) -> list[Run]:
    """Draw what is ahead of a map, behind the one before it."""
    if not number:
        return []
    return [Run(" " * (layout.left_of(1) - layout.left_of(0) - layout.map_wide), "plain")]


_NAMES = ("mode", "label", "plain", "none", "unfit", "failed", "share", "cursor")


class HeatMaps(Widget, can_focus=True):
    """Draws what it is given; only squares that changed are drawn again."""

    COMPONENT_CLASSES = {f"heat--{name}" for name in _NAMES}  # noqa: RUF012  Textual's own shape
    BINDINGS = [  # noqa: RUF012  Textual's own shape
        Binding("left", "move(-1, 0)", show=False),
        Binding("right", "move(1, 0)", show=False),
        Binding("up", "move(0, -1)", show=False),
        Binding("down", "move(0, 1)", show=False),
        Binding("tab", "screen.into_cells", "Cells", id="rot_to_cells"),
        Binding("m", "next_map", "Next map", id="rot_next_map"),
    ]

    @dataclass
    class Moved(Message):
        """The cursor is on another square."""

        place: Place

    def __init__(self, grid: Grid) -> None:
        super().__init__()
        self.grid = grid
        self.cursor = grid.first
        """The square that is looked at."""
        self._heat = Heat({}, {})
        self._styles: dict[tuple[str, str], Style] = {}

    @property
    def shown(self) -> HeatLayout:
        """What is shown at this size, with the cursor where it is."""
        return laid_out(self.grid, self.cursor, self.size.width, self.size.height)

    def show(self, heat: Heat) -> None:
        """Take other figures, and draw the squares that they change."""
        before, self._heat = self._heat, heat
        layout = self.shown
        changed = [place for place in layout_places(layout) if _differs(before, heat, place)]
        regions = [self._region(layout, place) for place in changed]
        if before.modes != heat.modes:
            regions.append(Region(0, 0, self.size.width, 1))
        if regions:
            self.refresh(*regions)

    def go(self, place: Place) -> None:
        """Put the cursor on a square."""
        if place == self.cursor:
            return
        before, self.cursor = (self.shown, self.cursor), place
        layout = self.shown
        if layout == before[0]:
            self.refresh(*(self._region(layout, each) for each in (before[1], place)))
        else:
            self.refresh()
        self.post_message(self.Moved(place))

    def action_move(self, right: int, down: int) -> None:
        """Go to the square beside it."""
        self.go(self.grid.moved(self.cursor, right, down))

    def action_next_map(self) -> None:
        """Go to the same square of the next map."""
        self.go(self.grid.next_map(self.cursor))

    def on_click(self, event: events.Click) -> None:
        """Go to the square under the mouse."""
        place = self.shown.place_at(event.x, event.y)
        if place is not None:
            self.go(place)

    def notify_style_update(self) -> None:
        """Another theme has other colours."""
        self._styles.clear()
        super().notify_style_update()

    def render_line(self, y: int) -> Strip:
        """Draw a row."""
        runs = map_row(self.shown, self._heat, self.cursor, y)
        segments = [Segment(run.text, self._style_of(run)) for run in runs]
        strip = Strip(segments).crop(0, self.size.width)
        return strip.extend_cell_length(self.size.width, self.rich_style)

    def _style_of(self, run: Run) -> Style:
        key = run.name, run.colour
        if key not in self._styles:
            style = self.get_component_rich_style(f"heat--{run.name}")
            if run.colour:
                style += Style(color=ink_on(run.colour), bgcolor=run.colour)
            self._styles[key] = style
        return self._styles[key]

    def _region(self, layout: HeatLayout, place: Place) -> Region:
        x, y = layout.corner(place) or (0, HEAD)
        return Region(x, y, layout.wide, layout.high)


def layout_places(layout: HeatLayout) -> list[Place]:
    """List the squares that are shown."""
    return [
        (mode, length, depth)
        for mode in layout.modes
        for length in layout.lengths
        for depth in layout.depths
    ]


def _differs(before: Heat, after: Heat, place: Place) -> bool:
    tallies = [heat.squares.get(place, NOTHING) for heat in (before, after)]
    return tallies[0] != tallies[1] or (place in before.asked) != (place in after.asked)
