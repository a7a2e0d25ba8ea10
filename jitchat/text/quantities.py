"""Normalise numbers with units, times and amounts of money to one spelling.

`84 m²`, `84sqm` and `84 square meters` become the same, and so do `€ 1,200`, `1.200 €` and `1200
euros`, and `2pm` and `14:00`. Thousands separators are removed if they are unambiguous: in `1,200`,
and in `1.200` before a unit; `1.200` by itself may be a version number.
"""

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

_DATA = files(__package__) / "data"
_NUMBER = r"\d{1,3}(?:[,.' ]\d{3})+(?:[.,]\d{1,2})?(?!\d)|\d+(?:[.,]\d+)?"
_HALF_DAY = 12
_HOURS, _MINUTES = 24, 60

_has_figure = re.compile(r"\d").search


def spell_out(plain: str) -> str:
    """Normalise the quantities in a folded text; other words stay as they are."""
    if not _has_figure(plain):
        return plain
    return _pattern().sub(_spelt, plain)


@cache
def _names() -> Mapping[str, str]:
    """Read the unit that each abbreviation stands for."""
    lines = (_DATA / "units.txt").read_text("utf-8").splitlines()
    entries = (line.split(": ") for line in lines)
    return {short: name for name, all_short in entries for short in all_short.split(", ")}


@cache
def _pattern() -> re.Pattern[str]:
    shorts = sorted(_names(), key=len, reverse=True)
    units = "|".join(map(re.escape, shorts))
    coins = "|".join(
        re.escape(each) for each in shorts if _names()[each] in _MONEY and each not in _COLLOQUIAL
    )
    begins = "".join(sorted({each[0] for each in coins.split("|") if each[0].isalpha()}))
    return re.compile(
        rf"(?=[0-9€$£¥{begins}])(?<![\w.,:/@#\\-])(?:"
        r"(?P<hour>\d{1,2})(?:[:.](?P<minute>\d\d))? ?(?P<half>[ap])\.?m\b\.?"
        r"|(?P<clock>\d{1,2})(?:[:.](?P<past>\d\d))? ?uhr\b"
        r"|(?P<heures>\d{1,2})h(?P<rest>\d\d)\b"
        r"|0(?P<early>\d:\d\d)(?![\d:])"
        rf"|(?P<number>{_NUMBER})(?P<blank> ?)(?P<unit>{units})(?![\w²³])"
        rf"|(?P<coin>{coins}) ?(?P<amount>{_NUMBER})(?![\w])"
        r"|(?P<plain>\d{1,3}(?:,\d{3})+)(?![\d,]|\.\d{3})"
        r")"
    )


_COLLOQUIAL = ("bucks", "quid")
"""Written after an amount, never before it."""
_MONEY = frozenset(("euros", "dollars", "british pounds", "yen", "swiss francs"))


def _spelt(found: re.Match[str]) -> str:
    if found["hour"]:
        afternoon = _HALF_DAY if found["half"] == "p" else 0
        return _time(found, int(found["hour"]) % _HALF_DAY + afternoon, found["minute"])
    if hour := found["clock"] or found["heures"]:
        return _time(found, int(hour), found["past"] or found["rest"])
    return found["early"] or _amount(found)


def _amount(found: re.Match[str]) -> str:
    if found["coin"]:
        return f"{_bare(found['amount'])} {_names()[found['coin']]}"
    if not found["unit"]:
        return found["plain"].replace(",", "")
    is_name = len(found["unit"]) == 1 and found["unit"].isalpha() and not found["blank"]
    kept = f"{found[0]} " if is_name else ""  # `5g` may be a name, so it is kept too
    return f"{kept}{_bare(found['number'])} {_names()[found['unit']]}"


def _time(found: re.Match[str], hour: int, minute: str | None) -> str:
    past = int(minute or 0)
    return f"{hour}:{past:02}" if hour < _HOURS and past < _MINUTES else found[0]


_THOUSANDS = re.compile(r"[,.' ](?=\d{3}(?!\d))")
_DECIMAL = re.compile(r",(?=\d{1,2}$)")


def _bare(number: str) -> str:
    """Return a number without thousands separators and with a decimal point."""
    whole = _DECIMAL.sub(".", number)
    return whole if whole.startswith("0") else _THOUSANDS.sub("", whole)
