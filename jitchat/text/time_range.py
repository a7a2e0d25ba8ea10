"""Parses days as people and models write them: a date, an interval, "last week", "2 days ago"."""

import re
from calendar import monthrange
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, timedelta

from jitchat.text.dates import MONTH_NAME, WEEKDAY_NAME, YEAR_SIZE, Span
from jitchat.text.sanitize import one_line
from jitchat.text.time_filters import days_asked

_BETWEEN = re.compile(r"\.\.++|/|–|—|\s-+\s|\b(?:to|until|till|and)\b")
_LEAD = re.compile(r"\A(?:from|between)\s+")
_ISO = re.compile(r"(\d{4})(?:-(\d\d))?(?:-(\d\d))?(?:t\S*)?")
_ISO_WEEK = re.compile(r"\d{4}-?w\d\d")
_ISO_DAY = re.compile(r"\b\d{4}-\d\d-\d\d")
_WEEK_OF = re.compile(r"(?:(?:the\s+)?week\s+of\s+)++(.+)")
_WEEKS_AGO = re.compile(r".{1,20}\sweeks?\s+ago")
_BARE_DAY = re.compile(r"\d{1,2}(?:st|nd|rd|th)?(?:,?\s+\d{4})?")
_YEAR = re.compile(r"\b\d{4}\b")
_NAMED = re.compile(rf"\b(?:{MONTH_NAME}|{WEEKDAY_NAME})s?\b")
_MONTH_SIZE, _DECEMBER = 100, 12
_WEEK, _ALMOST_A_YEAR = 7, 364
_Spelling = str | Callable[[re.Match[str]], str]


def _year_first(match: re.Match[str]) -> str:
    return f"{match[1]}-{int(match[2]):02}-{int(match[3]):02}"


def _day_first(match: re.Match[str]) -> str:
    return f"{match[3]}-{int(match[2]):02}-{int(match[1]):02}"


def _month_of_year(match: re.Match[str]) -> str:
    """Write 3/2026 and 2026-3 alike."""
    return f"{match[2] or match[3]}-{int(match[1] or match[4]):02}"


def _by_size(match: re.Match[str]) -> str:
    """Write 2/16/2026 and 16/2/2026 alike; 2/3/2026 is ambiguous and stays."""
    one, two = int(match[1]), int(match[2])
    if one == two or one > _DECEMBER:
        return _day_first(match)
    return f"{match[3]}-{one:02}-{two:02}" if two > _DECEMBER else match[0]


def _months_of_years(match: re.Match[str]) -> str:
    return f"last {12 * int(match[1])} months"


def _whole_days(match: re.Match[str]) -> str:
    return f"last {-(-int(match[1]) // 24)} days"


_SPELLINGS: tuple[tuple[re.Pattern[str], _Spelling], ...] = (
    (re.compile(r"\b(\d{4})[./-](\d{1,2})[./-](\d{1,2})\b"), _year_first),
    (re.compile(r"\A(\d{1,2})[./](\d{4})\Z|\A(\d{4})[./-]([1-9])\Z"), _month_of_year),
    (re.compile(r"\b(\d{1,2})\.\s?(\d{1,2})\.\s?(\d{4})\b"), _day_first),
    (re.compile(r"\b(\d{1,2})/(\d{1,2})/(\d{4})\b"), _by_size),
    (re.compile(r"(?<![\d-])(\d{1,2})\s*-\s*(\d{1,2})(?![\d-])"), r"\1 to \2"),
    (re.compile(r"\b(week|month|year) before last\b"), r"2 \1s ago"),
    (re.compile(r"\A(\d{1,3})\s*(?:d|days?)(?=\.\.|\Z)"), r"last \1 days"),
    (re.compile(r"\A(\d{1,2})\s*(?:w|weeks?)(?=\.\.|\Z)"), r"last \1 weeks"),
    (re.compile(r"\A(\d{1,3})\s*(?:m|mo|months?)(?=\.\.|\Z)"), r"last \1 months"),
    (re.compile(r"\A(\d{1,2})\s*(?:y|years?)(?=\.\.|\Z)"), _months_of_years),
    (re.compile(r"\A(\d{1,3})\s*(?:h|hours?)(?=\.\.|\Z)"), _whole_days),
    (re.compile(r"\b(?:last|past) (\d{2,3}) hours\b"), _whole_days),
    (re.compile(r"\b(?:early|mid|late)[ -](?=\d{4}\Z)"), ""),
)
"""Other notations of days, and the replacement for each."""


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
        first, last = (
            day.year * YEAR_SIZE + day.month * _MONTH_SIZE + day.day
            for day in (self.first, self.last)
        )
        return Span(first, last)


