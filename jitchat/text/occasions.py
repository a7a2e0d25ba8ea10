"""Drafts that ask for what was said at a time, and for nothing else.

"What did I say last Tuesday?", "my first question", "what we discussed in March". Such a draft
names a place in the order of the turns, or days and that something was said or done then, and
beside them only words that ask. One word of another kind ("about the budget") makes it a question
that words and meaning answer; then it is no occasion. Nor is what only names a day ("and for
Tuesday?", "what do I have on Friday?"): turns that speak of the day may answer it.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache

from jitchat.text.dates import YEAR_SIZE, Span, number_of, spans_in
from jitchat.text.expressions import data, expressions
from jitchat.text.words import fold, words

_LONGEST = 160
"""Characters of a draft that asks by time alone."""
_WEEK = 7
_SOME_DAYS = 2
"""Two weeks ago is 12 to 16 days ago."""
_NAMED_STRETCHES = {"other_day": (8, 2), "recently": (_WEEK, 0), "today": (0, 0)}
"""From so many days ago to so many."""
_TWO_MONTHS = 62
_HOURS = ("hour", "minute")
_DIGIT = re.compile(r"\d")
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_NOON = 12
_HALVES = {"am": 0, "pm": _NOON}
"""Of the day: where each begins. 12 am is midnight."""
_ABOUT = 1
"""Hours: at three is from two to five."""
_EVER = 1
"""Before every day."""


@dataclass(frozen=True, slots=True)
class Occasion:
    """When something was said."""

    spans: tuple[Span, ...] = ()
    """The days; those ahead are meant more likely. Empty for any."""
    hours: tuple[int, int] | None = None
    """From the first to ahead of the second, in the user's time zone; None for any."""
    places: tuple[int, ...] = ()
    """Among the turns that are left: 0 for the first, -1 for the last. Empty for all."""
    role: str = ""
    """`user` or `assistant`; empty where either may have said it."""
    is_question: bool = False
    """Whether it was asked."""
    is_answer: bool = False
    """Whether the answer to it is asked for."""
    is_event: bool = False
    """Whether it may be what happened then, not what was said."""


def occasion_of(draft: str, today: date | None) -> Occasion | None:
    """Read when what a draft asks for was said; None where it asks for anything else, too."""
    if not draft or len(draft) > _LONGEST:
        return None
    plain = " ".join(fold(draft).translate(_MARKS).split())
    if any(not _is_of_time(word) for word in words(plain)):
        return None
    found = expressions("occasions")
    if found["orders"].match(plain):
        return None
    places = _places(plain)
    spans = tuple(dict.fromkeys(_spans(plain, today))) if today else ()
    is_event = bool(found["happens"].search(plain))
    if not places and not (spans and (is_event or found["says"].search(plain))):
        return None
    is_answer = bool(found["answer_to_me"].search(plain))
    return Occasion(
        spans,
        _hours(plain),
        places,
        role="user" if is_answer else _role(plain),
        is_question=bool(found["asks"].search(plain)),
        is_answer=is_answer,
        is_event=is_event,
    )


_MARKS = str.maketrans(dict.fromkeys('?!.,;"“”()¿¡*_`', " "))
_ORDINAL = re.compile(r"\d{1,4}(?:st|nd|rd|th|am|pm)?|\d\d\d\d")


@cache
def _of_time() -> frozenset[str]:
    lists = data("occasions")["words"]
    return frozenset((*lists["frame"].split(), *lists["time"].split()))


def _is_of_time(word: str) -> bool:
    bare = word.removesuffix("'s")
    return bare in _of_time() or word in _of_time() or bool(_ORDINAL.fullmatch(word))


def _role(plain: str) -> str:
    found = expressions("occasions")
    rest = found["to_me"].sub(lambda match: match[0].split()[0], found["polite"].sub(" ", plain))
    if match := found["speaker"].search(rest):
        named = next(filter(None, match.groups()))
        return {"i": "user", "my": "user", "you": "assistant", "your": "assistant"}.get(named, "")
    said = {name: bool(found[name].search(rest)) for name in ("i_said", "you_said", "we_said")}
    if said["we_said"] or (said["i_said"] and said["you_said"]):
        return ""
    if said["i_said"]:
        return "user"
    if said["you_said"] or found["answers"].search(rest):
        return "assistant"
    return "user" if found["asks"].search(rest) else ""


def _hours(plain: str) -> tuple[int, int] | None:
    found = expressions("occasions")
    if match := found["part_of_day"].search(plain):
        first, last = data("occasions")["hours"][match[1]]
        return first, last
    match = found["clock"].search(plain)
    if match is None or not (match[2] or match[3]):
        return None
    hour = int(match[1])
    if match[3] in _HALVES:
        hour = hour % _NOON + _HALVES[match[3]]
    return hour - _ABOUT, hour + 1 + _ABOUT


def _number(told: str | None, otherwise: int = 1) -> int:
    if not told:
        return otherwise
    if digits := re.match(r"\d+", told):
        return int(digits[0])
    known = data("occasions")["numbers"]
    named = [known[word] for word in told.split() if word in known]
    return max(named, default=otherwise)


def _places(plain: str) -> tuple[int, ...]:
    """Read the places in the order of turns; empty where none is named."""
    found = expressions("occasions")
    for name, read in _PLACES.items():
        if match := found[name].search(plain):
            return read(match)
    return ()


def _from_the_end(match: re.Match[str]) -> tuple[int, ...]:
    """Read "second to last", "last but one" and "penultimate"."""
    return (-max(2, _number(match[1]) if match[1] else 1 + _number(match[2])),)


