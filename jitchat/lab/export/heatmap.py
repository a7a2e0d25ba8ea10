"""The heatmaps of a run, for screen, text and SVG: the layout and content of squares.

There is one map per mode, one column per length and one row per depth. A layout is in the unit of
its surface: cells of a terminal, or pixels.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from jitchat.lab.colours import colour_of
from jitchat.lab.stats import Place, Tally, percent, points
from jitchat.values import Mode

Unit = TypeVar("Unit", int, float)


@dataclass(frozen=True, slots=True)
class Square:
    kind: str
    """`share`, `unfit`, `failed`, or `none` if no cell has a result."""
    number: str = ""
    """The share of right answers in per cent; empty without an answer."""
    colour: str = ""
    """The colour of the share, as `#rrggbb`."""


def square_of(tally: Tally | None) -> Square:
    if tally is None or not tally.cells:
        return Square("none")
    if tally.share is None:
        return Square("unfit" if tally.unfit else "failed")
    return Square("share", points(tally.share), colour_of(tally.share))


@dataclass(frozen=True, slots=True)
class Map(Generic[Unit]):
    """The squares of one mode, for all lengths or some."""

    mode: Mode
    lengths: Sequence[int]
    left: Unit
    """The left edge of the first square."""
    width: Unit


@dataclass(frozen=True, slots=True)
class HeatLayout(Generic[Unit]):
    maps: Sequence[Map[Unit]]
    depths: Sequence[float]
    wide: Unit
    """Horizontal distance from one square to the next."""
    high: Unit
    """Vertical distance from one square to the next."""
    head: Unit
    """Height above the squares for the map's title and, on text surfaces, its lengths."""
    gap: Unit
    more_above: bool = False
    """Whether depths are left out above."""
    more_below: bool = False
    """Whether depths are left out below."""

    def corner(self, place: Place) -> tuple[Unit, Unit] | None:
        """Return the upper left corner of a square; None if it is not in this layout."""
        mode, length, depth = place
        for each in self.maps:
            if each.mode is mode and length in each.lengths and depth in self.depths:
                x = each.left + each.lengths.index(length) * self.wide
                return x, self.head + self.depths.index(depth) * self.high
        return None

    def place_at(self, x: Unit, y: Unit) -> Place | None:
        """Return the square at a point; None if there is none."""
        row = int((y - self.head) // self.high)
        if not 0 <= row < len(self.depths):
            return None
        for each in self.maps:
            if each.left <= x < each.left + each.width:
                return each.mode, each.lengths[int((x - each.left) // self.wide)], self.depths[row]
        return None

    @property
    def places(self) -> list[Place]:
        return [
            (each.mode, length, depth)
            for each in self.maps
            for length in each.lengths
            for depth in self.depths
        ]


def side_by_side(
    shown: Iterable[tuple[Mode, Sequence[int]]], left: Unit, wide: Unit, gap: Unit
) -> list[Map[Unit]]:
    """Place maps next to each other, each with its lengths, the first one at `left`."""
    maps: list[Map[Unit]] = []
    for mode, lengths in shown:
        maps.append(Map(mode, lengths, left, wide * len(lengths)))
        left += maps[-1].width + gap
    return maps


@dataclass(frozen=True, slots=True)
class Run:
    text: str
    name: str = "plain"
    """The kind of text: `mode`, `label`, `plain`, `cursor`, or the kind of a square."""
    colour: str = ""
    """The background, as `#rrggbb`; empty for that of the surface."""


MARGIN = 6
"""Characters before the squares, for the depth."""
HEAD = 2
"""Rows above the squares: the names of the maps, and the lengths."""


class Writing(Protocol):
    """Writes the parts of maps on a surface of characters."""

    @property
    def axis(self) -> str:
        """The label of the row of lengths."""

    def title(self, shown: Map[int]) -> list[Run]:
        """Write the title of a map, padded to the map's width."""

    def length(self, length: int) -> str:
        """Write a length, padded to a square's width."""

    def square(self, place: Place, row: int) -> list[Run]:
        """Write one row of a square, counted from 0."""


def text_row(layout: HeatLayout[int], writing: Writing, y: int) -> list[Run]:
    """Write one row of maps; empty below the last depth."""
    number, row = divmod(y - HEAD, layout.high)
    if number >= len(layout.depths):
        return []
    runs = [Run(_label(layout, writing, y), "label")]
    for shown in layout.maps:
        if shown is not layout.maps[0]:
            runs.append(Run(" " * layout.gap))
        if y == 0:
            runs += writing.title(shown)
        elif y < HEAD:
            runs.append(Run("".join(map(writing.length, shown.lengths)), "label"))
        else:
            for length in shown.lengths:
                runs += writing.square((shown.mode, length, layout.depths[number]), row)
    return runs


def _label(layout: HeatLayout[int], writing: Writing, y: int) -> str:
    """Write the label before the squares; an arrow indicates depths that are left out."""
    number, row = divmod(y - HEAD, layout.high)
    if y < HEAD:
        return f"{writing.axis if y else '':>{MARGIN - 1}} "
    if row != layout.high // 2:
        return " " * MARGIN
    more = "↓" if layout.more_below and number == len(layout.depths) - 1 else " "
    more = "↑" if layout.more_above and number == 0 else more
    return f"{percent(layout.depths[number]):>{MARGIN - 1}}{more}"
