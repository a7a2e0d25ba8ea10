"""The rows of the history: one scale for all bars, and a line to what `full` would have sent."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from jitchat.store.windows import Send
from jitchat.tui.views.history import legend, rows_of
from jitchat.tui.views.sent_window_page import Row, columns_of, draw_bar
from jitchat.tui.widgets.turn_table import Line, draw, header
from jitchat.window.window import Kind
from tests.examples import examples
from tests.tui.views.test_history_rows import SEND


def sent(sizes: dict[str, int], full: int) -> Send:
    return replace(SEND, sizes=sizes, full_tokens=full)


FEW = [
    sent({"system": 100, "draft": 100}, 200),
    sent({"system": 100, "recent": 200, "draft": 100}, 400),
    sent({"system": 100, "retrieved": 200}, 900),
]


def test_bars_have_one_scale_and_a_line_to_full() -> None:
    assert [str(draw_bar(send, 900, 36)) for send in FEW] == [
        "████▞▞▞▞",
        "████▚▚▚▚▚▚▚▚▞▞▞▞",
        "████▒▒▒▒▒▒▒▒───────────────────────│",
    ]


def test_a_row_has_its_figures_and_a_narrow_one_only_the_tokens() -> None:
    columns = columns_of(FEW, 100)
    assert header(columns).split() == ["send", "turn", "mode", "full", "tokens"]
    assert str(draw(columns, Row(3, FEW[2]))).split()[:5] == ["3", "#61", "jit", "900", "300"]
    assert header(columns_of(FEW, 40)).split() == ["send", "tokens"]


def test_the_latest_send_is_first_and_what_is_not_listed_is_counted() -> None:
    assert [row.number for row in rows_of(FEW) if isinstance(row, Row)] == [3, 2, 1]
    rows = rows_of([FEW[0]] * 1_002)
    assert isinstance(rows[0], Row)
    assert rows[0].number == 1_002
    assert isinstance(rows[-1], Line)
    assert rows[-1].text.startswith("2 earlier sends, ")
    assert len(rows) == 1_001


def test_the_legend_names_the_kinds_that_occur_and_full() -> None:
    names = "█ system ▓ pinned ▚ recent ≡ index ▒ retrieved ▞ draft ─│ full"
    assert str(legend(FEW)).split() == names.split()


sizes = st.dictionaries(st.sampled_from([kind.value for kind in Kind]), st.integers(0, 9_000))


@examples(30)
@given(
    st.lists(st.tuples(sizes, st.integers(0, 99_000)), min_size=1, max_size=40),
    st.integers(40, 200),
)
def test_no_row_is_longer_than_the_screen_and_every_kind_that_was_sent_is_seen(
    pairs: list[tuple[dict[str, int], int]], width: int
) -> None:
    sends = [sent(*pair) for pair in pairs]
    columns = columns_of(sends, width)
    for number, send in enumerate(sends, start=1):
        line = draw(columns, Row(number, send))
        assert line.cell_length <= width
        bar = str(columns[-1].cell(Row(number, send)))
        assert len(set(bar) - set("─│")) == sum(size > 0 for size in send.sizes.values())
