"""The history chart: what is stacked, where the outline runs, and which send is under a cell."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jitchat.tui.views.history import (
    Series,
    bars_of,
    chart_rows,
    columns_of,
    legend,
    pointer_rows,
    scale_of,
    series_of,
)
from tests.examples import examples
from tests.tui.views.test_history_rows import SEND


def series(*pairs: tuple[dict[str, int], int]) -> Series:
    return series_of([replace(SEND, sizes=sizes, full_tokens=full) for sizes, full in pairs])


def drawn(made: Series, width: int, rows: int, *, sent_only: bool = False) -> list[str]:
    columns = columns_of(made, width)
    scale, bars = bars_of(made, columns, rows, sent_only=sent_only)
    return ["".join(text for text, _ in row) for row in chart_rows(scale, bars, columns)]


FEW = series(
    ({"system": 100, "draft": 100}, 200),
    ({"system": 100, "recent": 200, "draft": 100}, 400),
    ({"system": 100, "retrieved": 200}, 900),
)


def test_kinds_are_stacked_under_the_outline_of_full():
    assert drawn(FEW, 19, 10) == [
        "1,000┤            ",
        "     │       ╭─── ",
        "  800┤       │    ",
        "     │       │    ",
        "  600┤       │    ",
        "     │       │    ",
        "  400┤   ╭───╯    ",
        "     │   │▞▞▞     ",
        "  200┤───╯▚▚▚ ▒▒▒ ",
        "     │▞▞▞ ▚▚▚ ▒▒▒ ",
        "     │███ ███ ███ ",
    ]


def test_a_few_rows_are_enough_to_tell_sends_apart_and_what_they_hold():
    sent = series(
        ({"recent": 480, "index": 256, "retrieved": 231}, 3_446),
        ({"recent": 269}, 3_446),
    )
    columns = columns_of(sent, 30)
    scale, bars = bars_of(sent, columns, 5, sent_only=False)
    rows = list(chart_rows(scale, bars, columns))
    bottom = [(text.strip(), name) for text, name in rows[-1] if text.strip() and name != "axis"]
    assert bottom == [("▅" * columns.bar, "recent on index"), ("▃" * columns.bar, "recent")]
    assert ("▂" * columns.bar, "retrieved") in [(text.strip(), name) for text, name in rows[-2]]


def test_to_the_scale_of_what_was_sent_full_runs_off_the_top():
    assert drawn(FEW, 19, 4, sent_only=True) == [
        "  400┤   ╭───╯↑↑↑ ",
        "     │   │▞▞▞     ",
        "  200┤───╯▚▚▚ ▒▒▒ ",
        "     │▞▞▞ ▚▚▚ ▒▒▒ ",
        "     │███ ███ ███ ",
    ]


def test_more_sends_than_cells_share_columns_and_the_legend_says_so():
    many = series(*[({"system": 100 * number}, 3_000) for number in range(1, 25)])
    columns = columns_of(many, 15)
    assert (columns.per, columns.number, columns.reach(7)) == (3, 8, (21, 24))
    assert many.mean("system", *columns.reach(0)) == 200
    line = "".join(text for text, _ in legend(many, columns))
    assert line.endswith("─ full  each bar is the mean of 3 sends")
    line = "".join(text for text, _ in legend(many, columns_of(many, 80)))
    assert line.endswith("─ full")


@pytest.mark.parametrize("count", [1, 3, 200])
def test_the_mark_stands_under_its_send_with_its_number(count):
    columns = columns_of(series(*[({"system": 10}, 10)] * count), 60)
    for place in range(count):
        axis, told = pointer_rows(columns, place)
        cell = columns.cell_of(place)
        assert axis.index("▲") == cell + columns.bar // 2
        assert axis.count("▲") == 1
        assert told.split().count(str(place + 1)) == 1
        assert max(len(axis), len(told)) <= 60


@examples(30)
@given(st.integers(1, 5_000), st.integers(20, 200), st.integers(0, 10**7), st.data())
def test_every_send_has_a_cell_on_screen_that_leads_to_its_column(count, width, largest, data):
    columns = columns_of(Series({"full": range(count + 1)}, largest), width)
    place = data.draw(st.integers(0, count - 1))
    cell = columns.cell_of(place)
    assert columns.margin < cell < width
    assert columns.place_at(cell) == place // columns.per * columns.per
    assert columns.place_at(columns.margin) is None
    assert columns.place_at(columns.cell_of(count - 1) + columns.step) is None


@examples(30)
@given(st.floats(0, 10**9), st.integers(1, 60))
def test_ticks_are_round_and_the_scale_holds_the_largest(largest, rows):
    scale = scale_of(largest, rows)
    assert scale.top >= largest
    assert 0 <= scale.row(largest) <= rows
    assert str(scale.tick).rstrip("0") in ("1", "2", "5")
    assert scale.labels()[rows] == f"{scale.top:,}"
    assert 1 <= len(scale.labels()) <= 5


sizes = st.dictionaries(st.sampled_from(["system", "recent", "draft"]), st.integers(0, 9_000))


@examples(30)
@given(
    st.lists(st.tuples(sizes, st.integers(0, 99_000)), min_size=1, max_size=80),
    st.integers(30, 120),
    st.integers(2, 30),
    st.booleans(),
)
def test_no_row_is_longer_than_the_screen_and_whatever_was_sent_is_seen(pairs, width, rows, zoom):
    made = series(*pairs)
    columns = columns_of(made, width)
    scale, bars = bars_of(made, columns, rows, sent_only=zoom)
    lines = drawn(made, width, rows, sent_only=zoom)
    assert len(lines) == rows + 1
    assert all(len(line) == len(lines[0]) <= width for line in lines)
    for number, bar in enumerate(bars):
        reach = columns.reach(number)
        mean = sum(made.mean(kind, *reach) for kind in ("system", "recent", "draft"))
        assert bool(bar.kinds) is (mean > 0)
        assert abs(len(bar.kinds) - mean * rows * 8 / scale.top) <= 1
