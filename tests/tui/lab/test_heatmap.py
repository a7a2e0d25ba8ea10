"""Where squares stand, with the cursor always in view, and what they show."""

from __future__ import annotations

from dataclasses import replace
from itertools import accumulate, product

import pytest

from jitchat.lab.colours import colour_of
from jitchat.lab.experiment import Experiment, preset
from jitchat.lab.stats import Tally, count_results
from jitchat.tui.lab.heatmap import HEAD, ScreenText, laid_out, moved
from jitchat.values import Mode
from tests.tui.lab.support import quick, result_of

QUICK = quick()
DEEP = preset("deep", "reader")
ONE = Experiment((500,), (0.5,), modes=(Mode.JIT,))
TOP = (Mode.FULL, 1_000, 0.0)
PLACE = (Mode.JIT, 500, 0.5)
EMPTY = count_results(())


def places(asked: Experiment):
    return product(asked.modes, asked.lengths, asked.depths)


@pytest.mark.parametrize("asked", [QUICK, DEEP, ONE], ids=["quick", "deep", "one"])
@pytest.mark.parametrize("size", [(152, 17), (100, 13), (76, 7), (56, 5), (30, 3)])
def test_the_cursor_is_in_view_and_every_square_is_found_where_it_is_drawn(
    asked: Experiment, size: tuple[int, int]
) -> None:
    width, height = size
    for cursor in places(asked):
        layout = laid_out(asked, cursor, width, height)
        corner = layout.corner(cursor)
        assert corner is not None
        shown = [each for each in places(asked) if layout.corner(each) is not None]
        assert set(layout.places) == set(shown)
        for place in shown:
            x, y = layout.corner(place)  # type: ignore[misc]
            assert x + layout.wide <= width
            assert y + layout.high <= height
            assert layout.place_at(x, y) == place
            assert layout.place_at(x + layout.wide - 1, y + layout.high - 1) == place


def test_beside_the_squares_is_no_square() -> None:
    layout = laid_out(QUICK, TOP, 152, 17)
    x, y = layout.corner(TOP)  # type: ignore[misc]
    assert layout.place_at(x - 1, y) is None
    assert layout.place_at(x, HEAD - 1) is None
    assert layout.place_at(x + layout.map_width, y) is None
    assert layout.place_at(x, y + layout.high * 5) is None


def test_all_maps_are_shown_where_each_has_room_and_else_one() -> None:
    wide = 6 + 3 * 8 * 5 + 2 * 3
    assert len(laid_out(DEEP, TOP, wide, 13).modes) == 3
    narrow = laid_out(DEEP, (Mode.JIT, 1_000, 0.0), wide - 1, 13)
    assert (narrow.modes, len(narrow.lengths)) == ((Mode.JIT,), 8)


def test_squares_are_higher_where_there_is_room_for_all_of_them() -> None:
    assert laid_out(QUICK, TOP, 100, 2 + 15).high == 3
    assert laid_out(QUICK, TOP, 100, 2 + 14).high == 1


def test_the_cursor_goes_from_map_to_map_and_stays_within_them() -> None:
    last = (Mode.FULL, 48_000, 0.25)
    assert moved(QUICK, last, 1, 0) == (Mode.RECENCY, 1_000, 0.25)
    assert moved(QUICK, (Mode.RECENCY, 1_000, 0.25), -1, 0) == last
    assert moved(QUICK, TOP, -1, -1) == TOP
    end = (Mode.JIT, 48_000, 1.0)
    assert moved(QUICK, end, 1, 1) == end


def runs_of(asked, layout, tallies, cursor, y: int, *pending):
    return ScreenText(asked, layout, tallies, pending, cursor).row(y)


def text_of(*given) -> str:
    return "".join(run.text for run in runs_of(*given))


def square_text(tally: Tally, *pending) -> tuple[str, str]:
    """What is in the only square of a map, its colour aside, without a cursor."""
    tallies = replace(EMPTY, squares={PLACE: tally})
    runs = runs_of(ONE, laid_out(ONE, PLACE, 30, 3), tallies, None, 2, *pending)
    return runs[1].text.strip("╱ "), runs[1].name


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
    assert square_text(Tally(), PLACE) == ("…", "none")
    assert square_text(Tally(right=1), PLACE) == ("100", "share")


