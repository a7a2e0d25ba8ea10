"""Days as models write them."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jitchat.tools.time_range import TimeRange, time_range

TODAY = date(2026, 11, 24)


@pytest.mark.parametrize(
    ("told", "understood"),
    [
        ("2026-02-16", "2026-02-16"),
        ("2026-02-16..2026-02-22", "2026-02-16 to 2026-02-22"),
        ("2026-02-16/2026-02-22", "2026-02-16 to 2026-02-22"),
        ("from 2026-02-16T10:00:00Z to 2026-02-17", "2026-02-16 to 2026-02-17"),
        ("between 2026-02-16 and 2026-02-17", "2026-02-16 to 2026-02-17"),
        ("16 February to 22 February", "2026-02-16 to 2026-02-22"),
        ("2026-02", "2026-02-01 to 2026-02-28"),
        ("2024-02", "2024-02-01 to 2024-02-29"),
        ("2025", "2025-01-01 to 2025-12-31"),
        ("..2026-03-01", "the beginning to 2026-03-01"),
        ("2026-11-01..", "2026-11-01 to 2026-11-24"),
        ("since Monday", "2026-11-23 to 2026-11-24"),
        ("last week", "2026-11-16 to 2026-11-22"),
        ("Last Month", "2026-10-01 to 2026-10-31"),
        ("2 days ago", "2026-11-22"),
        ("yesterday", "2026-11-23"),
        ("in March", "2026-03-01 to 2026-03-31"),
        ("in December", "2025-12-01 to 2025-12-31"),
    ],
)
def test_an_interval_is_told_as_it_was_understood(told, understood):
    assert str(time_range(told, TODAY)) == understood


@pytest.mark.parametrize(
    "told", ["soon", "", "2026-13-01", "2026-02-30", "2026-03-02..2026-03-01", "a..b", "/"]
)
def test_what_is_unclear_is_no_interval(told):
    assert time_range(told, TODAY) is None


@given(st.text(max_size=60))
def test_nothing_that_a_model_writes_is_too_odd(told):
    found = time_range(told, TODAY)
    assert found is None or found.first <= found.last


@given(st.dates(), st.dates())
def test_an_interval_of_dates_is_what_it_says(one, other):
    first, last = sorted((one, other))
    assert time_range(f"{first}..{last}", TODAY) == TimeRange(first, last)
