"""Prices of tokens; an unknown price is never zero."""

from __future__ import annotations

import pytest

from jitchat.providers.catalogue.table import Prices
from jitchat.values import Usage

EACH = Prices(input=1.0, output=10.0, cached=0.1, written=1.25)
M = 1_000_000


@pytest.mark.parametrize(
    ("usage", "dollars"),
    [
        (Usage(M, 0), 1.0),
        (Usage(0, M), 10.0),
        (Usage(M, M), 11.0),
        (Usage(M, 0, cached_tokens=M), 0.1),
        (Usage(M, 0, written_tokens=M), 1.25),
        (Usage(4 * M, M, cached_tokens=M, written_tokens=M), 2.0 + 0.1 + 1.25 + 10.0),
        (Usage(M, M, reasoning_tokens=M), 11.0),
        (Usage(M, 0, cached_tokens=2 * M), 0.1),
        (Usage(M, 0, cached_tokens=M, written_tokens=M), 0.1),
        (Usage(0, 0), 0.0),
    ],
)
def test_each_token_is_charged_once_at_its_own_price(usage, dollars):
    assert EACH.of(usage) == pytest.approx(dollars)


def test_where_a_caches_prices_are_not_known_its_tokens_cost_as_any_input():
    plain = Prices(1.0, 10.0)
    assert plain.of(Usage(3 * M, 0, cached_tokens=M, written_tokens=M)) == pytest.approx(3.0)


def test_what_costs_nothing_is_not_what_is_unknown():
    assert Prices(0.0, 0.0).of(Usage(5, 5)) == 0.0
    assert Prices(1.0, 10.0, cached=0.0).of(Usage(M, 0, cached_tokens=M)) == 0.0


@pytest.mark.parametrize(
    ("prices", "usage"),
    [
        (EACH, Usage(None, 5)),
        (EACH, Usage(5, None)),
        (Prices(None, 10.0), Usage(5, 5)),
        (Prices(1.0, None), Usage(5, 5)),
        (Prices(None, None, cached=0.1), Usage(5, 0)),
    ],
)
def test_what_is_missing_makes_the_whole_unknown(prices, usage):
    assert prices.of(usage) is None


def test_a_price_that_nothing_is_charged_at_is_not_missed():
    assert Prices(None, 10.0).of(Usage(0, M)) == pytest.approx(10.0)
    assert Prices(1.0, None).of(Usage(M, 0)) == pytest.approx(1.0)
    assert Prices(None, None, cached=0.5).of(Usage(M, 0, cached_tokens=M)) == pytest.approx(0.5)


def test_the_input_that_is_about_to_be_sent_has_a_price():
    assert EACH.of_input(2 * M) == pytest.approx(2.0)
    assert Prices(None, 1.0).of_input(1) is None


def test_above_a_threshold_the_whole_request_costs_more():
    tiered = Prices(
        1.0, 2.0, above=((200, Prices(10.0, 20.0)), (400, Prices(100.0, 200.0, cached=50.0)))
    )
    assert tiered.of_input(200) == pytest.approx(200 / M)
    assert tiered.of_input(201) == pytest.approx(2_010 / M)
    assert tiered.of(Usage(500, 1, cached_tokens=100)) == pytest.approx(45_200 / M)
