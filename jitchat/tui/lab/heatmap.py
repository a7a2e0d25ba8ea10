"""The heatmaps of a run on screen.

All maps are shown side by side if every square has room for its number, otherwise one at a time. A
map that is too large is scrolled to the cursor.
"""

from collections.abc import Collection
from dataclasses import dataclass

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
from jitchat.lab.export import heatmap
from jitchat.lab.run_file import short
from jitchat.lab.stats import Place, Tallies, Tally, count_results, percent, share_of
from jitchat.values import Mode

HIGH = 3
"""Rows of a square if there is room: one above and one below the number."""
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


def laid_out(asked: Experiment, cursor: Place, width: int, height: int) -> heatmap.HeatLayout[int]:
    mode, length, depth = cursor
    least = max(_LEAST, *(len(short(length)) + 1 for length in asked.lengths))
    modes = asked.modes
    room = (width - heatmap.MARGIN - _GAP * (len(modes) - 1)) // len(modes)
    if room < least * len(asked.lengths):
        modes, room = (mode,), width - heatmap.MARGIN
    wide = max(least, min(_MOST, room // len(asked.lengths)))
    rows = max(1, height - heatmap.HEAD)
    high = HIGH if rows >= HIGH * len(asked.depths) else 1
    lengths = _page(asked.lengths, asked.lengths.index(length), max(1, room // wide))
    depths = _page(asked.depths, asked.depths.index(depth), rows // high)
    shown = [(mode, asked.lengths[lengths]) for mode in modes]
    return heatmap.HeatLayout(
        heatmap.side_by_side(shown, heatmap.MARGIN, wide, _GAP),
        asked.depths[depths],
        wide,
        high,
        heatmap.HEAD,
        _GAP,
        more_above=depths.start > 0,
        more_below=depths.stop < len(asked.depths),
    )


def _page(values: Collection[object], at: int, room: int) -> slice:
    shown = min(room, len(values))
    start = min(at // shown * shown, len(values) - shown)
    return slice(start, start + shown)


@dataclass(frozen=True, slots=True)
class ScreenText:
    asked: Experiment
    layout: heatmap.HeatLayout[int]
    tallies: Tallies
    pending: Collection[Place]
    """Squares with a question in progress."""
    cursor: Place
    axis: str = "depth"

    def title(self, shown: heatmap.Map[int]) -> list[heatmap.Run]:
        tally = self.tallies.by_mode.get(shown.mode, Tally())
        room = shown.width if len(self.layout.maps) > 1 else max(shown.width, 40)
        room -= len(shown.mode.value)
        paging = self._paging(shown)
        texts = (share_of(tally), percent(tally.share)) if tally.answered else ()
        shares = [f"  {text}" for text in texts] or [""]
        forms = (share + paging for share in shares)
        title = next((form for form in forms if len(form) <= room), "")
        label = title.ljust(room)[: max(room, 0)]
        return [heatmap.Run(shown.mode.value, "mode"), heatmap.Run(label, "label")]

    def _paging(self, shown: heatmap.Map[int]) -> str:
        modes, lengths, parts = self.asked.modes, self.asked.lengths, []
        if len(self.layout.maps) < len(modes):
            parts.append(f"{modes.index(shown.mode) + 1} of {len(modes)}")
        if len(shown.lengths) < len(lengths):
            first = lengths.index(shown.lengths[0])
            parts.append(f"lengths {first + 1}–{first + len(shown.lengths)} of {len(lengths)}")
        return f"  {' · '.join(parts)}" if parts else ""

    def length(self, length: int) -> str:
        return f"{short(length):^{self.layout.wide}}"

    def square(self, place: Place, row: int) -> list[heatmap.Run]:
        tally, wide = self.tallies.squares.get(place, Tally()), self.layout.wide
        square, is_middle = heatmap.square_of(tally), row == self.layout.high // 2
        text, blank = "…" if place in self.pending else "·", " "
        match square.kind:
            case "share":  # numbers of two and three digits end in the same cell
                text = f"{square.number:>3}{'!' if tally.failed else ''}"
            case "unfit":
                text, blank = "n/f", "╱"
            case "failed":
                text = "!"
        run = heatmap.Run(f"{text if is_middle else '':{blank}^{wide}}", square.kind, square.colour)
        return self._under_cursor(run, row) if place == self.cursor else [run]

    def _under_cursor(self, run: heatmap.Run, row: int) -> list[heatmap.Run]:
        high, inside = self.layout.high, heatmap.Run(run.text[1:-1], run.name, run.colour)
        left, right = "▌▐"
        if row != high // 2:
            left, line, right = "▛▀▜" if row == 0 else "▙▄▟"
            inside = heatmap.Run(line * len(inside.text), "cursor", run.colour)
        return [
            heatmap.Run(left, "cursor", run.colour),
            inside,
            heatmap.Run(right, "cursor", run.colour),
        ]


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
    def layout_shown(self) -> heatmap.HeatLayout[int]:
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
        runs = heatmap.text_row(layout, text, y)
        strip = Strip(Segment(run.text, self._style_of(run)) for run in runs)
        strip = strip.crop(0, self.size.width)
        return strip.extend_cell_length(self.size.width, self.rich_style)

    def _style_of(self, run: heatmap.Run) -> Style:
        key = run.name, run.colour
        if key not in self._styles:
            style = self.get_component_rich_style(f"heat--{run.name}")
            if run.colour:
                style += Style(color=ink_on(run.colour), bgcolor=run.colour)
            self._styles[key] = style
        return self._styles[key]

    def _region(self, layout: heatmap.HeatLayout[int], place: Place) -> Region:
        x, y = layout.corner(place) or (0, heatmap.HEAD)
        return Region(x, y, layout.wide, layout.high)
