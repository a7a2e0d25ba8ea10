"""A number and its noun."""

from __future__ import annotations

import pytest

from jitchat.text.figures import plural


@pytest.mark.parametrize(
    ("number", "told"), [(0, "0 turns"), (1, "1 turn"), (2, "2 turns"), (1_000, "1,000 turns")]
)
def test_only_one_is_singular(number: int, told: str):
    assert plural(number, "turn") == told
