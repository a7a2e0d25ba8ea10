"""Small amounts keep their digits, and an unknown amount is never shown as nothing."""

from __future__ import annotations

import pytest

from jitchat.synthesis.passes import saving_sentence
from jitchat.text.figures import cost_of, dollars, less, total_of


@pytest.mark.parametrize(
    ("amount", "shown"),
    [
        (0.0, "$0.00"),
        (1e-9, "<$0.0001"),
        (0.000_099_9, "<$0.0001"),
        (0.000_1, "$0.0001"),
        (0.004_06, "$0.0041"),
        (0.25, "$0.25"),
        (1.25, "$1.25"),
        (1_234.5, "$1,234.50"),
        (None, "unknown"),
    ],
)
def test_an_amount_is_shown_with_the_digits_that_matter(amount: float | None, shown: str):
    assert dollars(amount) == shown


def test_an_unknown_cost_is_shown_as_unknown():
    assert (cost_of(None), cost_of(0.0041)) == ("cost unknown", "$0.0041")


@pytest.mark.parametrize(
    ("amount", "unknown", "shown"),
    [
        (0.0, 0, ""),
        (0.12, 0, "$0.12"),
        (0.12, 3, "$0.12 + 3 unknown"),
        (0.0, 3, "cost unknown"),
        (1e-9, 1, "<$0.0001 + 1 unknown"),
    ],
)
def test_a_sum_says_what_is_missing_in_it(amount: float, unknown: int, shown: str):
    assert total_of(amount, unknown) == shown


@pytest.mark.parametrize(
    ("share", "told"), [(0.672, "67 % less"), (0.0, "0 % less"), (-0.69, "69 % more")]
)
def test_a_saving_below_nothing_is_more_and_not_a_negative_less(share: float, told: str):
    assert less(share, ".0%").replace("%", " %") == told
    assert "-" not in saving_sentence(1_000, round(1_000 * (1 - share)), None)
