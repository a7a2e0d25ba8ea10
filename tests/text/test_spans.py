"""The days that a question names."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jitchat.text.dates import Span, dates_in, number_of, spans_in, spans_of
from tests.examples import examples

SUNDAY = date(2026, 11, 22)


@pytest.mark.parametrize(
    ("text", "spans"),
    [
        ("What did we decide on 8 May 2023?", [Span(20230508, 20230508)]),
        ("What about 2023-05-08?", [Span(20230508, 20230508)]),
        ("Where was I in November 2022?", [Span(20221100, 20221199)]),
        ("What did we do in May?", [Span(500, 599, any_year=True)]),
        ("Anything since late december?", [Span(1200, 1299, any_year=True)]),
        ("What did I say yesterday?", [Span(20261121, 20261121)]),
        ("What did we do last week?", [Span(20261109, 20261115)]),
        ("And last year?", [Span(20250000, 20259999)]),
        ("May I ask what may come of it?", []),
        ("In auguſt we sang.", []),
        ("Nothing about days.", []),
    ],
)
def test_the_days_of_a_question(text, spans):
    assert list(spans_in(text, SUNDAY)) == spans


def test_a_date_without_its_year_means_any_year():
    assert Span(508, 508, any_year=True) in spans_in("What was on 8 May?", SUNDAY)
    assert spans_in("What was on 8 May?", None) == (Span(508, 508, any_year=True),)


def test_without_a_today_what_is_relative_is_no_day():
    assert spans_in("What did I say yesterday?", None) == ()


def test_a_week_at_the_end_of_time_is_cut():
    assert spans_of(["week of 9999-12-29"]) == [Span(99991229, 99991231)]


@examples(30)
@given(st.text("0123456789-ſı mayMAYdecDEC ofinlastweekthis", max_size=60), st.dates())
def test_no_text_is_too_odd(text, day):
    for span in (*spans_in(text, day), *spans_of(dates_in(text, day))):
        assert span.first <= span.last
    assert number_of(day) == int(f"{day:%Y%m%d}") or day.year < 1000
