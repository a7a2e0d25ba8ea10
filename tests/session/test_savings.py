"""Savings compared with `full`: every amount here is calculated by hand."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jitchat.providers.catalogue.table import Prices
from jitchat.savings import Money, Savings, savings
from jitchat.store.windows import Send
from jitchat.values import Mode, Usage
from jitchat.window.window import Kind
from tests.examples import examples

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

    @property
    def used(self) -> int:
        return sum(self.sizes.values())


def made(system: int, recent: int, retrieved: int, draft: int, full: int, **more) -> Made:
    sizes = {"system": system, "recent": recent, "retrieved": retrieved, "draft": draft}
    return Made(sizes, full, **more)


def price(_: Send, usage: Usage) -> float | None:
    return PRICES.of(usage)


def last(*sends: Made, life: timedelta | None = None) -> Savings:
    return savings(sends, price, life)[-1]


def money(total: Savings) -> tuple[float, float, float]:
    return total.money.sent, total.money.cached, total.money.uncached


def test_without_sends_there_is_no_total():
    assert savings([], price) == []
    assert (Savings().saved, Savings().share, Money().saved) == (0, 0.0, 0.0)


def test_sends_are_cheaper_than_full_without_a_cache():
    prices = Prices(input=10.0, output=None)
    sends = [
        made(100, 300, 500, 100, 8_000, usage=Usage(1_000, 50)),
        made(100, 400, 400, 100, 9_000, usage=Usage(1_000, 50)),
    ]
    first, total = savings(sends, lambda _, usage: prices.of(usage))
    assert (first.sent, first.full, first.saved) == (1_000, 8_000, 7_000)
    assert (total.sent, total.full, total.saved, total.sends) == (2_000, 17_000, 15_000, 2)
    assert total.share == pytest.approx(15 / 17)
    assert money(total) == pytest.approx((0.020, 0.170, 0.170))
    assert total.money.saved == pytest.approx(0.150)


def test_full_can_be_cheaper_with_a_warm_cache():
    """Both first cache 2,000 tokens; then `full` reads those and adds 100, the sent window 800."""
    sends = [
        made(2_000, 0, 0, 0, 2_000, usage=Usage(2_000, 5, 0, 2_000)),
        made(200, 300, 500, 0, 2_100, usage=Usage(1_000, 5, 200, 0)),
    ]
    total = last(*sends)
    assert money(total) == pytest.approx((0.024 + 0.0002 + 0.008, 0.024 + 0.002 + 0.0012, 0.041))
    assert total.money.full == total.money.cached
    assert total.money.saved == pytest.approx(-0.005)
    assert total.saved == 1_100


@pytest.mark.parametrize(
    ("minutes", "cached"),
    [(5, 0.120 + 0.010 + 0.012), (6, 0.120 + 0.132), (None, 0.120 + 0.010 + 0.012)],
)
def test_the_cache_is_cold_after_a_pause_longer_than_its_lifetime(minutes, cached):
    later = START + timedelta(minutes=minutes) if minutes else None
    sends = [
        made(0, 0, 900, 100, 10_000, sent_at=START),
        made(0, 0, 900, 100, 11_000, sent_at=later),
    ]
    assert last(*sends, life=timedelta(minutes=5)).money.cached == pytest.approx(cached)
    assert last(*sends).money.cached == pytest.approx(0.120 + 0.010 + 0.012)


def test_without_usage_only_a_provider_that_reported_caching_is_assumed_to_cache():
    silent = [made(100, 300, 500, 100, 5_000), made(100, 400, 400, 100, 5_000)]
    assert last(*silent).money.sent == pytest.approx(0.020)
    told = made(100, 0, 0, 0, 100, usage=Usage(100, 5, 50, 0))
    amount = last(told, *silent).money.sent
    assert amount == pytest.approx(
        (0.0005 + 0.00005)  # as it was reported
        + (0.001 * 0.1 + 0.012 * 0.3 + 0.006)  # 100 again, 300 put there, 600 new
        + (0.001 * 0.4 + 0.012 * 0.1 + 0.005)  # 400 again, 100 put there, 500 new
    )


@pytest.mark.parametrize("change", [{"recent": 200}, {"recent": 900, "mode": Mode.FULL}])
def test_a_recent_block_cut_or_started_elsewhere_repeats_only_the_instructions(change):
    change = {"recent": 300, **change}
    told = made(100, 300, 0, 0, 400, usage=Usage(400, 5, 100, 0))
    second = made(100, retrieved=0, draft=0, full=5_000, **change)
    amount = last(told, second).money.sent - last(told).money.sent
    assert amount == pytest.approx(0.001 * 0.1 + 0.012 * change["recent"] / 1_000)


@pytest.mark.parametrize(
    ("change", "repeated"),
    [
        ({"recent": 200}, 1_100),
        ({"recent": 10}, 1_000),  # some were observed, and the observations are as long by chance
        ({"observations": 470, "recent": 300}, 600),
        ({"standing": 90}, 100),
        ({"document": 40}, 600),
        ({"mode": Mode.JIT}, 1_000),
    ],
)
def test_statements_before_the_turns_are_repeated_while_they_are_unchanged(change, repeated):
    sizes = {"system": 100, "standing": 500, "observations": 400, "recent": 100}
    told = made(100, 0, 0, 0, 100, usage=Usage(100, 5, 50, 0))
    mode = change.pop("mode", Mode.OBSERVE)
    first = Made(sizes, 5_000, mode=Mode.OBSERVE)
    second = Made(sizes | change, 5_000, mode=mode)
    amount = last(told, first, second).money.sent - last(told, first).money.sent
    written = second.used - repeated
    assert amount == pytest.approx(0.001 * repeated / 1_000 + 0.012 * written / 1_000)


def test_full_is_scaled_to_the_providers_counts():
    total = last(made(0, 0, 900, 100, 10_000, usage=Usage(1_200, 5)))
    assert money(total) == pytest.approx((0.012, 0.144, 0.120))
    assert total.money.full == pytest.approx(0.120)
    assert (total.sent, total.full) == (1_000, 10_000)


def test_if_full_was_sent_nothing_is_saved_or_lost():
    sends = [
        made(2_000, 0, 0, 0, 2_000, usage=Usage(2_000, 5, 0, 2_000), mode=Mode.FULL),
        made(2_000, 90, 0, 10, 2_100, usage=Usage(2_100, 5, 500, 0), mode=Mode.FULL),
    ]
    total = last(*sends)
    paid = 0.024 + 0.0005 + 0.016
    assert money(total) == pytest.approx((paid, paid, paid))
    assert (total.saved, total.money.saved) == (0, pytest.approx(0))


def test_on_another_branch_the_draft_is_never_cached():
    sends = [made(0, 0, 900, 100, 10_000), made(0, 0, 900, 100, 4_000)]
    first, total = savings(sends, price)
    added = total.money.cached - first.money.cached
    assert added == pytest.approx(0.001 * 3.9 + 0.012 * 0.1)


def test_sends_without_a_price_or_an_answer_are_counted_separately():
    sends = [
        made(0, 0, 900, 100, 10_000),
        made(0, 0, 900, 100, 10_000, model="other"),
        made(0, 0, 900, 100, 10_000, reply=None),
        made(0, 0, 900, 100, 10_000, reply=None, usage=Usage(1_000, None)),
    ]
    total = savings(sends, lambda send, usage: PRICES.of(usage) if send.model == "m" else None)[-1]
    assert (total.sends, total.unanswered, total.money.sends) == (3, 1, 2)
    assert (total.sent, total.full) == (3_000, 30_000)
    assert money(total)[2] == pytest.approx(0.200)
    unknown = savings(sends, lambda *_: None)[-1]
    assert unknown == replace(total, money=Money())


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
        assert total.saved + total.sent == sum(each.full_tokens for each in counted)
        assert total.sent == sum(sum(each.sizes.values()) for each in counted)
        assert total.money.sends == total.sends
        assert total.money.saved + total.money.sent == pytest.approx(total.money.full)
