"""Where squares stand: side by side or one map at a time, and the cursor always in view."""

from __future__ import annotations

from itertools import product

import pytest

from jitchat.lab.experiment import Experiment
from jitchat.tui.lab.heatmap import HEAD, Grid, all_wide, laid_out
from jitchat.values import Mode

QUICK = Grid.of(Experiment((1_000, 4_000, 16_000, 48_000), (0.0, 0.25, 0.5, 0.75, 1.0)))
DEEP = Grid.of(
    Experiment(
        (1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000, 128_000),
        tuple(number / 10 for number in range(11)),
    )
)
ONE = Grid.of(Experiment((500,), (0.5,), modes=(Mode.JIT,)))


def places(grid: Grid):
    return product(grid.modes, grid.lengths, grid.depths)


@pytest.mark.parametrize("grid", [QUICK, DEEP, ONE], ids=["quick", "deep", "one"])
@pytest.mark.parametrize("size", [(152, 17), (100, 13), (76, 7), (56, 5), (30, 3)])
def test_the_cursor_is_in_view_and_every_square_is_found_where_it_is_drawn(
    grid: Grid, size: tuple[int, int]
) -> None:
    width, height = size
    for cursor in places(grid):
        layout = laid_out(grid, cursor, width, height)
        corner = layout.corner(cursor)
        assert corner is not None
        shown = [each for each in places(grid) if layout.corner(each) is not None]
        assert len(shown) == layout.maps * layout.columns * layout.rows
        for place in shown:
            x, y = layout.corner(place)  # type: ignore[misc]
            assert x + layout.wide <= width
            assert y + layout.high <= height
            assert layout.place_at(x, y) == place
            assert layout.place_at(x + layout.wide - 1, y + layout.high - 1) == place


def test_beside_the_squares_is_no_square() -> None:
    layout = laid_out(QUICK, QUICK.first, 152, 17)
    x, y = layout.corner(QUICK.first)  # type: ignore[misc]
    assert layout.place_at(x - 1, y) is None
    assert layout.place_at(x, HEAD - 1) is None
    assert layout.place_at(x + layout.map_wide, y) is None
    assert layout.place_at(x, y + layout.high * 5) is None


def test_all_maps_are_shown_where_each_has_room_and_else_one() -> None:
    wide = all_wide(DEEP)
    assert laid_out(DEEP, DEEP.first, wide, 13).maps == 3
    narrow = laid_out(DEEP, (Mode.JIT, 1_000, 0.0), wide - 1, 13)
    assert narrow.modes == (Mode.JIT,)
    assert narrow.columns == 8


def test_squares_are_higher_where_there_is_room_for_all_of_them() -> None:
    assert laid_out(QUICK, QUICK.first, 100, 2 + 15).high == 3
    assert laid_out(QUICK, QUICK.first, 100, 2 + 14).high == 1


def test_the_cursor_goes_from_map_to_map_and_stays_within_them() -> None:
    last = (Mode.FULL, 48_000, 0.25)
    assert QUICK.moved(last, 1, 0) == (Mode.RECENCY, 1_000, 0.25)
    assert QUICK.moved((Mode.RECENCY, 1_000, 0.25), -1, 0) == last
    assert QUICK.moved(QUICK.first, -1, -1) == QUICK.first
    end = (Mode.JIT, 48_000, 1.0)
    assert QUICK.moved(end, 1, 1) == end
    assert QUICK.next_map((Mode.FULL, 4_000, 0.5)) == (Mode.RECENCY, 4_000, 0.5)
    assert QUICK.next_map((Mode.JIT, 4_000, 0.5)) == (Mode.FULL, 4_000, 0.5)
