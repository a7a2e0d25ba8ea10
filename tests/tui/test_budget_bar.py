"""The bar is to scale, and shows whatever is there."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from jitchat.tui.widgets.budget_bar import _cells

NAMES = ("system", "pinned", "recent", "index", "retrieved", "draft", "free", "reserve")


@given(
    st.lists(st.integers(0, 200_000), min_size=len(NAMES), max_size=len(NAMES)).filter(any),
    st.integers(len(NAMES), 300),
)
def test_the_cells_fill_the_width_and_every_kind_that_has_tokens_has_one(
    counts: list[int], width: int
) -> None:
    shares = dict(zip(NAMES, counts, strict=True))
    cells = _cells(shares, width)
    assert sum(cells.values()) == width
    assert all((cells[name] >= 1) == (count > 0) for name, count in shares.items())


def test_the_bar_is_to_scale() -> None:
    shares = dict.fromkeys(NAMES, 0) | {"recent": 5_000, "free": 3_000, "reserve": 2_000}
    assert _cells(shares, 100) == dict.fromkeys(NAMES, 0) | {
        "recent": 50,
        "free": 30,
        "reserve": 20,
    }
