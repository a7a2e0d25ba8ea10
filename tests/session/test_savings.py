"""Savings compared with `full`: every amount here is calculated by hand."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jitchat.providers.catalogue.table import Prices
from jitchat.savings import Comparison, Money, Savings, savings
from jitchat.store.windows import Send
from jitchat.values import Mode, Usage
from jitchat.window.calibration import NO_CALIBRATION
from jitchat.window.window import Kind
from tests.examples import examples
from tests.window.reports import long_talk

if TYPE_CHECKING:
    from collections.abc import Mapping

PRICES = Prices(input=10.0, output=99.0, cached=1.0, written=12.0)
"""Dollars per million: 1,000 tokens cost $0.010, read from cache $0.001, written to it $0.012."""
START = datetime(2026, 11, 3, 9, 0, tzinfo=UTC)


@dataclass(frozen=True)
class Made:
    """A send of a test."""

    sizes: Mapping[str, int]
    full_tokens: int
    usage: Usage | None = None
    mode: Mode = Mode.JIT
    reply: int | None = 2
    sent_at: datetime | None = None
    model: str = "m"
    provider: str = "p"
    said: int = 1
    cost: float | None = None

    @property
    def used(self) -> int:
        return sum(self.sizes.values())


def made(system: int, recent: int, retrieved: int, draft: int, full: int, **more) -> Made:
    sizes = {"system": system, "recent": recent, "retrieved": retrieved, "draft": draft}
    return Made(sizes, full, **more)


def price(_: Send | Made, usage: Usage) -> float | None:
    return PRICES.of(usage)


def last(*sends: Made, life: timedelta | None = None) -> Savings:
    return savings(sends, price, life)[-1]


def money(total: Savings) -> tuple[float, float]:
    return total.money.sent, total.money.full


def test_without_sends_there_is_no_total():
    assert savings([], price) == []
    assert (Savings().saved, Money().saved) == (0, 0.0)


def test_sends_are_cheaper_than_full_without_a_cache():
    prices = Prices(input=10.0, output=None)
    sends = [
        made(100, 300, 500, 100, 8_000, usage=Usage(1_000, 50)),
        made(100, 400, 400, 100, 9_000, usage=Usage(1_000, 50)),
    ]
    first, total = savings(sends, lambda _, usage: prices.of(usage))
    assert (first.sent, first.full, first.saved) == (1_000, 8_000, 7_000)
    assert (total.sent, total.full, total.saved, total.sends) == (2_000, 17_000, 15_000, 2)
    assert money(total) == pytest.approx((0.020, 0.170))
    assert total.money.saved == pytest.approx(0.150)


def test_full_can_be_cheaper_with_a_warm_cache():
    """Both first cache 2,000 tokens; then `full` reads those and adds 100, the sent window 800."""
    sends = [
        made(2_000, 0, 0, 0, 2_000, usage=Usage(2_000, 5, 0, 2_000)),
        made(200, 300, 500, 0, 2_100, usage=Usage(1_000, 5, 200, 0)),
    ]
    total = last(*sends)
    assert money(total) == pytest.approx((0.024 + 0.0002 + 0.008, 0.024 + 0.002 + 0.0012))
    assert total.money.cached == 2_000
    assert total.money.saved == pytest.approx(-0.005)
    assert total.saved == 1_100


@pytest.mark.parametrize(
    ("minutes", "cached"),
    [(5, 0.120 + 0.010 + 0.012), (6, 0.120 + 0.132), (None, 0.120 + 0.010 + 0.012)],
)
def test_the_cache_is_cold_after_a_pause_longer_than_its_lifetime(minutes, cached):
    later = START + timedelta(minutes=minutes) if minutes else None
    told = Usage(1_000, 5, 0, 1_000)
    sends = [
        made(0, 0, 900, 100, 10_000, sent_at=START, usage=told),
        made(0, 0, 900, 100, 11_000, sent_at=later, usage=told),
    ]
    assert last(*sends, life=timedelta(minutes=5)).money.full == pytest.approx(cached)
    assert last(*sends).money.full == pytest.approx(0.120 + 0.010 + 0.012)


def test_without_usage_nothing_is_assumed_to_be_cached_of_either():
    told = made(100, 0, 0, 0, 100, usage=Usage(100, 5, 50, 0))
    total = last(told, made(100, 300, 500, 100, 5_000))
    assert money(total)[0] == pytest.approx(0.0005 + 0.00005 + 0.010)


def test_what_full_would_have_sent_too_costs_the_same():
    """Whether anything of it was cached is what the provider reported, and no guess."""
    sends = [
        made(200, 0, 0, 100, 300, usage=Usage(310, 5)),
        made(200, 200, 0, 100, 500, usage=Usage(520, 5)),
        made(200, 400, 0, 100, 700, usage=Usage(730, 5, 512)),
    ]
    for total in savings(sends, price):
        assert total.saved == 0
        assert total.money.full == total.money.sent


def test_full_asks_for_no_context_and_is_one_request():
    """Two requests of `jit`, of which the second has what it asked for: `full` is one."""
    first = made(100, 300, 100, 100, 5_000, usage=Usage(600, 5))
    asked = replace(first, sizes={**first.sizes, "tool calls": 20, "requested": 380})
    total = last(first, replace(asked, usage=Usage(1_000, 5)))
    assert (total.sent, total.full, total.sends) == (1_600, 5_000, 2)
    assert money(total) == pytest.approx((0.016, 0.050))


def test_full_calls_other_tools_too():
    first = made(100, 300, 100, 100, 5_000, usage=Usage(600, 5))
    sizes = {**first.sizes, "tool calls": 20, "tool results": 380}
    total = last(first, replace(first, sizes=sizes, full_tokens=5_400, usage=Usage(1_000, 5)))
    assert (total.sent, total.full) == (1_600, 10_400)


def test_full_is_scaled_to_the_providers_counts():
    total = last(made(0, 0, 900, 100, 10_000, usage=Usage(1_200, 5)))
    assert money(total) == pytest.approx((0.012, 0.120))
    assert (total.sent, total.full) == (1_000, 10_000)


def test_if_full_was_sent_nothing_is_saved_or_lost():
    sends = [
        made(2_000, 0, 0, 0, 2_000, usage=Usage(2_000, 5, 0, 2_000), mode=Mode.FULL),
        made(2_000, 90, 0, 10, 2_100, usage=Usage(2_100, 5, 500, 0), mode=Mode.FULL),
    ]
    total = last(*sends)
    paid = 0.024 + 0.0005 + 0.016
    assert money(total) == pytest.approx((paid, paid))
    assert (total.saved, total.money.saved) == (0, pytest.approx(0))


def test_on_another_branch_the_draft_is_never_cached():
    told = Usage(1_000, 5, 0, 900)
    sends = [made(0, 0, 900, 100, full, usage=told) for full in (10_000, 4_000)]
    first, total = savings(sends, price)
    added = total.money.full - first.money.full
    assert added == pytest.approx(0.001 * 3.9 + 0.012 * 0.1)


def test_sends_without_a_price_or_an_answer_are_counted_separately():
    sends = [
        made(0, 0, 900, 100, 10_000),
        made(0, 0, 900, 100, 10_000, model="other", cost=0.03),
        made(0, 0, 900, 100, 10_000, reply=None),
        made(0, 0, 900, 100, 10_000, reply=None, usage=Usage(1_000, None)),
    ]
    total = savings(sends, lambda send, usage: PRICES.of(usage) if send.model == "m" else None)[-1]
    assert (total.sends, total.unanswered, total.money.sends) == (3, 1, 2)
    assert (total.sent, total.full) == (3_000, 30_000)
    assert money(total)[1] == pytest.approx(0.200)
    assert (total.unpriced, total.charged) == (("other",), 0.03)
    unknown = savings(sends, lambda *_: None)[-1]
    assert unknown == replace(total, money=Money(), unpriced=("m", "other"))


@pytest.mark.parametrize(
    ("per_token", "told"),
    [
        (0.002 / 1e3, "~$0.0018 input"),
        (None, "cost unknown"),
        (1e-12, "<$0.0001 input"),
        (0.0, ""),
    ],
)
def test_the_cost_of_the_input_says_that_it_is_of_the_input(per_token: float | None, told: str):
    def by_token(usage: Usage) -> float | None:
        return None if per_token is None else (usage.input_tokens or 0) * per_token

    assert Comparison(Usage(900, 0), Usage(900, 0), by_token).cost == told


counts = st.integers(0, 5_000)
sends = st.builds(
    Made,
    st.dictionaries(st.sampled_from(list(Kind)), counts),
    counts,
    st.none() | st.builds(Usage, st.none() | counts, st.none() | counts, counts, counts),
    st.sampled_from(list(Mode)),
    st.none() | st.just(2),
)


@examples(25)
@given(st.lists(sends, max_size=9))
def test_saved_and_sent_amounts_add_up_to_full(several):
    totals = savings(several, price)
    assert len(totals) == len(several)
    for number, total in enumerate(totals, start=1):
        counted = [each for each in several[:number] if each.reply or each.usage]
        assert total.sends + total.unanswered == number
        assert total.full <= sum(each.full_tokens for each in counted)
        assert total.sent == sum(sum(each.sizes.values()) for each in counted)
        assert total.money.sends == total.sends
        assert total.money.saved + total.money.sent == pytest.approx(total.money.full)


def test_a_sent_window_that_is_that_of_full_costs_the_same_with_the_reported_cache():
    prices, reported = Prices(input=10.0, output=None, cached=1.0), Usage(1_100, 20, 800)
    window = long_talk(Mode.FULL, NO_CALIBRATION)
    one = Comparison.of_sent(window, reported, prices.of)
    assert one.amount == one.of_full == pytest.approx(0.0038)
    smaller = long_talk(Mode.RECENCY, NO_CALIBRATION, limit=750)
    counted = Usage(2 * smaller.used, 20)
    assert Comparison.of_sent(smaller, counted, prices.of).full.input_tokens == (
        2 * smaller.full_tokens
    )


def test_full_as_a_whole_costs_more_than_full_with_a_result_in_part():
    prices = Prices(input=10.0, output=None)
    window = long_talk(Mode.FULL, NO_CALIBRATION)
    in_part = replace(window, full_tokens=2 * window.used)
    one = Comparison.of_sent(in_part, Usage(window.used, 20), prices.of)
    assert one.of_full == 2 * one.amount
