"""The dates and times that a text mentions.

Relative dates are resolved against the day on which the text was said, because a recalled
"yesterday" means nothing by itself.

A day is represented by the number YYYYMMDD, which orders as days do, or by MMDD for any year.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date, timedelta

_MONTHS = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
MONTH_NUMBER = {name: number for number, name in enumerate(_MONTHS, start=1)}
MONTH_NUMBER |= {name[:3]: number for name, number in MONTH_NUMBER.items()} | {"sept": 9}
"""The number of a month, by its name or abbreviation in lower case."""
_NUMBER = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6}
_MONTHS_IN = {"month": 1, "year": 12}
_DAYS_AWAY = {
    "the day before yesterday": -2,
    "yesterday": -1,
    "last night": -1,
    "today": 0,
    "tonight": 0,
    "tomorrow": 1,
    "the day after tomorrow": 2,
}

MONTH_NAME = "|".join(sorted(MONTH_NUMBER, key=len, reverse=True))
WEEKDAY_NAME = "|".join(_WEEKDAYS)
_YEAR = r"(?:19|20)\d\d"
_COUNT = r"\d{1,3}|an?|one|two|three|four|five|six"
_ISO_DATE = re.compile(rf"\b({_YEAR})-(0\d|1[0-2])-([0-2]\d|3[01])\b")
_DAY_MONTH = re.compile(
    rf"\b(\d{{1,2}})(?:st|nd|rd|th)?(?:\s+of)?\s+({MONTH_NAME})\b"
    rf"(?!\s+(?:be|have|not|need|also|well|still)\b)\.?,?(?:\s+({_YEAR})\b)?",
    re.IGNORECASE,
)
_MONTH_DAY = re.compile(
    rf"\b({MONTH_NAME})\.?\s+(\d{{1,2}})(?:st|nd|rd|th)?\b(?!:)(?:,?\s+({_YEAR})\b)?", re.IGNORECASE
)
_MONTH_YEAR = re.compile(rf"\b({MONTH_NAME})\.?,?\s+({_YEAR})\b", re.IGNORECASE)
_DAY_WORD = re.compile(rf"\b(?:{'|'.join(_DAYS_AWAY)})\b", re.IGNORECASE)
_AGO = re.compile(rf"\b({_COUNT})\s+(day|week|month|year)s?\s+ago\b", re.IGNORECASE)
_AHEAD = re.compile(rf"\bin\s+({_COUNT})\s+(day|week|month|year)s?\b", re.IGNORECASE)
_PERIOD = re.compile(r"\b(last|this|next)\s+(weekend|week|month|year)\b", re.IGNORECASE)
_LAST_WEEKDAY = re.compile(rf"\blast\s+({WEEKDAY_NAME})\b", re.IGNORECASE)
_WEEKDAY = re.compile(
    rf"\b({WEEKDAY_NAME})s?\b(?:\s+(?:at\s+)?(\d{{1,2}}:\d\d(?-i:\s?[A-Z]{{3,4}}\b)?))?",
    re.IGNORECASE,
)
_CUES = frozenset(
    (
        "ago", "yesterday", "today", "tonight", "tomorrow", "last", "next", "week", "month", "year",
        "since", "recently", "morning", "weekend", "evening", *_WEEKDAYS, *MONTH_NUMBER,
    )
) - {"may"}  # fmt: skip
_CUE_WORDS = frozenset(f"{cue}{ending}" for cue in _CUES for ending in ("", "s", "'s"))
_MAY = re.compile(r"\bMays?\b")
_WORD = re.compile(r"\w++")
_CLOCK_OR_YEAR = re.compile(r"\b(?:\d{4}|\d{1,2}:\d\d)s?\b")
_DIGIT = re.compile(r"\d")
_TO_PLAIN = str.maketrans("ſıİ", "siI")
"""Letters that a case-insensitive pattern matches as ASCII letters."""

_Resolver = Callable[[re.Match[str], date | None], str]


def dates_in(text: str, said_on: date | None) -> tuple[str, ...]:
    """List the dates in `text`, in order of appearance, without duplicates.

    Days are ISO dates, months YYYY-MM, years YYYY; weekdays stay words. A day without a year is
    left as it is, and relative dates are omitted, if `said_on` is None.
    """
    plain = text if text.isascii() else text.translate(_TO_PLAIN)
    said = _HINTS.intersection(_WORD.findall(plain.lower()))
    found = [
        (match.start(), match.end(), resolve(match, said_on))
        for hints, pattern, resolve in _RESOLVERS
        if not hints.isdisjoint(said)
        for match in pattern.finditer(plain)
    ]
    kept: dict[str, None] = {}
    covered = 0
    for start, stop, resolved in sorted(found, key=lambda each: (each[0], -each[1])):
        if resolved and start >= covered:
            kept[resolved] = None
            covered = stop
    return tuple(kept)


def has_time_cue(text: str) -> bool:
    """Return whether the text says anything about time."""
    return tells_when(text, _WORD.findall(text.lower()))


def tells_when(text: str, said: Iterable[str]) -> bool:
    """Return `has_time_cue` for a text whose words are known, in lower case."""
    return (
        not _CUE_WORDS.isdisjoint(said)
        or bool(_DIGIT.search(text) and _CLOCK_OR_YEAR.search(text))
        or ("May" in text and bool(_MAY.search(text)))
    )


def _dated(year: str | None, month: str, day: str, said_on: date | None) -> str:
    if year is None and said_on is None:
        return f"{int(day)} {month.capitalize()}"
    number = int(year) if year else said_on.year if said_on else 0
    return _spelled(number, MONTH_NUMBER[month.lower()], int(day))


def _spelled(year: int, month: int, day: int) -> str:
    try:
        return date(year, month, day).isoformat()
    except ValueError:
        return ""


def _period(match: re.Match[str], said_on: date | None) -> str:
    steps = {"last": -1, "this": 0, "next": 1}[match[1].lower()]
    unit = match[2].lower()
    if said_on and unit in ("week", "weekend"):
        first = _days_from(said_on, 7 * steps - said_on.weekday() + (5 if unit == "weekend" else 0))
        return f"{unit} of {first}" if first else ""
    return _away(said_on, steps, unit)


def _last_weekday(match: re.Match[str], said_on: date | None) -> str:
    if said_on is None:
        return match[1].capitalize()
    back = (said_on.weekday() - _WEEKDAYS.index(match[1].lower()) - 1) % 7 + 1
    return _days_from(said_on, -back)


def _away(said_on: date | None, count: int, unit: str) -> str:
    """Return the day, month or year `count` units from the day of speaking; "" if unknown."""
    if said_on is None:
        return ""
    if unit in ("day", "week"):
        return _days_from(said_on, count * (7 if unit == "week" else 1))
    year, month = divmod(12 * said_on.year + said_on.month - 1 + _MONTHS_IN[unit] * count, 12)
    if not date.min.year <= year <= date.max.year:
        return ""
    return f"{year:04}" if unit == "year" else f"{year:04}-{month + 1:02}"


def _days_from(said_on: date | None, days: int) -> str:
    try:
        return (said_on + timedelta(days=days)).isoformat() if said_on else ""
    except OverflowError:
        return ""


def _counted(word: str) -> int:
    return int(word) if word.isdecimal() else _NUMBER[word.lower()]


_UNITS = frozenset(f"{unit}{s}" for unit in ("day", "week", "month", "year") for s in ("", "s"))
_YEARS = frozenset(map(str, range(1900, 2100)))
_MONTHS_SAID = frozenset(MONTH_NUMBER)
_RESOLVERS: tuple[tuple[frozenset[str], re.Pattern[str], _Resolver], ...] = (
    (_YEARS, _ISO_DATE, lambda m, _: _spelled(int(m[1]), int(m[2]), int(m[3]))),
    (_MONTHS_SAID, _DAY_MONTH, lambda m, said_on: _dated(m[3], m[2], m[1], said_on)),
    (_MONTHS_SAID, _MONTH_DAY, lambda m, said_on: _dated(m[3], m[1], m[2], said_on)),
    (_MONTHS_SAID, _MONTH_YEAR, lambda m, _: f"{m[2]}-{MONTH_NUMBER[m[1].lower()]:02}"),
    (
        frozenset(("night", "yesterday", "today", "tonight", "tomorrow")),
        _DAY_WORD,
        lambda m, said_on: _days_from(said_on, _DAYS_AWAY[m[0].lower()]),
    ),
    (frozenset(("ago",)), _AGO, lambda m, said_on: _away(said_on, -_counted(m[1]), m[2].lower())),
    (_UNITS, _AHEAD, lambda m, said_on: _away(said_on, _counted(m[1]), m[2].lower())),
    (frozenset(("weekend", "week", "month", "year")), _PERIOD, _period),
    (frozenset(("last",)), _LAST_WEEKDAY, _last_weekday),
    (
        frozenset(f"{day}{s}" for day in _WEEKDAYS for s in ("", "s")),
        _WEEKDAY,
        lambda m, _: " ".join(filter(None, (m[1].capitalize(), m[2]))),
    ),
)
"""For each pattern: words of which the text must have one, the pattern, and its resolver."""
_HINTS = frozenset[str]().union(*(hints for hints, _, _ in _RESOLVERS))


YEAR_SIZE, _MONTH_SIZE = 10_000, 100
_DAY = re.compile(r"(\d{4})-(\d\d)-(\d\d)")
_PERIOD_OF = re.compile(r"(week|weekend) of (\d{4}-\d\d-\d\d)")
_DAYS_IN = {"week": 7, "weekend": 2}
_MONTH = re.compile(r"(\d{4})-(\d\d)")
_YEAR_ALONE = re.compile(r"\d{4}")
_OPEN_DAY = re.compile(r"(\d{1,2}) ([A-Z][a-z]+)")
_BARE_MONTH = re.compile(
    r"\b(?:in|during|of|since|until|by|from|to|early|mid|late|last|this)[ -]"
    rf"({MONTH_NAME})\b(?!\s+\d)",
    re.IGNORECASE | re.ASCII,
)


@dataclass(frozen=True, slots=True)
class Span:
    """The days from `first` to `last`, inclusive."""

    first: int
    last: int
    any_year: bool = False
    """Whether the days are MMDD and the span is meant in every year."""


def number_of(day: date) -> int:
    """Return a day as the number YYYYMMDD."""
    return day.year * YEAR_SIZE + day.month * _MONTH_SIZE + day.day


def spans_of(dates: Iterable[str]) -> list[Span]:
    """Parse dates in the format of `dates_in`; weekdays are left out."""
    return [span for each in dates if (span := _span(each))]


def spans_in(text: str, today: date | None) -> tuple[Span, ...]:
    """Find the days that a question names.

    A date without a year means any year. Relative dates such as "last week" need `today`.
    """
    dates = [*dates_in(text, None), *(dates_in(text, today) if today else ())]
    months = [_open(MONTH_NUMBER[match[1].lower()]) for match in _BARE_MONTH.finditer(text)]
    return tuple(dict.fromkeys([*spans_of(dates), *months]))


def _span(written: str) -> Span | None:
    if match := _DAY.fullmatch(written):
        day = int("".join(match.groups()))
        return Span(day, day)
    if match := _PERIOD_OF.fullmatch(written):
        first = date.fromisoformat(match[2])
        last = first.toordinal() + _DAYS_IN[match[1]] - 1
        return Span(number_of(first), number_of(date.fromordinal(min(last, date.max.toordinal()))))
    if match := _MONTH.fullmatch(written):
        start = int(match[1]) * YEAR_SIZE + int(match[2]) * _MONTH_SIZE
        return Span(start, start + _MONTH_SIZE - 1)
    if _YEAR_ALONE.fullmatch(written):
        return Span(int(written) * YEAR_SIZE, (int(written) + 1) * YEAR_SIZE - 1)
    if match := _OPEN_DAY.fullmatch(written):
        return _open(MONTH_NUMBER[match[2].lower()], int(match[1]))
    return None


def _open(month: int, day: int | None = None) -> Span:
    start = month * _MONTH_SIZE
    first, last = (start, start + _MONTH_SIZE - 1) if day is None else (start + day, start + day)
    return Span(first, last, any_year=True)
