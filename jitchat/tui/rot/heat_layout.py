"""Where the squares of the heatmaps stand. Pure.

All maps stand side by side where every square has room for its number; else one is shown at a
time. Of a map that is larger than its room, the part that the cursor is in is shown.
"""

from __future__ import annotations

from dataclasses import dataclass

from jitchat.rot.experiment import Experiment
from jitchat.rot.run import short
from jitchat.rot.tally import Place
from jitchat.turn import Mode

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
