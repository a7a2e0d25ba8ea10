"""The cost that is shown before anything is sent."""

from __future__ import annotations

from jitchat.bench.answers import bill
from jitchat.providers.catalogue.table import Prices


def test_the_cost_is_told_by_mode_with_what_a_reply_is_taken_for():
    loads = {"full": [2_000] * 1_000, "jit": [200] * 500}
    assert list(bill("m at here", loads, Prices(0.5, 2.0))) == [
        "m at here:",
        "  full: 1,000 requests, ~2,000,000 tokens in",
        "  jit: 500 requests, ~100,000 tokens in",
        "  cost: in $1.05, out $0.0960 (at 32 tokens per reply)",
    ]


def test_a_price_that_nobody_gave_is_unknown_and_not_nothing():
    (*_, cost) = bill("m", {"jit": [1_000_000]}, Prices(3.0, None))
    assert cost == "  cost: in $3.00, out unknown"
