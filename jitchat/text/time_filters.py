"""Recognise drafts that ask for what was said at a time, and for nothing else.

"What did I say last Tuesday?", "my first question", "what we discussed in March". Such a draft
names a position in the order of turns, or days on which something was said or done, and otherwise
has only words of asking. Any other content word ("about the budget") makes it a question to be
answered by words and meaning, which has no time filter. Neither has a draft that only names a day
("and for Tuesday?", "what do I have on Friday?"): turns that mention the day may answer it.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, timedelta

from jitchat.text import dates
from jitchat.text.dates import Span, number_in_words, number_of, spans_in
from jitchat.text.expressions import data, expressions, word_list
from jitchat.text.words import fold, words

_LONGEST = 160
"""Maximum characters of a draft that asks by time alone."""
_WEEK = 7
_SOME_DAYS = 2
"""Tolerance in days: two weeks ago is 12 to 16 days ago."""
_TWO_MONTHS = 62
_DIGIT = re.compile(r"\d")
_NOON = 12
_ABOUT = 1
"""Tolerance in hours: "at three" is from two to five."""
_EVER = 1
"""A day number before every real day."""


@dataclass(frozen=True, slots=True)
class TimeFilter:
    """A filter on when, by whom and in which order turns were said."""

    spans: tuple[Span, ...] = ()
    """The days, the most likely first. Empty for any day."""
    hours: tuple[int, int] | None = None
    """[first, last) in the user's time zone; None for any hour."""
    places: tuple[int, ...] = ()
    """Indices among the turns that match otherwise: 0 first, -1 last. Empty for all of them."""
    role: str = ""
    """`user` or `assistant`; empty for either."""
    is_question: bool = False
    """Whether only questions are asked for."""
    is_answer: bool = False
    """Whether the answers to the matching turns are asked for."""
    is_event: bool = False
    """Whether the draft may ask for what happened then, not for what was said."""


def time_filter_of(draft: str, today: date | None) -> TimeFilter | None:
    """Return the time filter of a draft, or None if it does not ask by time alone."""
    if not draft or len(draft) > _LONGEST:
        return None
    plain = " ".join(fold(draft).translate(_MARKS).split())
    if any(not _is_of_time(word) for word in words(plain)):
        return None
    if expressions("time_filters")["orders"].match(plain):
        return None
    places = _places(plain)
    spans = tuple(dict.fromkeys(_spans(plain, today))) if today else ()
    is_event = bool(_find("happens", plain))
    if not places and not (spans and (is_event or _find("says", plain))):
        return None
    is_answer = bool(_find("answer_to_me", plain))
    role = "user" if is_answer else _role(plain)
    is_question = bool(_find("asks", plain))
    return TimeFilter(spans, _hours(plain), places, role, is_question, is_answer, is_event)


def _find(name: str, plain: str) -> re.Match[str] | None:
    return expressions("time_filters")[name].search(plain)


_MARKS = str.maketrans(dict.fromkeys('?!.,;"“”()¿¡*_`', " "))
_ORDINAL = re.compile(r"\d{1,4}(?:st|nd|rd|th|am|pm)?|\d\d\d\d")


def _is_of_time(word: str) -> bool:
    bare = word.removesuffix("'s")
    is_listed = not word_list("words_of_time").isdisjoint((word, bare))
    return is_listed or bool(_ORDINAL.fullmatch(word))


def _role(plain: str) -> str:
    patterns = expressions("time_filters")
    rest = patterns["polite"].sub(" ", plain)
    rest = patterns["to_me"].sub(lambda match: match[0].split()[0], rest)
    if match := patterns["speaker"].search(rest):
        named = next(group for group in match.groups() if group)
        return str(data("time_filters")["speakers"].get(named, ""))
    i_said = patterns["i_said"].search(rest)
    you_said = patterns["you_said"].search(rest)
    if patterns["we_said"].search(rest) or (i_said and you_said):
        return ""
    if not i_said and (you_said or patterns["answers"].search(rest)):
        return "assistant"
    return "user" if i_said or patterns["asks"].search(rest) else ""


def _hours(plain: str) -> tuple[int, int] | None:
    if match := _find("part_of_day", plain):
        first, last = data("time_filters")["hours"][match[1]]
        return first, last
    match = _find("clock", plain)
    if match is None or not (match[2] or match[3]):
        return None
    hour = int(match[1])
    first_hour = data("time_filters")["first_hours"].get(match[3])
    if first_hour is not None:
        hour = hour % _NOON + first_hour
    return hour - _ABOUT, hour + 1 + _ABOUT


def _places(plain: str) -> tuple[int, ...]:
    """Read the positions named in the order of turns; empty if none are named."""
    for name, read in _COUNTED_PLACES.items():
        if match := _find(name, plain):
            return read(match)
    for name, places in data("time_filters")["places"].items():
        if _find(name, plain):
            return tuple(places)
    return ()


