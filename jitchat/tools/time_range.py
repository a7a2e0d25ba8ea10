"""Reading the days that a model asks for: a date, an interval, "last week", "2 days ago"."""

import re
from calendar import monthrange
from dataclasses import dataclass
from datetime import date

from jitchat.text.dates import YEAR_SIZE, Span
from jitchat.text.occasions import days_asked
from jitchat.text.sanitize import one_line

_BETWEEN = re.compile(r"\.\.++|/|–|—|\bto\b|\buntil\b|\band\b")
_LEAD = re.compile(r"\A(?:from|between)\s+")
_ISO = re.compile(r"(\d{4})(?:-(\d\d))?(?:-(\d\d))?(?:t\S*)?")
_MONTH_SIZE, _DECEMBER = 100, 12


@dataclass(frozen=True, slots=True)
class TimeRange:
    """From `first` to `last`, both within."""

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
        first, last = (
            day.year * YEAR_SIZE + day.month * _MONTH_SIZE + day.day
            for day in (self.first, self.last)
        )
        return Span(first, last)


def time_range(told: str, today: date) -> TimeRange | None:
    """Read days; None where they cannot be told, or their end is ahead of their start.

    An interval that is open at one end reaches from the beginning, or to today.
    """
    text = _LEAD.sub("", one_line(told).strip().lower())
    sides = [side.strip() for side in _BETWEEN.split(text)]
    if len(sides) == 2 and any(sides):
        first, last = (_one(side, today) if side else None for side in sides)
        if (sides[0] and first is None) or (sides[1] and last is None):
            return None
        begin = first.first if first else date.min
        end = last.last if last else today
        return TimeRange(begin, end) if begin <= end else None
    return _one(text, today)


def _one(text: str, today: date) -> TimeRange | None:
    match = _ISO.fullmatch(text)
    if match is None:
        span = days_asked(text, today)
        return None if span is None else _closed(span, today)
    year, month, day = (int(part) if part else 0 for part in match.groups())
    try:
        begin = date(year, month or 1, day or 1)
    except ValueError:
        return None
    return TimeRange(begin, begin if day else _last_day(year, month or _DECEMBER))


def _closed(span: Span, today: date) -> TimeRange | None:
    """Make days of a span; those of any year are of the latest one that has begun."""
    first, last = span.first, span.last
    if span.any_year:
        is_ahead = first > today.month * _MONTH_SIZE + today.day
        year = (today.year - is_ahead) * YEAR_SIZE
        first, last = year + first, year + last
    begin, end = _day(first), _day(last)
    return TimeRange(begin, end) if begin <= end else None


def _day(number: int) -> date:
    """Find the day of YYYYMMDD; of one that its month has not, the last that it has."""
    year, rest = divmod(number, YEAR_SIZE)
    month, day = divmod(rest, _MONTH_SIZE)
    if not date.min.year <= year <= date.max.year:
        return date.min if year < date.min.year else date.max
    last = _last_day(year, min(max(month, 1), _DECEMBER))
    return last.replace(day=min(max(day, 1), last.day))


def _last_day(year: int, month: int) -> date:
    return date(year, month, monthrange(year, month)[1])