def test_shares_and_their_colours_are_those_of_the_tallies() -> None:
    tallies = count_results(result_of(cell) for cell in QUICK.cells())
    layout = laid_out(QUICK, TOP, 152, 17)
    for place in set(places(QUICK)) - {TOP}:
        x, y = layout.corner(place)  # type: ignore[misc]
        row = QUICK, layout, tallies, TOP, y + layout.high // 2
        text, share = square_text(tallies.squares[place])[0], tallies.squares[place].share
        assert text_of(*row)[x : x + layout.wide].strip("╱ ") == text
        runs = runs_of(*row)
        starts = list(accumulate((len(run.text) for run in runs), initial=0))
        assert runs[starts.index(x)].colour == (colour_of(share) if share is not None else "")


@pytest.mark.parametrize("size", [(152, 17), (76, 7), (60, 5)])
def test_the_cursor_is_around_its_square_and_moves_nothing(size: tuple[int, int]) -> None:
    cursor, other = (Mode.FULL, 4_000, 0.25), (Mode.FULL, 1_000, 0.0)
    layout = laid_out(QUICK, cursor, *size)
    x, y = layout.corner(cursor)  # type: ignore[misc]
    for row in range(y, y + layout.high):
        marked, plain = (text_of(QUICK, layout, EMPTY, at, row) for at in (cursor, other))
        assert marked[x] in "▌▛▙"
        assert marked[x + layout.wide - 1] in "▐▜▟"
        outside = slice(x + layout.wide, None)
        assert marked[:x] == plain[:x]
        assert marked[outside] == plain[outside]


def test_heads_tell_the_share_and_of_how_many_as_far_as_there_is_room() -> None:
    tallies = replace(EMPTY, by_mode={Mode.FULL: Tally(right=97, wrong=3)})
    wide = text_of(QUICK, laid_out(QUICK, TOP, 152, 17), tallies, TOP, 0)
    assert wide.split("recency")[0].split() == ["full", "97", "%", "of", "100", "(92–99)"]
    paged = text_of(DEEP, laid_out(DEEP, TOP, 76, 7), tallies, TOP, 0)
    assert paged.split() == ["full", "97", "%", "of", "100", "(92–99)", "1", "of", "3"]


def test_depths_that_are_not_shown_are_pointed_to() -> None:
    top = laid_out(DEEP, TOP, 76, 2 + 5)
    assert text_of(DEEP, top, EMPTY, TOP, 2 + 4).startswith(" 40 %↓")
    end = (Mode.FULL, 1_000, 1.0)
    bottom = laid_out(DEEP, end, 76, 2 + 5)
    assert text_of(DEEP, bottom, EMPTY, end, 2).startswith(" 60 %↑")
    assert text_of(DEEP, bottom, EMPTY, end, 2 + 4).startswith("100 % ")
    assert runs_of(DEEP, bottom, EMPTY, end, 2 + 5) == []


def test_numbers_end_in_one_column() -> None:
    squares = {
        (Mode.FULL, 1_000, depth): Tally(right=n, wrong=10 - n)
        for depth, n in zip(QUICK.depths, (10, 9, 0, 5, 10), strict=True)
    }
    layout = laid_out(QUICK, (Mode.JIT, 1_000, 0.0), 76, 7)
    jit = {(Mode.JIT, *place[1:]): tally for place, tally in squares.items()}
    tallies = replace(EMPTY, squares=jit)
    cursor = (Mode.JIT, 48_000, 0.0)
    rows = [text_of(QUICK, layout, tallies, cursor, 2 + row) for row in range(5)]
    x, _ = layout.corner((Mode.JIT, 1_000, 0.0))  # type: ignore[misc]
    ends = {len(row[: x + layout.wide].rstrip()) for row in rows}
    assert len(ends) == 1
