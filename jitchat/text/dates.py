"""The dates and times that a text mentions.

Relative dates are resolved against the day on which the text was said, because a recalled
"yesterday" means nothing by itself. The expressions are in `data/dates.toml`.

A day is represented by the number YYYYMMDD, which orders as days do, or by MMDD for any year.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache, partial

from jitchat.text.expressions import data, expressions

_WORD = re.compile(r"\w++")
_DIGIT = re.compile(r"\d")
_TO_PLAIN = str.maketrans("ſıİ", "siI")
"""Letters that a case-insensitive pattern matches as ASCII letters."""


def dates_in(text: str, said_on: date | None) -> tuple[str, ...]:
    """List the dates in `text`, in order of appearance, without duplicates.

    Days are ISO dates, months YYYY-MM, years YYYY; weekdays stay words. A day without a year is
    left as it is, and relative dates are omitted, if `said_on` is None.
    """
    plain = text if text.isascii() else text.translate(_TO_PLAIN)
    words = frozenset(_WORD.findall(plain.lower()))
    patterns = expressions("dates")
    matches = [
        (match.start(), -match.end(), resolve(match, said_on))
        for name, hint, resolve in _RESOLVERS
        if not _hint_words(hint).isdisjoint(words)
        for match in patterns[name].finditer(plain)
    ]
    dates: dict[str, None] = {}
    covered = 0
    for start, minus_end, resolved in sorted(matches, key=lambda match: match[:2]):
        if resolved and start >= covered:
            dates[resolved] = None
            covered = -minus_end
    return tuple(dates)


@cache
def _hint_words(hint: str) -> frozenset[str]:
    hints = data("dates")["hints"][hint]
    if isinstance(hints, list):  # the first and the last number
        return frozenset(str(number) for number in range(hints[0], hints[1] + 1))
    return frozenset(hints.split())


def has_time_cue(text: str) -> bool:
    """Return whether the text says anything about time."""
    return tells_when(text, _WORD.findall(text.lower()))


def tells_when(text: str, said: Iterable[str]) -> bool:
    """Return `has_time_cue` for a text whose words are known, in lower case."""
    return (
        not _cue_words().isdisjoint(said)
        or bool(_DIGIT.search(text) and expressions("dates")["clock_or_year"].search(text))
        or ("May" in text and bool(expressions("dates")["may"].search(text)))
    )


@cache
def _cue_words() -> frozenset[str]:
    cues = data("dates")["words"]["cues"].split()
    return frozenset(f"{cue}{ending}" for cue in cues for ending in ("", "s", "'s"))


def number_in_words(written: str | None, default: int = 1) -> int:
    """Read a number in digits or in words, such as `3`, `2nd`, `a few`, `couple of`."""
    if digits := re.match(r"\d+", written or ""):
        return int(digits[0])
    numbers = data("dates")["numbers"]
    return max(
        (numbers[word] for word in (written or "").split() if word in numbers), default=default
    )


def days_since(weekday: str, today: date) -> int:
    """Return the number of days back to the last such weekday, from 1 to 7."""
    return (today.weekday() - int(data("dates")["weekdays"][weekday]) - 1) % 7 + 1


def _calendar_date(match: re.Match[str], said_on: date | None) -> str:
    """Resolve a date with a month; a day without a year is in the year of speaking."""
    parts = match.groupdict()
    year, month, day = (parts.get(name) for name in ("year", "month", "day"))
    number = _month_number(str(month))
    if day is None:
        return f"{year}-{number:02}"
    if year is None and said_on is None:
        return f"{int(day)} {str(month).capitalize()}"
    spoken_year = said_on.year if said_on else 0
    try:
        return date(int(year or spoken_year), number, int(day)).isoformat()
    except ValueError:
        return ""


def _month_number(month: str) -> int:
    return int(month) if month.isdecimal() else int(data("dates")["months"][month.lower()])


def _day_word(match: re.Match[str], said_on: date | None) -> str:
    return _days_from(said_on, data("dates")["days_away"][match[0].lower()])


def _counted(match: re.Match[str], said_on: date | None, direction: int) -> str:
    return _away(said_on, direction * number_in_words(match[1].lower()), match[2].lower())


def _period(match: re.Match[str], said_on: date | None) -> str:
    steps, unit = data("dates")["steps"][match[1].lower()], match[2].lower()
    if said_on and unit in ("week", "weekend"):
        first = _days_from(said_on, 7 * steps - said_on.weekday() + (5 if unit == "weekend" else 0))
        return f"{unit} of {first}" if first else ""
    return _away(said_on, steps, unit)


def _last_weekday(match: re.Match[str], said_on: date | None) -> str:
    if said_on is None:
        return match[1].capitalize()
    return _days_from(said_on, -days_since(match[1].lower(), said_on))


def _weekday(match: re.Match[str], _: date | None) -> str:
    day = match[1].capitalize()
    return f"{day} {match[2]}" if match[2] else day


def _away(said_on: date | None, count: int, unit: str) -> str:
    """Return the day, month or year `count` units from the day of speaking; "" if unknown."""
    if said_on is None:
        return ""
    if unit in ("day", "week"):
        return _days_from(said_on, count * (7 if unit == "week" else 1))
    months = 12 * said_on.year + said_on.month - 1 + data("dates")["months_in"][unit] * count
    year, month = divmod(months, 12)
    if not date.min.year <= year <= date.max.year:
        return ""
    return f"{year:04}" if unit == "year" else f"{year:04}-{month + 1:02}"


def _days_from(said_on: date | None, days: int) -> str:
    try:
        return (said_on + timedelta(days=days)).isoformat() if said_on else ""
    except OverflowError:
        return ""


_Resolver = Callable[[re.Match[str], date | None], str]
_RESOLVERS: tuple[tuple[str, str, _Resolver], ...] = (
    ("iso_date", "year", _calendar_date),
    ("day_month", "month", _calendar_date),
    ("month_day", "month", _calendar_date),
    ("month_year", "month", _calendar_date),
    ("day_word", "day_word", _day_word),
    ("ago", "ago", partial(_counted, direction=-1)),
    ("ahead", "unit", partial(_counted, direction=1)),
    ("period", "period", _period),
    ("last_weekday", "last", _last_weekday),
    ("weekday", "weekday", _weekday),
)
"""The name of each expression, of its hints, and its resolver."""

YEAR_SIZE, MONTH_SIZE = 10_000, 100


@dataclass(frozen=True, slots=True)
class Span:
    """The days from `first` to `last`, inclusive."""

    first: int
    last: int
    any_year: bool = False
    """Whether the days are MMDD and the span is meant in every year."""


def number_of(day: date) -> int:
    """Return a day as the number YYYYMMDD."""
    return day.year * YEAR_SIZE + day.month * MONTH_SIZE + day.day


def spans_of(dates: Iterable[str]) -> list[Span]:
    """Parse dates in the format of `dates_in`; weekdays are left out."""
    return [span for written in dates if (span := _span(written))]


def spans_in(text: str, today: date | None) -> tuple[Span, ...]:
    """Find the days that a question names.

    A date without a year means any year. Relative dates such as "last week" need `today`.
    """
    dates = [*dates_in(text, None), *(dates_in(text, today) if today else ())]
    months = expressions("dates")["bare_month"].finditer(text)
    of_any_year = [calendar_span(0, _month_number(match["month"])) for match in months]
    return tuple(dict.fromkeys([*spans_of(dates), *of_any_year]))


def calendar_span(year: int, month: int = 0, day: int = 0) -> Span:
    """Return the span of a year, a month or a day; year 0 means any year."""
    first = year * YEAR_SIZE + month * MONTH_SIZE + day
    if day:
        return Span(first, first, any_year=not year)
    size = MONTH_SIZE if month else YEAR_SIZE
    return Span(first, first + size - 1, any_year=not year)


def latest(span: Span, today: date) -> Span:
    """Return a span of any year as the latest one that starts up to today."""
    if not span.any_year:
        return span
    is_later = span.first > number_of(today) % YEAR_SIZE
    year = (today.year - is_later) * YEAR_SIZE
    return Span(year + span.first, year + span.last)


def _span(written: str) -> Span | None:
    patterns = expressions("dates")
    if match := patterns["written_day"].fullmatch(written):
        return calendar_span(*(int(part or 0) for part in match.groups()))
    if match := patterns["written_period"].fullmatch(written):
        first = date.fromisoformat(match[2])
        last = first.toordinal() + data("dates")["days_in"][match[1]] - 1
        return Span(number_of(first), number_of(date.fromordinal(min(last, date.max.toordinal()))))
    if match := patterns["day_of_any_year"].fullmatch(written):
        return calendar_span(0, _month_number(match[2]), int(match[1]))
    return None
