"""The dates and times that a text speaks of.

Relative words are resolved against the day on which the text was said, because a recalled
"yesterday" means nothing by itself.
"""

from __future__ import annotations

import re
from datetime import date, timedelta

_MONTHS = "january february march april may june july august september october november december"
_MONTH = {name: number for number, name in enumerate(_MONTHS.split(), start=1)}
_MONTH |= {name[:3]: number for name, number in _MONTH.items()} | {"sept": 9}
_WEEKDAYS = "monday tuesday wednesday thursday friday saturday sunday".split()

_MONTH_NAME = "|".join(sorted(_MONTH, key=len, reverse=True))
_ISO = re.compile(r"\b((?:19|20)\d\d)-(0\d|1[0-2])-([0-2]\d|3[01])\b")
_DAY_MONTH = re.compile(
    rf"\b(\d{{1,2}})(?:st|nd|rd|th)?(?:\s+of)?\s+({_MONTH_NAME})\b\.?,?(?:\s+((?:19|20)\d\d))?",
    re.IGNORECASE,
)
_MONTH_DAY = re.compile(
    rf"\b({_MONTH_NAME})\.?\s+(\d{{1,2}})(?:st|nd|rd|th)?\b(?!:)(?:,?\s+((?:19|20)\d\d))?",
    re.IGNORECASE,
)
_RELATIVE = re.compile(
    r"\b(today|tonight|yesterday|last night|tomorrow"
    r"|(\d+|a|one|two|three|four|five|six)\s+(day|week)s?\s+ago"
    r"|(last|next)\s+(week|month|year))\b",
    re.IGNORECASE,
)
_WEEKDAY = re.compile(
    rf"\b({'|'.join(_WEEKDAYS)})s?\b(?:\s+(?:at\s+)?(\d{{1,2}}:\d\d(?:\s*[A-Z]{{3,4}})?))?",
    re.IGNORECASE,
)
_NUMBER = {w: n for n, w in enumerate("zero one two three four five six".split())} | {"a": 1}
_DAYS_AWAY = {"today": 0, "tonight": 0, "yesterday": -1, "last night": -1, "tomorrow": 1}
_TIME_CUE = re.compile(
    r"\b(ago|yesterday|today|tonight|tomorrow|last|next|week|month|year|since|recently|morning"
    rf"|weekend|evening|{'|'.join(_WEEKDAYS)}|{_MONTH_NAME}|\d{{4}}|\d{{1,2}}:\d\d)s?\b",
    re.IGNORECASE,
)


def mentioned(text: str, said_on: date | None) -> tuple[str, ...]:
    """Dates as ISO text, weeks and weekdays in words; in order of appearance, no repeats."""
    found: list[tuple[int, str]] = []
    for pattern, resolve in _RESOLVERS:
        for match in pattern.finditer(text):
            spelled = resolve(match, said_on)
            if spelled:
                found.append((match.start(), spelled))
    return tuple(dict.fromkeys(spelled for _, spelled in sorted(found)))


def has_time_cue(text: str) -> bool:
    """Whether the text says anything about when."""
    return bool(_TIME_CUE.search(text))


def _iso(match: re.Match[str], _: date | None) -> str:
    return _spelled(int(match[1]), int(match[2]), int(match[3]))


def _day_month(match: re.Match[str], said_on: date | None) -> str:
    return _dated(match[3], match[2], match[1], said_on)


def _month_day(match: re.Match[str], said_on: date | None) -> str:
    return _dated(match[3], match[1], match[2], said_on)


def _dated(year: str | None, month: str, day: str, said_on: date | None) -> str:
    number = int(year) if year else (said_on.year if said_on else None)
    if number is None:
        return f"{int(day)} {month.capitalize()}"
    return _spelled(number, _MONTH[month.lower()], int(day))


def _spelled(year: int, month: int, day: int) -> str:
    try:
        return date(year, month, day).isoformat()
    except ValueError:
        return ""


def _relative(match: re.Match[str], said_on: date | None) -> str:
    if said_on is None:
        return ""
    phrase = match[1].lower()
    if phrase in _DAYS_AWAY:
        return (said_on + timedelta(days=_DAYS_AWAY[phrase])).isoformat()
    if match[4]:
        return f"{phrase} (said {said_on.isoformat()})"
    many = match[2].lower()
    count = min(int(many) if many.isdecimal() else _NUMBER[many], 3650)
    return (said_on - timedelta(days=count * (7 if match[3].lower() == "week" else 1))).isoformat()


def _weekday(match: re.Match[str], _: date | None) -> str:
    return " ".join(filter(None, (match[1].capitalize(), match[2])))


_RESOLVERS = (
    (_ISO, _iso),
    (_DAY_MONTH, _day_month),
    (_MONTH_DAY, _month_day),
    (_RELATIVE, _relative),
    (_WEEKDAY, _weekday),
)