def _ordinal(match: re.Match[str]) -> tuple[int, ...]:
    """Read "third", and "first three"."""
    return tuple(range(_count(match[2]))) if match[2] else (max(0, _number(match[1]) - 1),)


def _count(told: str | None) -> int:
    return min(_number(told), _LONGEST)


_PLACES: dict[str, Callable[[re.Match[str]], tuple[int, ...]]] = {
    "last_but": _from_the_end,
    "turns_ago": lambda match: (-max(1, _number(match[1])),),
    "ordinal": _ordinal,
    "last": lambda match: tuple(range(-_count(match[1]), 0)),
    "before_that": lambda _: (-2, -1),
    "beginning": lambda _: (0, 1),
    "just": lambda _: (-1,),
    "first_of_all": lambda _: (0,),
    "last_of_all": lambda _: (-1,),
}
"""What each expression says, the first that matches."""


def _spans(plain: str, today: date) -> Iterator[Span]:
    """Read the days that a question asks for, all of them before tomorrow."""
    ranged = _ranged(plain, today)
    if ranged is not None:
        yield ranged
        return
    yield from _past(plain, today)
    yield from _named_days(plain, today)
    yield from spans_in(plain, today)


def days_asked(text: str, today: date) -> Span | None:
    """Read the days that a text names, which may be a range; None where it names none."""
    plain = " ".join(fold(text).translate(_MARKS).split())
    return next(_spans(plain, today), None)


def _ranged(plain: str, today: date) -> Span | None:
    """Read from when to when, where both or one of them is told."""
    found, now = expressions("occasions"), number_of(today)
    if match := found["between"].search(plain):
        last = _first_span(match[2], today)
        first = _first_span(match[1], today)
        if last and match[1].isdecimal():  # between 10 and 12 February
            first = Span(last.first - last.first % 100 + int(match[1]), last.last)
        if first and last and first.first <= last.last:
            return Span(first.first, last.last)
    for name in ("since", "after", "before"):
        match = found[name].search(plain)
        span = _first_span(match[1], today) if match else None
        if span is not None:
            if name == "since":
                return Span(span.first, now)
            return Span(span.last + 1, now) if name == "after" else Span(_EVER, span.first - 1)
    return None


def _first_span(told: str, today: date) -> Span | None:
    """Read the days of one side of a range; those of an open year are the latest."""
    spans = [*_past(told, today), *_named_days(told, today), *spans_in(told, today)]
    if not spans:
        return None
    span = spans[0]
    if not span.any_year:
        return span
    year = today.year - (span.first > number_of(today) % YEAR_SIZE)
    return Span(year * YEAR_SIZE + span.first, year * YEAR_SIZE + span.last)


def _past(plain: str, today: date) -> Iterator[Span]:
    """Read days that are counted back from today."""
    found = expressions("occasions")
    if match := found["weeks_ago"].search(plain):
        yield from _units_ago(match[1], match[2], today)
    elif match := found["past"].search(plain):
        # "last week" is one that began on a Monday, and "last month" has a name
        is_counted = match[1] or match[0].startswith("past") or match[2] in _HOURS
        days = _counted_days(match[1], match[2])
        if is_counted or match[2] == "day":
            yield _days(today, days, 0)
    for name, (first, last) in _NAMED_STRETCHES.items():
        if found[name].search(plain):
            yield _days(today, first, last)


def _units_ago(told: str, unit: str, today: date) -> Iterator[Span]:
    days = _counted_days(told, unit)
    vague = _SOME_DAYS if unit == "week" else int("few" in told or "couple" in told)
    if unit != "month":
        yield _days(today, days, days)
        if vague:
            yield _days(today, days + vague, max(0, days - vague))


def _counted_days(told: str | None, unit: str) -> int:
    return 0 if unit in _HOURS else _number(told) * {"day": 1, "week": _WEEK, "month": 31}[unit]


def _named_days(plain: str, today: date) -> Iterator[Span]:
    """Read days and months that have a name, the latest of that name."""
    found = expressions("occasions")
    if match := found["weekday_before_last"].search(plain):
        yield _days(today, *[_back_to(match[1], today) + _WEEK] * 2)
        return
    for match in found["weekday"].finditer(plain):
        yield _days(today, *[_back_to(match[1], today)] * 2)
    if found["weekend"].search(plain):
        back = (today.weekday() - 5) % _WEEK
        yield _days(today, back, max(0, back - 1))
    numbers = (int(match[1]) for match in found["day_of_month"].finditer(plain))
    days = filter(None, (_latest(number, today) for number in numbers))
    yield from (Span(number_of(day), number_of(day)) for day in days)
    years = (int(match[1]) for match in found["year"].finditer(plain))
    yield from (Span(year * YEAR_SIZE, (year + 1) * YEAR_SIZE - 1) for year in years)
    if not _DIGIT.search(plain):
        for match in found["month"].finditer(plain):
            yield from spans_in(f"in {match[1].split()[-1]}", today)


def _back_to(weekday: str, today: date) -> int:
    """Count the days back to the last day of that name, at least one."""
    return (today.weekday() - _WEEKDAYS.index(weekday) - 1) % _WEEK + 1


def _latest(day: int, today: date) -> date | None:
    """Find the latest day with a number in its month, today at the latest."""
    ahead = (today - timedelta(days=days) for days in range(_TWO_MONTHS))
    return next((each for each in ahead if each.day == day), None)


def _days(today: date, first: int, last: int) -> Span:
    """Make the span from so many days ago to so many."""
    return Span(number_of(today - timedelta(days=first)), number_of(today - timedelta(days=last)))