def _from_the_end(match: re.Match[str]) -> tuple[int, ...]:
    """Read "second to last", "last but one" and "penultimate"."""
    return (-max(2, number_in_words(match[1]) if match[1] else 1 + number_in_words(match[2])),)


def _ordinal(match: re.Match[str]) -> tuple[int, ...]:
    """Read "third", and "first three"."""
    return tuple(range(_count(match[2]))) if match[2] else (max(0, number_in_words(match[1]) - 1),)


def _count(written: str | None) -> int:
    return min(number_in_words(written), _LONGEST)


_COUNTED_PLACES: dict[str, Callable[[re.Match[str]], tuple[int, ...]]] = {
    "last_but": _from_the_end,
    "turns_ago": lambda match: (-max(1, number_in_words(match[1])),),
    "ordinal": _ordinal,
    "last": lambda match: tuple(range(-_count(match[1]), 0)),
}
"""How each expression is read, in the order in which they are tried."""


def _spans(plain: str, today: date) -> Iterator[Span]:
    """Read the days that a question asks for; past expressions never go beyond today."""
    ranged = _ranged(plain, today)
    if ranged is not None:
        yield ranged
        return
    yield from _past(plain, today)
    yield from _named_days(plain, today)
    yield from spans_in(plain, today)


def days_asked(text: str, today: date) -> Span | None:
    """Read the day or range of days that a text names; None if it names none."""
    plain = " ".join(fold(text).translate(_MARKS).split())
    return next(_spans(plain, today), None)


def _ranged(plain: str, today: date) -> Span | None:
    """Read a range of days of which one or both ends are named; None if there is none."""
    if match := _find("between", plain):
        last = _first_span(match[2], today)
        first = _first_span(match[1], today)
        if last and match[1].isdecimal():  # between 10 and 12 February
            first = Span(last.first - last.first % 100 + int(match[1]), last.last)
        if first and last and first.first <= last.last:
            return Span(first.first, last.last)
    for name in ("since", "after", "before"):
        match = _find(name, plain)
        span = _first_span(match[1], today) if match else None
        if span is not None:
            if name == "before":
                return Span(_EVER, span.first - 1)
            first_day = span.first if name == "since" else span.last + 1
            return Span(first_day, number_of(today))
    return None


def _first_span(written: str, today: date) -> Span | None:
    """Read the days of one end of a range; a date without a year is the most recent one."""
    spans = [*_past(written, today), *_named_days(written, today), *spans_in(written, today)]
    return dates.latest(spans[0], today) if spans else None


def _past(plain: str, today: date) -> Iterator[Span]:
    """Read days counted back from today."""
    if match := _find("weeks_ago", plain):
        yield from _units_ago(match[1], match[2], today)
    elif match := _find("past", plain):
        # "last week" is a calendar week, and "last month" a calendar month: see `spans_in`
        unit = match[2]
        if match[1] or match[0].startswith("past") or unit in ("day", "hour", "minute"):
            yield _days(today, _counted_days(match[1], unit), 0)
    for name, (first, last) in data("time_filters")["stretches"].items():
        if _find(name, plain):
            yield _days(today, first, last)


def _units_ago(count: str, unit: str, today: date) -> Iterator[Span]:
    days = _counted_days(count, unit)
    tolerance = _SOME_DAYS if unit == "week" else int("few" in count or "couple" in count)
    if unit != "month":
        yield _days(today, days, days)
        if tolerance:
            yield _days(today, days + tolerance, max(0, days - tolerance))


def _counted_days(count: str | None, unit: str) -> int:
    return number_in_words(count) * int(data("time_filters")["days_in"][unit])


def _named_days(plain: str, today: date) -> Iterator[Span]:
    """Read named days and months, as the most recent with that name."""
    patterns = expressions("time_filters")
    if match := _find("weekday_before_last", plain):
        yield _day(today, dates.days_since(match[1], today) + _WEEK)
        return
    for match in patterns["weekday"].finditer(plain):
        yield _day(today, dates.days_since(match[1], today))
    if _find("weekend", plain):
        back = (today.weekday() - 5) % _WEEK
        yield _days(today, back, max(0, back - 1))
    past = [today - timedelta(days=days) for days in range(_TWO_MONTHS)]
    for match in patterns["day_of_month"].finditer(plain):
        days = [day for day in past if day.day == int(match[1])]
        yield from (Span(number_of(day), number_of(day)) for day in days[:1])
    for match in patterns["year"].finditer(plain):
        yield dates.calendar_span(int(match[1]))
    if not _DIGIT.search(plain):
        for match in patterns["month"].finditer(plain):
            yield from spans_in(f"in {match[1].split()[-1]}", today)


def _day(today: date, back: int) -> Span:
    return _days(today, back, back)


def _days(today: date, first: int, last: int) -> Span:
    """Return the span from `first` days ago to `last` days ago."""
    return Span(number_of(today - timedelta(days=first)), number_of(today - timedelta(days=last)))
