"""Parses days as people and models write them: a date, an interval, "last week", "2 days ago"."""

import re
from calendar import monthrange
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, timedelta
from functools import partial

from jitchat.text.dates import MONTH_SIZE, YEAR_SIZE, Span, calendar_span, latest, number_of
from jitchat.text.expressions import data, expressions
from jitchat.text.sanitize import one_line
from jitchat.text.time_filters import days_asked

_DECEMBER, _WEEK, _ALMOST_A_YEAR = 12, 7, 364
_ONE_DIGIT = re.compile(r"-(\d)(?!\d)")


@dataclass(frozen=True, slots=True)
class TimeRange:
    """The days from `first` to `last`, inclusive."""

    first: date
    last: date

    def __str__(self) -> str:
        if self.first == self.last:
            return f"{self.first}"
        return f"{'the beginning' if self.first == date.min else self.first} to {self.last}"

    def __contains__(self, day: date) -> bool:
        return self.first <= day <= self.last

    @property
    def span(self) -> Span:
        return Span(number_of(self.first), number_of(self.last))


_EVER = TimeRange(date.min, date.min)


def time_range(written: str, today: date) -> TimeRange | None:
    """Parse a range of days; None if it cannot be understood.

    An interval that is open at one end reaches from the beginning, or to today. An interval in
    reverse order is reversed.
    """
    patterns = expressions("time_range")
    text = _spelled(one_line(written).strip().lower())
    days = patterns["iso_day"].findall(text)
    sides = [side.strip() for side in patterns["between"].split(patterns["lead"].sub("", text))]
    if len(sides) == 1 and len(days) == 2:
        sides = days
    if len(sides) == 2 and any(sides):
        return _interval(sides[0], sides[1], today)
    return _one(sides[0], today) if len(sides) == 1 and len(days) < 2 else None


def _spelled(text: str) -> str:
    """Replace other notations of days and of lengths of time by those that are parsed."""
    patterns = expressions("time_range")
    for name, plain in data("time_range")["spellings"].items():
        text = patterns[name].sub(partial(_with_two_digits, plain), text)
    for name, rule in data("time_range")["lengths"].items():
        text = patterns[name].sub(partial(_length, rule), text)
    return text


def _length(rule: tuple[int, int, str], match: re.Match[str]) -> str:
    times, per, unit = rule
    return f"last {-(-int(match[1]) * times // per)} {unit}"


def _with_two_digits(plain: str, match: re.Match[str]) -> str:
    return _ONE_DIGIT.sub(r"-0\1", match.expand(plain))


def _interval(begin: str, end: str, today: date) -> TimeRange | None:
    begin, end = _with_month(begin, end), _with_month(end, begin)
    last = _one(end, today) if end else TimeRange(today, today)
    if last is None:
        return None
    # 16 February to 22 February 2025: both dates are in the year of the end
    has_year = expressions("time_range")["year"].search
    known = has_year(end) and not has_year(begin)
    first = _one(begin, last.last if known else today) if begin else _EVER
    if first is None:
        return None
    if not end:
        return TimeRange(first.first, max(first.last, today))
    is_named = expressions("time_range")["named"].search(end)
    if last.last < first.first and is_named and not has_year(end):
        last = _following(first.first, end) or last
    return TimeRange(min(first.first, last.first), max(first.last, last.last))


def _following(first: date, end: str) -> TimeRange | None:
    """Read a named end, such as Wednesday or March, as the next one after the start."""
    for days in (_WEEK, _ALMOST_A_YEAR):
        with suppress(OverflowError):
            following = _one(end, first + timedelta(days=days))
            if following is not None and following.last >= first:
                return following
    return None


def _with_month(side: str, other: str) -> str:
    """Add the other side's month to a side that has only a day, or a day and a year."""
    patterns = expressions("time_range")
    if not patterns["bare_day"].fullmatch(side) or patterns["bare_day"].fullmatch(other):
        return side
    return patterns["day_to_replace"].sub(side, other, count=1)


def _one(text: str, today: date) -> TimeRange | None:
    try:
        return _parsed(text, today)
    except (ValueError, OverflowError):  # not in the calendar
        return None


def _parsed(text: str, today: date) -> TimeRange | None:
    patterns = expressions("time_range")
    if match := patterns["week_of"].fullmatch(text):
        return _week_of(_one(match[1], today))
    if patterns["iso_week"].fullmatch(text):
        monday = date.fromisoformat(text.upper())
        return _week_of(TimeRange(monday, monday))
    if match := patterns["iso"].fullmatch(text):
        year, month, day = (int(part or 0) for part in match.groups())
        date(year, month or 1, day or 1)  # raises ValueError
        return None if "00" in match.groups() else _days(calendar_span(year, month, day))
    span = days_asked(text, today)
    days = None if span is None else _days(latest(span, today))
    return _week_of(days) if patterns["weeks_ago"].fullmatch(text) else days


def _week_of(days: TimeRange | None) -> TimeRange | None:
    """Return the week, from Monday, of a single day."""
    if days is None or days.first != days.last:
        return None
    monday = days.first.toordinal() - days.first.weekday()
    last = min(monday + _WEEK - 1, date.max.toordinal())
    return TimeRange(date.fromordinal(max(1, monday)), date.fromordinal(last))


def _days(span: Span) -> TimeRange | None:
    begin, end = (_day(number) for number in (span.first, span.last))
    return TimeRange(begin, end) if begin <= end else None


def _day(number: int) -> date:
    """Return the day of YYYYMMDD; a day after the end of its month becomes the month's last."""
    year, rest = divmod(number, YEAR_SIZE)
    month, day = divmod(rest, MONTH_SIZE)
    if not date.min.year <= year <= date.max.year:
        return date.min if year < date.min.year else date.max
    month = min(max(month, 1), _DECEMBER)
    return date(year, month, min(max(day, 1), monthrange(year, month)[1]))
