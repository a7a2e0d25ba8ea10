"""The heatmaps in characters: what a square shows, and a row of all that is shown. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from jitchat.rot.colours import colour_of
from jitchat.rot.figures import percent, points, total
from jitchat.rot.run import short
from jitchat.rot.tally import Place, Tally
from jitchat.tui.rot.heat_layout import HEAD, MARGIN, HeatLayout
from jitchat.turn import Mode

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
