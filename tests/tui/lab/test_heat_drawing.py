"""What a square shows, and that rows are drawn in their columns."""

from __future__ import annotations

from itertools import product

import pytest

from jitchat.lab.colours import colour_of
from jitchat.lab.stats import Tally, count_results
from jitchat.tui.lab.heatmap import Grid, Heat, laid_out, map_row, square_text
from jitchat.values import Mode
from tests.tui.lab.support import quick, result_of
from tests.tui.lab.test_heat_layout import DEEP

GRID = Grid.of(quick())
EMPTY = Heat({}, {})


def text_of(layout, heat, cursor, y: int) -> str:
    return "".join(run.text for run in map_row(layout, heat, cursor, y))


@pytest.mark.parametrize(
    ("tally", "told"),
    [
        (Tally(), ("·", "none")),
        (Tally(right=7), ("100", "share")),
        (Tally(wrong=7), ("0", "share")),
        (Tally(right=299, wrong=1), ("99", "share")),
        (Tally(right=6, wrong=1, failed=1), ("86!", "share")),
        (Tally(right=1, wrong=1, unfit=5), ("50", "share")),
        (Tally(unfit=6, failed=1), ("n/f", "unfit")),
        (Tally(failed=2), ("!", "failed")),
    ],
)
def test_a_square_shows_a_share_or_why_there_is_none(tally: Tally, told: tuple[str, str]) -> None:
    assert square_text(tally) == told


def test_a_square_that_is_asked_now_says_so_until_an_answer_is_there() -> None:
    assert square_text(Tally(), is_asked=True) == ("…", "none")
    assert square_text(Tally(right=1), is_asked=True) == ("100", "share")


def test_shares_and_their_colours_are_those_of_the_tallies() -> None:
    results = [result_of(cell) for cell in quick().cells()]
    tallies = count_results(results)
    heat = Heat(tallies.squares, tallies.by_mode)
    layout = laid_out(GRID, GRID.first, 152, 17)
    for place in product(GRID.modes, GRID.lengths, GRID.depths):
        x, y = layout.corner(place)  # type: ignore[misc]
        middle = y + layout.high // 2
        if place == GRID.first:
            continue
        told, _ = square_text(tallies.squares[place])
        assert text_of(layout, heat, GRID.first, middle)[x : x + layout.wide].strip("╱ ") == told
        share = tallies.squares[place].share
        at, colours = 0, set()
        for run in map_row(layout, heat, GRID.first, middle):
            if at == x:
                colours.add(run.colour)
            at += len(run.text)
        assert colours == {colour_of(share) if share is not None else ""}


@pytest.mark.parametrize("size", [(152, 17), (76, 7), (60, 5)])
def test_the_cursor_is_around_its_square_and_moves_nothing(size: tuple[int, int]) -> None:
    cursor, other = (Mode.FULL, 4_000, 0.25), (Mode.FULL, 1_000, 0.0)
    layout = laid_out(GRID, cursor, *size)
    x, y = layout.corner(cursor)  # type: ignore[misc]
    for row in range(y, y + layout.high):
        marked, plain = (text_of(layout, EMPTY, at, row) for at in (cursor, other))
        assert marked[x] in "▌▛▙"
        assert marked[x + layout.wide - 1] in "▐▜▟"
        outside = slice(x + layout.wide, None)
        assert marked[:x] == plain[:x]
        assert marked[outside] == plain[outside]


def test_heads_tell_the_share_and_of_how_many_as_far_as_there_is_room() -> None:
    heat = Heat({}, {Mode.FULL: Tally(right=97, wrong=3)})
    wide = text_of(laid_out(GRID, GRID.first, 152, 17), heat, GRID.first, 0)
    assert wide.split("recency")[0].split() == ["full", "97", "%", "of", "100"]
    paged = text_of(laid_out(DEEP, DEEP.first, 76, 7), heat, DEEP.first, 0)
    assert paged.split() == ["full", "97", "%", "of", "100", "1", "of", "3"]


def test_depths_that_are_not_shown_are_pointed_to() -> None:
    top = laid_out(DEEP, DEEP.first, 76, 2 + 5)
    assert text_of(top, EMPTY, DEEP.first, 2 + 4).startswith(" 40 %↓")
    end = (Mode.FULL, 1_000, 1.0)
    bottom = laid_out(DEEP, end, 76, 2 + 5)
    assert text_of(bottom, EMPTY, end, 2).startswith(" 60 %↑")
    assert text_of(bottom, EMPTY, end, 2 + 4).startswith("100 % ")
    assert map_row(bottom, EMPTY, end, 2 + 5) == []


def test_numbers_end_in_one_column() -> None:
    squares = {
        (Mode.FULL, 1_000, depth): Tally(right=n, wrong=10 - n)
        for depth, n in zip(GRID.depths, (10, 9, 0, 5, 10), strict=True)
    }
    layout = laid_out(GRID, (Mode.JIT, 1_000, 0.0), 76, 7)
    heat = Heat({(Mode.JIT, *place[1:]): each for place, each in squares.items()}, {})
    cursor = (Mode.JIT, 48_000, 0.0)
    rows = [text_of(layout, heat, cursor, 2 + row) for row in range(5)]
    x, _ = layout.corner((Mode.JIT, 1_000, 0.0))  # type: ignore[misc]
    ends = {len(row[: x + layout.wide].rstrip()) for row in rows}
    assert len(ends) == 1
