"""Time filters of drafts that ask by time alone. Today is Wednesday, 4 March 2026."""

from __future__ import annotations

from datetime import date

import pytest

from jitchat.text.dates import Span
from jitchat.text.time_filters import TimeFilter, time_filter_of

TODAY = date(2026, 3, 4)


def asked(draft: str) -> TimeFilter:
    time_filter = time_filter_of(draft, TODAY)
    assert time_filter is not None, draft
    return time_filter


@pytest.mark.parametrize(
    ("draft", "first", "last"),
    [
        ("what did I say last Tuesday?", 20260303, 20260303),
        ("what did we talk about on Thursday?", 20260226, 20260226),
        ("what did I say on Wednesday?", 20260225, 20260225),
        ("what did you tell me yesterday?", 20260303, 20260303),
        ("what did we discuss last week?", 20260223, 20260301),
        ("what did we chat about over the weekend?", 20260228, 20260301),
        ("what did I write on 2026-02-17?", 20260217, 20260217),
        ("what was said three days ago?", 20260301, 20260301),
        ("what did you say two weeks ago?", 20260218, 20260218),
        ("my messages from the past three days", 20260301, 20260304),
        ("what did I say since Monday?", 20260302, 20260304),
        ("what did we say between Monday and Tuesday?", 20260302, 20260303),
        ("what did we say between 10 and 12 February?", 20260210, 20260212),
        ("what did we talk about after the 20th of February?", 20260221, 20260304),
        ("what did we talk about on the 5th?", 20260205, 20260205),
        ("what did I ask in 2025?", 20250000, 20259999),
        ("what did I ask this morning?", 20260304, 20260304),
        ("what did I say the Tuesday before last?", 20260224, 20260224),
        ("what did I say the day before yesterday?", 20260302, 20260302),
    ],
)
def test_days_are_named(draft: str, first: int, last: int):
    assert asked(draft).spans[0] == Span(first, last)


def test_a_month_may_be_of_any_year():
    assert asked("what did we talk about in March?").spans == (Span(300, 399, any_year=True),)


@pytest.mark.parametrize(
    ("draft", "places"),
    [
        ("the first thing I asked", (0,)),
        ("what did I ask first?", (0,)),
        ("my second message", (1,)),
        ("what was the 12th message?", (11,)),
        ("my first three questions", (0, 1, 2)),
        ("what was my last question?", (-1,)),
        ("the last two messages", (-2, -1)),
        ("what did I just ask?", (-1,)),
        ("my second to last message", (-2,)),
        ("what did I ask three messages ago?", (-3,)),
        ("what did I ask before that?", (-2, -1)),
        ("how did this conversation start?", (0, 1)),
        ("what did we talk about at the beginning?", (0, 1)),
    ],
)
def test_places_in_the_order_of_turns_are_named(draft: str, places: tuple[int, ...]):
    assert asked(draft).places == places


@pytest.mark.parametrize(
    ("draft", "role"),
    [
        ("what did I tell you yesterday?", "user"),
        ("what did you tell me yesterday?", "assistant"),
        ("can you tell me what I said yesterday?", "user"),
        ("remind me what you said yesterday", "assistant"),
        ("what did we discuss yesterday?", ""),
        ("what was said yesterday?", ""),
        ("my first message", "user"),
        ("your first answer", "assistant"),
        ("the first question", "user"),
        ("what did you reply to my first question?", "user"),
    ],
)
def test_whose_turns_are_asked_for_is_honoured(draft: str, role: str):
    assert asked(draft).role == role


@pytest.mark.parametrize(
    ("draft", "hours"),
    [
        ("what did we talk about yesterday evening?", (17, 24)),
        ("what did I say on Monday morning?", (4, 12)),
        ("what did I say yesterday at 3 pm?", (14, 17)),
        ("what did I say yesterday at 12 am?", (-1, 2)),
        ("what did I say yesterday at 12 pm?", (11, 14)),
        ("what did I say yesterday?", None),
    ],
)
def test_the_time_of_day_is_read(draft: str, hours: tuple[int, int] | None):
    assert asked(draft).hours == hours


def test_events_are_distinguished_from_statements():
    assert asked("what happened yesterday?").is_event
    assert not asked("what did I say yesterday?").is_event
    assert asked("what was the answer to my first question?").is_answer


@pytest.mark.parametrize(
    "draft",
    [
        "what did I say about the budget last Tuesday?",
        "when did I last go to the dentist?",
        "what is the first thing we did in Rome?",
        "what did Caroline do last week?",
        "what time is it?",
        "go back to the second one",
        "hello again",
        "do it now",
        "tell me again",
        "when was it?",
        "",
        "what did I say yesterday? " * 10,
    ],
)
def test_what_asks_for_anything_else_has_no_time_filter(draft: str):
    assert time_filter_of(draft, TODAY) is None


def test_without_a_day_of_asking_places_are_still_read():
    assert time_filter_of("what did I say yesterday?", None) is None
    assert time_filter_of("my first question", None) is not None


@pytest.mark.parametrize(
    "draft",
    [
        "and for Tuesday?",
        "what about Tuesday?",
        "next week",
        "what is on Friday?",
        "what do I have on Friday?",
        "how old was I in 2010?",
        "remind me on Monday",
        "write me a message for Monday",
        "write the first sentence",
        "ask me the first question",
    ],
)
def test_what_names_a_day_but_not_what_was_said_then_has_no_time_filter(draft: str):
    assert time_filter_of(draft, TODAY) is None
