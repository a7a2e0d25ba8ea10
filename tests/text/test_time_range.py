"""Days as models write them."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jitchat.text.time_range import TimeRange, time_range

WORDS = [
    *("16", "22", "3", "7d", "two", "2026", "2026-02-16", "2/16/2026", "16.2.2026", "2026-w08"),
    *("9999-12-31", "0001-01-01", "-", "..", "/", "to", "and", "from", "since", "before", "of"),
    *("ago", "last", "week", "weeks", "month", "year", "monday", "friday", "feb", "december"),
]
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
        ("2026-02-22..2026-02-16", "2026-02-16 to 2026-02-22"),
        ("2026-02-16 - 2026-02-22", "2026-02-16 to 2026-02-22"),
        ("2026-02-16, 2026-02-22", "2026-02-16 to 2026-02-22"),
        ("16.02.2026 – 22.2.2026", "2026-02-16 to 2026-02-22"),
        ("2/16/2026", "2026-02-16"),
        ("16/2/2026", "2026-02-16"),
        ("2026/02/16", "2026-02-16"),
        ("16-22 Feb", "2026-02-16 to 2026-02-22"),
        ("Feb 16–22, 2025", "2025-02-16 to 2025-02-22"),
        ("between 16 and 18 February", "2026-02-16 to 2026-02-18"),
        ("16 February to 22 February 2025", "2025-02-16 to 2025-02-22"),
        ("20 November to 5 December", "2026-11-20 to 2026-12-05"),
        ("December to February", "2025-12-01 to 2026-02-28"),
        ("Monday to Tuesday", "2026-11-23 to 2026-11-24"),
        ("2026-W08", "2026-02-16 to 2026-02-22"),
        ("week of 2026-02-18", "2026-02-16 to 2026-02-22"),
        ("two weeks ago", "2026-11-09 to 2026-11-15"),
        ("the week before last", "2026-11-09 to 2026-11-15"),
        ("the day before yesterday", "2026-11-22"),
        ("before yesterday", "the beginning to 2026-11-22"),
        ("last 24 hours", "2026-11-23 to 2026-11-24"),
        ("7d", "2026-11-17 to 2026-11-24"),
        ("2026-12-01..", "2026-12-01"),
        ("late 2025", "2025-01-01 to 2025-12-31"),
    ],
)
def test_an_interval_is_told_as_it_was_understood(told, understood):
    assert str(time_range(told, TODAY)) == understood


@pytest.mark.parametrize(
    "told",
    [
        *("soon", "", "2026-13-01", "2026-02-30", "a..b", "/", "2026-54", "2026-w60", "99d 3"),
        *("2/3/2026", "31.2.2026", "2026-02-16, 2026-02-18, 2026-02-20"),
    ],
)
def test_what_is_unclear_is_no_interval(told):
    assert time_range(told, TODAY) is None


def test_a_week_can_be_named_any_number_of_times() -> None:
    assert str(time_range(f"{'week of ' * 5_000}2026-02-18", TODAY)) == "2026-02-16 to 2026-02-22"


@given(st.text(max_size=60))
def test_nothing_that_a_model_writes_is_too_odd(told):
    found = time_range(told, TODAY)
    assert found is None or found.first <= found.last


@given(st.lists(st.sampled_from(WORDS), max_size=7).map(" ".join), st.dates())
def test_nothing_that_is_made_of_words_of_time_is_too_odd(told, today):
    found = time_range(told, today)
    assert found is None or found.first <= found.last


@given(st.dates(), st.dates())
def test_an_interval_of_dates_is_what_it_says(one, other):
    first, last = sorted((one, other))
    assert time_range(f"{first}..{last}", TODAY) == TimeRange(first, last)
