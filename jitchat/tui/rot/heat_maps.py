"""The heatmaps on screen: depth by length, a map a mode; the cursor goes from one to the next."""

from __future__ import annotations

from dataclasses import dataclass

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding
from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from jitchat.rot.colours import ink_on
from jitchat.rot.tally import Place
from jitchat.tui.rot.heat_drawing import NOTHING, Heat, Run, map_row
from jitchat.tui.rot.heat_layout import HEAD, Grid, HeatLayout, laid_out

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
