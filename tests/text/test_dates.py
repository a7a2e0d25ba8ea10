"""Dates in a text; relative dates are resolved by the day on which the text was said."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jitchat.text.dates import dates_in, has_time_cue
from tests.examples import examples

FRIDAY = date(2026, 3, 13)
quick = examples(30)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The cutoff is 2026-05-01.", "2026-05-01"),
        ("on 5 May", "2026-05-05"),
        ("on the 5th of May, 2025", "2025-05-05"),
        ("on May 5th 2025", "2025-05-05"),
        ("on Sept. 9", "2026-09-09"),
        ("on 13 MARCH 2026", "2026-03-13"),
        ("back in March 2024", "2024-03"),
        ("today", "2026-03-13"),
        ("tonight", "2026-03-13"),
        ("yesterday", "2026-03-12"),
        ("Last night", "2026-03-12"),
        ("the day before yesterday", "2026-03-11"),
        ("tomorrow", "2026-03-14"),
        ("the day after tomorrow", "2026-03-15"),
        ("two days ago", "2026-03-11"),
        ("3 weeks ago", "2026-02-20"),
        ("a month ago", "2026-02"),
        ("four months ago", "2025-11"),
        ("5 years ago", "2021"),
        ("in two weeks", "2026-03-27"),
        ("in 10 months", "2027-01"),
        ("last Friday", "2026-03-06"),
        ("last Thursday", "2026-03-12"),
        ("last week", "week of 2026-03-02"),
        ("next weekend", "weekend of 2026-03-21"),
        ("this month", "2026-03"),
        ("next month", "2026-04"),
        ("last year", "2025"),
        ("on Friday at 15:00 UTC", "Friday 15:00 UTC"),
        ("Friday 15:00 because", "Friday 15:00"),
        ("on Mondays", "Monday"),
    ],
)
def test_a_date_is_resolved_by_the_day_of_speaking(text, expected):
    assert dates_in(text, FRIDAY) == (expected,)
    assert has_time_cue(text) or expected[:4].isdecimal()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("5 May", ("5 May",)),
        ("May 5, 2025", ("2025-05-05",)),
        ("last Friday", ("Friday",)),
        ("yesterday, last week and two days ago", ()),
    ],
)
def test_without_a_day_of_speaking_relative_words_mean_nothing(text, expected):
    assert dates_in(text, None) == expected


@pytest.mark.parametrize(
    "text",
    [
        "31 February 2025 was no day"[:11],
        "2025-02-30",
        "I think 3 may be enough",
        "the Mayor",
        "",
        "1234567",
    ],
)
def test_what_is_no_date_is_not_one(text):
    assert dates_in(text, FRIDAY) == ()


def test_dates_come_in_order_of_appearance_without_repeats():
    text = "Tomorrow, not yesterday; I said tomorrow, 14 March 2026, or Monday."
    assert dates_in(text, FRIDAY) == ("2026-03-14", "2026-03-12", "Monday")


@pytest.mark.parametrize("said_on", [date.min, date.max])
def test_the_ends_of_the_calendar_are_survived(said_on):
    for text in (
        "yesterday",
        "tomorrow",
        "999 weeks ago",
        "in 999 years",
        "last month",
        "next week",
    ):
        assert all(dates_in(text, said_on))


def test_a_number_of_many_digits_is_no_count_of_days():
    assert dates_in("9" * 5_000 + " days ago", FRIDAY) == ()


@pytest.mark.parametrize(
    "text",
    ["since then", "recently", "in the evening", "in 1999", "at 9:30", "in May", "last time"],
)
def test_words_of_time_are_cues(text):
    assert has_time_cue(text)


@pytest.mark.parametrize("text", ["you may go", "nothing of the kind", "v2 of 12", ""])
def test_other_words_are_not(text):
    assert not has_time_cue(text)


@quick
@given(st.dates(date(1, 2, 1), date(9999, 11, 30)), st.integers(0, 20))
def test_days_ago_are_counted_back(said_on, count):
    assert dates_in(f"{count} days ago", said_on) == ((said_on - timedelta(count)).isoformat(),)


@quick
@given(st.dates(date(1900, 1, 1), date(2099, 12, 31)))
def test_every_day_is_found_in_each_spelling(day):
    spellings = (day.isoformat(), f"{day:%d %B %Y}", f"{day:%B %d, %Y}", f"{day:%b %d %Y}")
    assert {dates_in(spelling, None) for spelling in spellings} == {(day.isoformat(),)}


@quick
@given(st.text("0123456789 -./:adejlmnorstuvy", max_size=60))
def test_no_text_is_too_odd(text):
    assert all(dates_in(text, FRIDAY))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("last \u017funday, not last sunday", ("2026-03-08",)),
        ("on augu\u017ft 5, or may 6", ("2026-08-05", "2026-05-06")),
        ("th\u0131s week, this week", ("week of 2026-03-09",)),
        ("in \u017fix days", ("2026-03-19",)),
        ("today, not ye\u017fterday", ("2026-03-13", "2026-03-12")),
    ],
)
def test_letters_that_only_look_like_those_of_a_date_are_read_as_them(text, expected):
    assert dates_in(text, FRIDAY) == expected
