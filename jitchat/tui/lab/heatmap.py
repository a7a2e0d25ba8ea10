"""The heatmaps of a run on screen.

All maps are shown side by side if every square has room for its number, otherwise one at a time. A
map that is too large is scrolled to the cursor.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding
from textual.geometry import Region
from textual.reactive import reactive
from textual.strip import Strip
from textual.widget import Widget

from jitchat.lab.colours import ink_on
from jitchat.lab.experiment import Experiment
from jitchat.lab.run_file import short
from jitchat.lab.square import square_of
from jitchat.lab.stats import Place, Tallies, Tally, count_results, percent, share_of
from jitchat.values import Mode

HIGH = 3
"""Rows of a square if there is room: one above and one below the number."""
MARGIN = 6
"""Columns before the squares, for the depth."""
HEAD = 2
"""Rows above the squares: the names of the maps, and the lengths."""
_GAP = 3
"""Columns between maps."""
_LEAST, _MOST = 5, 11
"""Least and most columns of a square: `100` and the cursor's two edges fit; so must the length
above it."""


def moved(asked: Experiment, place: Place, right: int, down: int) -> Place:
    mode, length, depth = place
    columns = len(asked.lengths)
    across = asked.modes.index(mode) * columns + asked.lengths.index(length) + right
    across = max(0, min(len(asked.modes) * columns - 1, across))
    row = max(0, min(len(asked.depths) - 1, asked.depths.index(depth) + down))
    return asked.modes[across // columns], asked.lengths[across % columns], asked.depths[row]


@dataclass(frozen=True, slots=True)
class HeatLayout:
    """One map per mode, side by side, with a column per length and a row per depth."""

    modes: Sequence[Mode]
    lengths: Sequence[int]
    depths: Sequence[float]
    wide: int
    """Columns of a square."""
    high: int
    """Rows of a square."""
    more_above: bool
    """Whether depths are left out above."""
    more_below: bool
    """Whether depths are left out below."""

    @property
    def map_width(self) -> int:
        return self.wide * len(self.lengths)

    def corner(self, place: Place) -> tuple[int, int] | None:
        """Return the upper left corner of a square; None if it is not in this layout."""
        mode, length, depth = place
        if mode not in self.modes or length not in self.lengths or depth not in self.depths:
            return None
        left = MARGIN + self.modes.index(mode) * (self.map_width + _GAP)
        x = left + self.lengths.index(length) * self.wide
        return x, HEAD + self.depths.index(depth) * self.high

    def place_at(self, x: int, y: int) -> Place | None:
        """Return the square at a point; None if there is none."""
        number, across = divmod(x - MARGIN, self.map_width + _GAP)
        row = (y - HEAD) // self.high
        if not (0 <= number < len(self.modes) and 0 <= row < len(self.depths)):
            return None
        if across >= self.map_width:
            return None
        return self.modes[number], self.lengths[across // self.wide], self.depths[row]

    @property
    def places(self) -> Iterator[Place]:
        return product(self.modes, self.lengths, self.depths)


def laid_out(asked: Experiment, cursor: Place, width: int, height: int) -> HeatLayout:
    mode, length, depth = cursor
    least = max(_LEAST, *(len(short(length)) + 1 for length in asked.lengths))
    modes = asked.modes
    room = (width - MARGIN - _GAP * (len(modes) - 1)) // len(modes)
    if room < least * len(asked.lengths):
        modes, room = (mode,), width - MARGIN
    wide = max(least, min(_MOST, room // len(asked.lengths)))
    rows = max(1, height - HEAD)
    high = HIGH if rows >= HIGH * len(asked.depths) else 1
    lengths = _page(asked.lengths, asked.lengths.index(length), max(1, room // wide))
    depths = _page(asked.depths, asked.depths.index(depth), rows // high)
    return HeatLayout(
        modes,
        asked.lengths[lengths],
        asked.depths[depths],
        wide,
        high,
        more_above=depths.start > 0,
        more_below=depths.stop < len(asked.depths),
    )


def _page(values: Collection[object], at: int, room: int) -> slice:
    shown = min(room, len(values))
    start = min(at // shown * shown, len(values) - shown)
    return slice(start, start + shown)


@dataclass(frozen=True, slots=True)
class Run:
    text: str
    name: str = "plain"
    """The kind of text: `mode`, `label`, `plain`, `cursor`, or the kind of a square."""
    colour: str = ""
    """The background, as `#rrggbb`; empty for that of the surface."""


@dataclass(frozen=True, slots=True)
class ScreenText:
    asked: Experiment
    layout: HeatLayout
    tallies: Tallies
    pending: Collection[Place]
    """Squares with a question in progress."""
    cursor: Place

    def row(self, y: int) -> list[Run]:
        """Write one row of the maps; empty below the last depth."""
        layout = self.layout
        number, row = divmod(y - HEAD, layout.high)
        if number >= len(layout.depths):
            return []
        runs = [Run(self._label(y), "label")]
        for mode in layout.modes:
            if mode is not layout.modes[0]:
                runs.append(Run(" " * _GAP))
            if y == 0:
                runs += self._title(mode)
            elif y < HEAD:
                lengths = [f"{short(length):^{layout.wide}}" for length in layout.lengths]
                runs.append(Run("".join(lengths), "label"))
            else:
                for length in layout.lengths:
                    runs += self._square((mode, length, layout.depths[number]), row)
        return runs

    def _label(self, y: int) -> str:
        """Write the label before the squares; an arrow indicates depths that are left out."""
        layout = self.layout
        number, row = divmod(y - HEAD, layout.high)
        if y < HEAD:
            return f"{'depth' if y else '':<{MARGIN}}"
        if row != layout.high // 2:
            return " " * MARGIN
        more = "↓" if layout.more_below and number == len(layout.depths) - 1 else " "
        more = "↑" if layout.more_above and number == 0 else more
        return f"{percent(layout.depths[number]):>{MARGIN - 1}}{more}"

    def _title(self, mode: Mode) -> list[Run]:
        tally, width = self.tallies.by_mode.get(mode, Tally()), self.layout.map_width
        room = width if len(self.layout.modes) > 1 else max(width, 40)
        room -= len(mode.value)
        paging = self._paging(mode)
        texts = (share_of(tally), percent(tally.share)) if tally.answered else ()
        shares = [f"  {text}" for text in texts] or [""]
        forms = (share + paging for share in shares)
        title = next((form for form in forms if len(form) <= room), "")
        return [Run(mode.value, "mode"), Run(title.ljust(room)[: max(room, 0)], "label")]

    def _paging(self, mode: Mode) -> str:
        modes, lengths, parts = self.asked.modes, self.asked.lengths, []
        shown = self.layout.lengths
        if len(self.layout.modes) < len(modes):
            parts.append(f"{modes.index(mode) + 1} of {len(modes)}")
        if len(shown) < len(lengths):
            first = lengths.index(shown[0])
            parts.append(f"lengths {first + 1}–{first + len(shown)} of {len(lengths)}")
        return f"  {' · '.join(parts)}" if parts else ""

    def _square(self, place: Place, row: int) -> list[Run]:
        """Write one row of a square, counted from 0."""
        tally, wide = self.tallies.squares.get(place, Tally()), self.layout.wide
        square, is_middle = square_of(tally), row == self.layout.high // 2
        text, blank = square.text, " "
        if square.kind == "share":  # numbers of two and three digits end in the same cell
            text = f"{text:>3}{'!' if tally.failed else ''}"
        elif square.kind == "unfit":
            blank = "╱"
        elif square.kind == "none" and place in self.pending:
            text = "…"
        run = Run(f"{text if is_middle else '':{blank}^{wide}}", square.kind, square.colour)
        return self._under_cursor(run, row) if place == self.cursor else [run]

    def _under_cursor(self, run: Run, row: int) -> list[Run]:
        high, inside = self.layout.high, Run(run.text[1:-1], run.name, run.colour)
        left, right = "▌▐"
        if row != high // 2:
            left, line, right = "▛▀▜" if row == 0 else "▙▄▟"
            inside = Run(line * len(inside.text), "cursor", run.colour)
        return [Run(left, "cursor", run.colour), inside, Run(right, "cursor", run.colour)]


_NAMES = ("mode", "label", "plain", "none", "unfit", "failed", "share", "cursor")


class HeatMaps(Widget, can_focus=True):
    """Draws the given figures, updating only the squares that changed."""

    COMPONENT_CLASSES = {f"heat--{name}" for name in _NAMES}  # noqa: RUF012  Textual's own shape
    BINDINGS = [  # noqa: RUF012  Textual's own shape
        Binding("left", "move(-1, 0)", show=False),
        Binding("right", "move(1, 0)", show=False),
        Binding("up", "move(0, -1)", show=False),
        Binding("down", "move(0, 1)", show=False),
        Binding("tab", "screen.into_cells", "Cells", id="rot_to_cells"),
        Binding("m", "next_map", "Next map", id="rot_next_map"),
    ]

    cursor: reactive[Place] = reactive((Mode.FULL, 0, 0.0), repaint=False)

    def __init__(self, asked: Experiment) -> None:
        super().__init__()
        self._asked = asked
        self.set_reactive(HeatMaps.cursor, (asked.modes[0], asked.lengths[0], asked.depths[0]))
        self._tallies, self._pending = count_results(()), frozenset[Place]()
        self._styles: dict[tuple[str, str], Style] = {}

    @property
    def layout_shown(self) -> HeatLayout:
        return laid_out(self._asked, self.cursor, self.size.width, self.size.height)

    def show(self, tallies: Tallies, pending: frozenset[Place]) -> None:
        """Update the figures, and redraw the squares that changed.

        `pending` are squares with a question in progress.
        """
        before, self._tallies = self._tallies, tallies
        turned, self._pending = self._pending ^ pending, pending
        layout = self.layout_shown
        regions = [
            self._region(layout, place)
            for place in layout.places
            if place in turned or before.squares.get(place) != tallies.squares.get(place)
        ]
        if before.by_mode != tallies.by_mode:
            regions.append(Region(0, 0, self.size.width, 1))
        if regions:
            self.refresh(*regions)

    def go(self, place: Place) -> None:
        if place == self.cursor:
            return
        before, layout_before = self.cursor, self.layout_shown
        self.cursor = place
        if self.layout_shown == layout_before:
            self.refresh(*(self._region(layout_before, at) for at in (before, place)))
        else:
            self.refresh()

    def action_move(self, right: int, down: int) -> None:
        self.go(moved(self._asked, self.cursor, right, down))

    def action_next_map(self) -> None:
        mode, length, depth = self.cursor
        modes = self._asked.modes
        self.go((modes[(modes.index(mode) + 1) % len(modes)], length, depth))

    def on_click(self, event: events.Click) -> None:
        place = self.layout_shown.place_at(event.x, event.y)
        if place is not None:
            self.go(place)

    def notify_style_update(self) -> None:
        self._styles.clear()
        super().notify_style_update()

    def render_line(self, y: int) -> Strip:
        layout = self.layout_shown
        text = ScreenText(self._asked, layout, self._tallies, self._pending, self.cursor)
        runs = text.row(y)
        strip = Strip(Segment(run.text, self._style_of(run)) for run in runs)
        strip = strip.crop(0, self.size.width)
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