_EVER = TimeRange(date.min, date.min)


def time_range(written: str, today: date) -> TimeRange | None:
    """Parse a range of days; None if it cannot be understood.

    An interval that is open at one end reaches from the beginning, or to today. An interval in
    reverse order is reversed.
    """
    text = one_line(written).strip().lower()
    for spelling, plain in _SPELLINGS:
        text = spelling.sub(plain, text)
    days = _ISO_DAY.findall(text)
    sides = [side.strip() for side in _BETWEEN.split(_LEAD.sub("", text))]
    if len(sides) == 1 and len(days) == 2:
        sides = days
    if len(sides) == 2 and any(sides):
        return _interval(sides[0], sides[1], today)
    return _one(sides[0], today) if len(sides) == 1 and len(days) < 2 else None


def _interval(begin: str, end: str, today: date) -> TimeRange | None:
    begin, end = _with_month(begin, end), _with_month(end, begin)
    last = _one(end, today) if end else TimeRange(today, today)
    if last is None:
        return None
    # 16 February to 22 February 2025: both dates are in the year of the end
    known = _YEAR.search(end) and not _YEAR.search(begin)
    first = _one(begin, last.last if known else today) if begin else _EVER
    if first is None:
        return None
    if not end:
        return TimeRange(first.first, max(first.last, today))
    if last.last < first.first and _NAMED.search(end) and not _YEAR.search(end):
        last = _following(first.first, end) or last
    return TimeRange(min(first.first, last.first), max(first.last, last.last))


def _following(first: date, end: str) -> TimeRange | None:
    """Read a named end, such as Wednesday or March, as the next one after the start."""
    for days in (_WEEK, _ALMOST_A_YEAR):
        with suppress(OverflowError):
            found = _one(end, first + timedelta(days=days))
            if found is not None and found.last >= first:
                return found
    return None


def _with_month(side: str, other: str) -> str:
    """Add the other side's month to a side that has only a day, or a day and a year."""
    if not _BARE_DAY.fullmatch(side) or _BARE_DAY.fullmatch(other):
        return side
    return re.sub(r"(?<![\d-])\d{1,2}(?:st|nd|rd|th)?(?![\d-])", side, other, count=1)


def _one(text: str, today: date) -> TimeRange | None:
    if match := _WEEK_OF.fullmatch(text):
        return _week_of(_one(match[1], today))
    if _ISO_WEEK.fullmatch(text):
        return _week_of(_iso(text.upper()))
    match = _ISO.fullmatch(text)
    if match is None:
        found = _named(text, today)
        return _week_of(found) if _WEEKS_AGO.fullmatch(text) else found
    if "00" in match.groups():
        return None
    year, month, day = (int(part) if part else 0 for part in match.groups())
    try:
        begin = date(year, month or 1, day or 1)
    except ValueError:
        return None
    return TimeRange(begin, begin if day else _last_day(year, month or _DECEMBER))


def _named(text: str, today: date) -> TimeRange | None:
    """Read days in words; None also if they are outside the calendar's range."""
    try:
        span = days_asked(text, today)
    except OverflowError:
        return None
    return None if span is None else _closed(span, today)


def _iso(text: str) -> TimeRange | None:
    try:
        day = date.fromisoformat(text)
    except ValueError:
        return None
    return TimeRange(day, day)


def _week_of(found: TimeRange | None) -> TimeRange | None:
    """Return the week, from Monday, of a single day."""
    if found is None or found.first != found.last:
        return None
    monday = found.first.toordinal() - found.first.weekday()
    last = min(monday + _WEEK - 1, date.max.toordinal())
    return TimeRange(date.fromordinal(max(1, monday)), date.fromordinal(last))


def _closed(span: Span, today: date) -> TimeRange | None:
    """Convert a span to days; a span of any year is read as its latest start up to today."""
    first, last = span.first, span.last
    if span.any_year:
        is_later = first > today.month * _MONTH_SIZE + today.day
        year = (today.year - is_later) * YEAR_SIZE
        first, last = year + first, year + last
    begin, end = _day(first), _day(last)
    return TimeRange(begin, end) if begin <= end else None


def _day(number: int) -> date:
    """Return the day of YYYYMMDD; a day after the end of its month becomes the month's last."""
    year, rest = divmod(number, YEAR_SIZE)
    month, day = divmod(rest, _MONTH_SIZE)
    if not date.min.year <= year <= date.max.year:
        return date.min if year < date.min.year else date.max
    last = _last_day(year, min(max(month, 1), _DECEMBER))
    return last.replace(day=min(max(day, 1), last.day))


def _last_day(year: int, month: int) -> date:
    return date(year, month, monthrange(year, month)[1])
