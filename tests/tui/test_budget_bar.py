"""The budget bar is to scale, and its strip shows every kind that has tokens."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.app import App

from jitchat.tui.widgets.budget_bar import BudgetBar, at_true_scale, to_scale
from jitchat.values import Mode
from jitchat.window.window import Kind
from tests.examples import examples
from tests.window.cases import shortlist
from tests.window.reports import KNOWN, long_talk
from tests.window.test_epoch import window_at

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


LITTLE = dict.fromkeys(NAMES, 0) | {
    "system": 100,
    "recent": 200,
    "draft": 100,
    "free": 97_600,
    "reserve": 2_000,
}


@examples(30)
@given(
    st.lists(st.integers(0, 200_000), min_size=len(NAMES), max_size=len(NAMES)).filter(any),
    st.integers(len(NAMES), 300),
)
def test_what_is_used_takes_its_share_of_the_bar(counts: list[int], width: int) -> None:
    shares = dict(zip(NAMES, counts, strict=True))
    cells = at_true_scale(shares, width)
    assert sum(cells.values()) == width
    assert all(count >= 0 for count in cells.values())
    total, used = sum(counts), sum(counts[:-2])
    filled = width - cells["free"] - cells["reserve"]
    assert abs(filled - used * width / total) <= (0.5 if used * width >= total else 1)
    assert bool(filled) == bool(used)


def test_the_bar_is_to_scale() -> None:
    shares = dict.fromkeys(NAMES, 0) | {"recent": 5_000, "free": 3_000, "reserve": 2_000}
    assert at_true_scale(shares, 100) == dict.fromkeys(NAMES, 0) | {
        "recent": 50,
        "free": 30,
        "reserve": 20,
    }
    assert at_true_scale(LITTLE, 160) == dict.fromkeys(NAMES, 0) | {
        "recent": 1,
        "free": 156,
        "reserve": 3,
    }


async def test_the_strip_magnifies_the_used_part() -> None:
    app = Bars(long_talk(Mode.JIT, KNOWN, limit=128_000))
    async with app.run_test(size=(100, 4)):
        bar = app.query_one(BudgetBar)
        whole, legend = bar.render().plain.splitlines()
        assert len(whole.rstrip("·╲")) == 1
        assert legend.startswith(" ~0.4 % of 128,000 █sys")
        bar.magnify(True)
        same, strip, _ = bar.render().plain.splitlines()
        assert same == whole
        assert len(strip) == 100
        assert strip.startswith("used █")
        assert not set(strip) & set("·╲"), "nothing but what is used"


@pytest.mark.parametrize("width", [160, 100, 80, 50, 40, 30, 20])
async def test_the_share_of_the_limit_is_in_view_at_every_width(width: int) -> None:
    app = Bars(long_talk(Mode.JIT, KNOWN, limit=32_768))
    async with app.run_test(size=(width, 4)):
        bar = app.query_one(BudgetBar)
        bar.working = True
        legend = bar.render().plain.splitlines()[-1]
        assert len(legend) <= width
        share = f"{app.window.used / 327.68:.0f}"
        assert legend.startswith(f"…~{share} % of 32,768")
        figures = re.findall(r"~([\d,]+)(?! %)", legend)
        known = {f"{app.window.tokens_of(kind):,}" for kind in Kind} | {f"{app.window.free:,}"}
        assert set(figures[1:]) <= known, "figures give way whole"


class Bars(App[None]):
    """A bar of 100 cells."""

    def __init__(self, window: ContextWindow) -> None:
        super().__init__()
        self.window, self.clicked = window, list[str]()

    def compose(self) -> Iterable[BudgetBar]:
        bar = BudgetBar()
        bar.styles.height = 3
        bar.window = self.window
        yield bar

    def on_budget_bar_kind_clicked(self, message: BudgetBar.KindClicked) -> None:
        self.clicked.append(message.kind)


NAMED = {"█": "system", "▚": "recent", "≡": "index", "▒": "retrieved"}
NAMED |= {"▞": "draft", "·": "free", "╲": "reserve"}


async def test_a_double_line_ends_the_stable_prefix_and_clicks_match_the_drawn_cells() -> None:
    app = Bars(long_talk(Mode.JIT, KNOWN, limit=1_500))
    async with app.run_test(size=(100, 4)) as pilot:
        bar = app.query_one(BudgetBar)
        bar.magnify(True)
        whole, strip, legend = bar.render().plain.splitlines()
        assert len(whole) == len(strip) == 100
        stable, rest = strip.split("║")
        assert set(stable) == set("used █▚")
        assert not set(rest) & set("█▚▓")
        for line, drawn in enumerate((whole, strip)):
            app.clicked.clear()
            places = [0, *(n for n in range(1, 100) if drawn[n] != drawn[n - 1] or n % 20 == 0)]
            for place in places:
                await pilot.click(bar, offset=(place, line))
            named = (NAMED[drawn[place]] for place in places if drawn[place] not in "used ║")
            assert app.clicked == list(named)
        app.clicked.clear()
        await pilot.click(bar, offset=(3, 2))
        await pilot.click(bar, offset=(legend.index("▒"), 2))
        assert app.clicked == ["retrieved"], "the share is no kind"


async def test_what_is_carried_stands_before_the_double_line() -> None:
    before = window_at(80, found=shortlist(9))
    app = Bars(window_at(82, before, found=shortlist(9, 30)))
    async with app.run_test(size=(100, 4)):
        bar = app.query_one(BudgetBar)
        bar.magnify(True)
        carried, new = bar.render().plain.splitlines()[1].split("║")
        assert "▒" in carried
        assert set(new) == set("▒▞")
