"""The budget bar is to scale and shows every kind that has tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st
from textual.app import App

from jitchat.synthesis.policy import Thresholds
from jitchat.tui.widgets.budget_bar import BudgetBar, in_two_scales, to_scale
from jitchat.values import Mode
from tests.examples import examples
from tests.window.reports import KNOWN, long_talk

if TYPE_CHECKING:
    from collections.abc import Iterable

    from jitchat.window.window import ContextWindow

NAMES = ("system", "pinned", "recent", "index", "retrieved", "draft", "free", "reserve")


@examples(30)
@given(
    st.lists(st.integers(0, 200_000), min_size=len(NAMES), max_size=len(NAMES)).filter(any),
    st.integers(len(NAMES), 300),
)
def test_cells_fill_the_width_and_every_kind_with_tokens_has_at_least_one(
    counts: list[int], width: int
) -> None:
    shares = dict(zip(NAMES, counts, strict=True))
    cells = to_scale(shares, width)
    assert sum(cells.values()) == width
    assert all((cells[name] >= 1) == (count > 0) for name, count in shares.items())


def test_the_bar_is_to_scale() -> None:
    shares = dict.fromkeys(NAMES, 0) | {"recent": 5_000, "free": 3_000, "reserve": 2_000}
    assert to_scale(shares, 100) == dict.fromkeys(NAMES, 0) | {
        "recent": 50,
        "free": 30,
        "reserve": 20,
    }


def test_the_used_part_fills_most_of_the_bar_even_if_it_is_small() -> None:
    little = dict.fromkeys(NAMES, 0) | {
        "system": 100,
        "recent": 200,
        "draft": 100,
        "free": 28_000,
        "reserve": 2_000,
    }
    cells = in_two_scales(little, 160)
    assert sum(cells.values()) == 160
    assert cells["system"] == cells["draft"] == 30
    assert cells["recent"] == 60
    much = little | {"recent": 30_000, "free": 500}
    assert in_two_scales(much, 160) == to_scale(much, 160)


async def test_a_break_in_the_scale_is_drawn_with_the_free_tokens() -> None:
    app = Bars(long_talk(Mode.JIT, KNOWN, limit=32_768))
    async with app.run_test(size=(100, 4)):
        drawn = app.query_one(BudgetBar).render().plain.splitlines()[0]
        assert len(drawn) == 100
        _, rest = drawn.split("╱╱")
        assert rest.strip("·╲ ") == f"~{app.window.free:,} free"


class Bars(App[None]):
    """A bar of 100 cells."""

    def __init__(self, window: ContextWindow) -> None:
        super().__init__()
        self.window, self.clicked = window, list[str]()

    def compose(self) -> Iterable[BudgetBar]:
        bar = BudgetBar()
        bar.styles.height = 2
        bar.window = self.window
        yield bar

    def on_budget_bar_kind_clicked(self, message: BudgetBar.KindClicked) -> None:
        self.clicked.append(message.kind)


async def test_a_double_line_ends_the_stable_prefix_and_clicks_match_the_drawn_cells() -> None:
    app = Bars(long_talk(Mode.JIT, KNOWN, limit=1_500))
    async with app.run_test(size=(100, 4)) as pilot:
        bar = app.query_one(BudgetBar)
        drawn = bar.render().plain.splitlines()[0]
        assert len(drawn) == 100
        stable, rest = drawn.split("║")
        assert set(stable) == set("█▚")
        assert not set(rest) & set("█▚▓")
        places = [0, *(n for n in range(1, 100) if drawn[n] != drawn[n - 1] or n % 20 == 0)]
        for place in places:
            await pilot.click(bar, offset=(place, 0))
    named = {"█": "system", "▚": "recent", "║": "recent", "≡": "index", "▒": "retrieved"}
    named |= {"▞": "draft", "·": "free", "╲": "reserve"}
    assert app.clicked == [named.get(drawn[place], "free") for place in places]


async def test_in_observe_the_thresholds_are_marked() -> None:
    window = long_talk(Mode.OBSERVE, KNOWN, limit=32_768)
    app = Bars(window)
    async with app.run_test(size=(100, 4)):
        bar = app.query_one(BudgetBar)
        assert "┃" not in bar.render().plain
        bar.thresholds = Thresholds()
        drawn = bar.render().plain.splitlines()[0]
        assert len(drawn) == 100
        assert drawn.count("┃") == 2
        bar.window = long_talk(Mode.FULL, KNOWN, limit=32_768)
        assert "┃" not in bar.render().plain
