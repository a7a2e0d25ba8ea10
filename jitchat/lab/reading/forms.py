"""What a value may look like in an answer.

In a plain text (`jitchat.lab.reading.plain`) `16:40` is `4.40 pm` as well, `7 March` is `March
7th`, `3400` is `3,400`, and `walnuts` is `walnut`. To the letter nothing is but itself, whatever
stands around it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache

from jitchat.lab.reading.plain import plain

_CLOCK = re.compile(r"(\d{1,2}):(\d\d)")
_DATE = re.compile(r"(\d{1,2}) ([a-z]{3,})")
_MONTHS = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip
_WEEKDAYS = {
    "monday": "mon",
    "tuesday": "tues?",
    "wednesday": "weds",
    "thursday": "thu(?:rs?)?",
    "friday": "fri",
    "saturday": "sat(?=[.,)])",
    "sunday": "sun(?=[.,)])",
}
"""With short forms that are not words of their own."""
_UNITS = (
    r"(?:euros?|eur|minutes?|mins?|seconds?|secs?|s|ms|h|hrs?|km|cm|mm|m|kg|kilos?|g|mg|ml|l|kwh"
    r"|percent|st|nd|rd|th)(?![^\W_])"
)
_BEFORE_NUMBER = re.compile(r"(?:[^\W_]|\d[.,:/'-])\Z")
"""Then it is a part of a longer one."""
_AFTER_NUMBER = re.compile(rf"(?!{_UNITS})[^\W_]|[.,:/'-]\d")
_BETWEEN_THOUSANDS = "[ ,.']?"
_NOT_WITHIN = r"(?<![^\W_])"
_LOOSE = "[ _-]*"
"""Between words."""
_NO_FURTHER = r"(?![^\W_])"
_NO_OPENING = r"(?<![^\s(\[{<\"'“‘„«»`*_:=|])"
_ENDING = r"(?=[)\]}>\"'”’“»`*_.,;:!?…|—–]*(?:\s|\Z)|[—–])(?!\s+(?:-{1,2}[a-z]|&&|\|\|?\s|>>?\s))"

Find = Callable[[str, str], Iterator[tuple[int, int]]]
"""Finds where a text has a value: beginnings and ends."""


def places(text: str, value: str) -> Iterator[tuple[int, int]]:
    """Find where a plain text has a value, in whatever form."""
    is_number, form = _form(value)
    for found in form.finditer(text):
        start, end = found.span()
        if not is_number or _stands_alone(text, start, end):
            yield start, end


def exact_places(text: str, value: str) -> Iterator[tuple[int, int]]:
    """Find where a text has a value to the letter; a blank may be any run of white space."""
    return (found.span() for found in _letters(value).finditer(text))


def has(text: str, value: str, find: Find = places) -> bool:
    """Whether a text has a value."""
    return next(find(text, value), None) is not None


@lru_cache(maxsize=4096)
def _letters(value: str) -> re.Pattern[str]:
    spelt = r"\s+".join(map(re.escape, value.split()))
    return re.compile(_NO_OPENING + spelt + _ENDING)


@lru_cache(maxsize=4096)
def _form(value: str) -> tuple[bool, re.Pattern[str]]:
    """Make what finds a value, and tell whether that is a number."""
    spelt = plain(value)
    clock, date = _CLOCK.fullmatch(spelt), _DATE.fullmatch(spelt)
    if spelt.isdecimal():
        return True, re.compile(_number(spelt))
    if clock:
        form = _clock(int(clock[1]), clock[2])
    elif date and date[2] in _MONTHS:
        form = _date(date[1], _MONTHS.index(date[2]) + 1)
    elif spelt in _WEEKDAYS:
        form = rf"\b(?:{spelt}s?|{_WEEKDAYS[spelt]})\b"
    elif spelt in _MONTHS:
        form = rf"\b(?:{spelt}|{spelt[:3]})\b"
    else:
        form = _words(spelt, is_name=value[:1].isupper())
    return False, re.compile(form)


def _stands_alone(text: str, start: int, end: int) -> bool:
    """Whether a number is no part of a longer one, and of no word; a unit may follow."""
    return not _BEFORE_NUMBER.search(text, max(0, start - 2), start) and not _AFTER_NUMBER.match(
        text, end
    )


def _number(digits: str) -> str:
    """Between thousands, what is written there anywhere; or digit by digit."""
    head = len(digits) % 3 or 3
    groups = [digits[:head], *(digits[at : at + 3] for at in range(head, len(digits), 3))]
    spelt = _BETWEEN_THOUSANDS.join(groups) + r"(?:[.,]00?(?!\d))?"
    apart = f"|{'-'.join(digits)}|{' '.join(digits)}" if len(digits) > 3 else ""
    return spelt + apart


def _date(day: str, month: int) -> str:
    name = _MONTHS[month - 1]
    spelt = rf"(?:{name}|{name[:3]}\.?)"
    forms = (
        rf"0?{day}\.? (?:of |day of )?{spelt}",
        rf"{spelt} (?:the )?0?{day}(?!\d|[.:]\d)",
        rf"\d{{4}}-{month:02}-{int(day):02}",
    )
    return rf"{_NOT_WITHIN}(?:{'|'.join(forms)}){_NO_FURTHER}"


def _clock(hour: int, minute: str) -> str:
    """In 24 hours or in 12, and in words."""
    twelve = hour % 12 or 12
    half = "pm" if hour >= 12 else "am"
    other = "am" if half == "pm" else "pm"
    forms = [rf"0?{hour} ?[:.h] ?{minute}(?! ?{other}\b)"]
    forms += [rf"0?{twelve}[:.]{minute}(?! ?{other}\b)"]
    if minute == "00":
        forms += [rf"0?{twelve} {half}", rf"{twelve} o'clock", rf"{hour} hours"]
    past = {"15": "(?:a )?quarter past", "30": "half past"}.get(minute, rf"{int(minute)} past")
    to = {"45": "(?:a )?quarter to"}.get(minute, rf"{60 - int(minute)} to")
    forms += [rf"{past} {twelve}", rf"{to} {twelve % 12 + 1}"]
    return rf"(?<![\w:.])(?:{'|'.join(forms)})(?![\d:]|\.\d)"


def _words(spelt: str, *, is_name: bool) -> str:
    """Between words and between a letter and a digit, a blank, a hyphen or nothing."""
    tokens = [re.escape(token) for token in re.findall(r"[^\W\d_]+|\d+|[^\w\s-]", spelt)]
    if not tokens:
        return r"(?!)"
    if is_name:
        return rf"(?<![^\W_])(?<![^\W_]-){_LOOSE.join(tokens)}(?!-?[^\W_])"
    if tokens[-1].isalpha():
        tokens[-1] = rf"{tokens[-1].removesuffix('s')}(?:e?s)?"
    return rf"{_NOT_WITHIN}{_LOOSE.join(tokens)}{_NO_FURTHER}"
