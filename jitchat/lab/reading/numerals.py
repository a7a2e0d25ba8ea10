"""Number words as digits: `twenty-one`, `a hundred`, `third`, `21st`."""

from __future__ import annotations

import re

_UNIT_WORDS = """
    zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
    sixteen seventeen eighteen nineteen
"""
_TEN_WORDS = "twenty thirty forty fifty sixty seventy eighty ninety"
_ORDINAL_WORDS = """
    third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth
    fifteenth sixteenth seventeenth eighteenth nineteenth
"""
_UNITS, _TENS, _ORDINALS = _UNIT_WORDS.split(), _TEN_WORDS.split(), _ORDINAL_WORDS.split()
_ORDINAL_TENS = [ten.removesuffix("y") + "ieth" for ten in _TENS]
_VALUES = {word: value for value, word in enumerate(_UNITS)}
_VALUES |= {word: 10 * value for value, word in enumerate(_TENS, start=2)}
_VALUES |= {word: 10 * value for value, word in enumerate(_ORDINAL_TENS, start=2)}
_VALUES |= {word: value for value, word in enumerate(_ORDINALS, start=3)}
_VALUES |= {"first": 1, "second": 2}

_UNIT = "|".join(_UNITS[1:10])
_LAST = "|".join(("first", "second", *_ORDINALS[:7], *_UNITS[1:10]))
_TEN = "|".join(_TENS)
_PLAIN = "|".join((*_ORDINALS, *_ORDINAL_TENS, *_UNITS[10:], *_UNITS[:10]))
_BELOW = rf"(?:(?P<tens>{_TEN})(?:[ -](?P<last>{_LAST}))?|(?P<plain>{_PLAIN}))"
_NUMERAL = re.compile(
    rf"\b(?:(?P<hundreds>an?|{_UNIT})[ -])?(?P<hundred>hundred)(?P<th>th)?\b|\b{_BELOW}\b"
)
_ORDINAL = re.compile(r"\b(\d+)(st|nd|rd|th)\b")
_KEPT = {"1": "first", "2": "second"}


def numbered(plain: str) -> str:
    """Write the number words of a folded text as digits, up to a hundred, and ordinals as well.

    `first` and `second` stay words, as they mean much else; `1st` and `2nd` become them.
    """
    digits = _ORDINAL.sub(lambda found: _KEPT.get(found[1], found[1]), plain)
    return _NUMERAL.sub(_digits, digits)


def _digits(found: re.Match[str]) -> str:
    if found["hundred"]:
        return str(100 * _VALUES.get(found["hundreds"] or "", 1))
    if found["tens"]:
        return str(_VALUES[found["tens"]] + _VALUES.get(found["last"] or "", 0))
    return str(_VALUES[found["plain"]])
