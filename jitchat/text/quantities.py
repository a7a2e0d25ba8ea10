"""Normalise numbers with units, times and amounts of money to one spelling.

`84 m²`, `84sqm` and `84 square meters` become the same, and so do `€ 1,200`, `1.200 €` and `1200
euros`, and `2pm` and `14:00`. Thousands separators are removed if they are unambiguous: in `1,200`,
and in `1.200` before a unit; `1.200` by itself may be a version number.
"""

import re
from collections.abc import Mapping
from functools import cache

from jitchat.text.expressions import data, lines_of

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
    entries = (line.split(": ") for line in lines_of("units"))
    return {short: name for name, all_short in entries for short in all_short.split(", ")}


@cache
def _pattern() -> re.Pattern[str]:
    table = data("quantities")
    shorts = sorted(_names(), key=len, reverse=True)
    money = [short for short in shorts if _names()[short] in table["money"]]
    coins = [short for short in money if short not in table["colloquial"]]
    parts = {
        "figure": table["figure"],
        "any_unit": "|".join(re.escape(short) for short in shorts),
        "any_coin": "|".join(re.escape(coin) for coin in coins),
        "initials": "".join(sorted({coin[0] for coin in coins if coin[0].isalpha()})),
    }
    pattern = table["pattern"].replace("\n", "")
    for name, part in parts.items():
        pattern = pattern.replace(f"<{name}>", part)
    return re.compile(pattern)


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
