"""Finds a value in an answer, however it is spelt.

There are two views of an answer: `stated` is its text verbatim, for strings that must match
exactly; `plain` is folded, with number words (`twenty-one`, `a hundred`, `21st`) as digits and
dashes and quotes unified. In a plain text, `16:40` is also found as `4.40 pm`, `7 March` as
`March 7th`, `3400` as `3,400`, and `walnuts` as `walnut`.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator
from functools import lru_cache

from jitchat.text.words import fold

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
    """Replace number words and ordinals in a folded text by digits, up to hundreds.

    `first` and `second` stay words, because they have other meanings; `1st` and `2nd` become words.
    """
    digits = _ORDINAL.sub(lambda found: _KEPT.get(found[1], found[1]), plain)
    return _NUMERAL.sub(_digits, digits)


def _digits(found: re.Match[str]) -> str:
    if found["hundred"]:
        return str(100 * _VALUES.get(found["hundreds"] or "", 1))
    if found["tens"]:
        return str(_VALUES[found["tens"]] + _VALUES.get(found["last"] or "", 0))
    return str(_VALUES[found["plain"]])


LONGEST = 8_000
"""Maximum characters of an answer that are read, from its end."""

_THOUGHTS = re.compile(r"\A.*</(?:think|thinking|reasoning)>", re.DOTALL | re.IGNORECASE)
"""Some servers leave reasoning in the answer, with or without the opening tag."""
_STRUCK = re.compile(r"~~[^~\n]+~~|<(s|del|strike)>[^<\n]*</\1>", re.IGNORECASE)
SOURCE = re.compile(r"[(\[](?:turn |message )?#\d[^()\[\]\n]*+[)\]]", re.IGNORECASE)
"""A source as the built-in reader cites it, and variants that other models write."""

_FENCE = re.compile(r"^[ \t]*(?:`{3,}|~{3,})[\w+-]*[ \t]*$", re.MULTILINE)
_LINK = re.compile(r"\[([^\[\]\n]*)\]\([^()\s]*\)")
_BOXED = re.compile(r"\\(?:boxed|text|textbf|mathbf|mathrm)\{([^{}]*)\}")
_TAG = re.compile(r"</?(?:b|i|u|em|strong|code|mark|p|br|span|kbd|ul|ol|li) ?/?>", re.IGNORECASE)
_ESCAPED = re.compile(r"\\([_*#.`~+()\[\]-])")
_LINE_MARK = re.compile(r"^[ \t]*(?:#{1,6}|>+)[ \t]+", re.MULTILINE)
_EMPHASIS = re.compile(r"(?<!\n)\*+|`+|(?<![^\W_])_+|_+(?![^\W_])")
_LONG_DASH = re.compile(r" ?— ?| [–−] ")
_DASH = re.compile(r"[‐‑‒–−]")
_QUOTES = re.compile(r"[\"“”„«»‹›‘‚]|(?<!\w)'|'(?!\w)")
_NOON = re.compile(r"(?<=\d) ?([ap])\.? ?m\b\.?")
_WEEKDAY_STAMP = re.compile(r"\b(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*,? (?=\d{4}-\d\d-\d\d)")
_SLICE = 256
_BLANKS = re.compile(r"[^\S\n]+")


def heard(answer: str) -> str:
    return _STRUCK.sub(" ", _THOUGHTS.sub("", answer[-LONGEST:]))


def stated(answer: str) -> str:
    """Return the answer as `heard` does, without its source citations."""
    return SOURCE.sub("", heard(answer))


def unmarked(text: str) -> str:
    """Remove markup except emphasis, keeping the marked text."""
    text = _LINK.sub(r"\1", _FENCE.sub("", _BLANKS.sub(" ", text)))
    text = _BOXED.sub(r"\1", text)
    return _LINE_MARK.sub("", _ESCAPED.sub(r"\1", _TAG.sub(" ", text)))


def _compatible(text: str) -> str:
    """Normalise to NFKC in slices: reordering a long run of marks takes quadratic time."""
    slices = (text[start : start + _SLICE] for start in range(0, len(text), _SLICE))
    return "".join(unicodedata.normalize("NFKC", each) for each in slices)


def plain(text: str) -> str:
    """Normalise a text to the spelling in which values are compared, keeping line breaks."""
    bare = _LONG_DASH.sub(" - ", unmarked(text))
    spelt = fold(_compatible(_EMPHASIS.sub("", bare)))
    spelt = _DASH.sub("-", _QUOTES.sub(" ", spelt))
    spelt = _WEEKDAY_STAMP.sub("", _NOON.sub(r" \1m", spelt))
    return numbered(_BLANKS.sub(" ", spelt)).strip()


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
"""Weekdays, with those short forms that are not also words."""
_FORMS_UNITS = (
    r"(?:euros?|eur|minutes?|mins?|seconds?|secs?|s|ms|h|hrs?|km|cm|mm|m|kg|kilos?|g|mg|ml|l|kwh"
    r"|percent|st|nd|rd|th)(?![^\W_])"
)
_BEFORE_NUMBER = re.compile(r"(?:[^\W_]|\d[.,:/'-])\Z")
"""What precedes a number that is part of a longer one."""
_AFTER_NUMBER = re.compile(rf"(?!{_FORMS_UNITS})[^\W_]|[.,:/'-]\d")
_BETWEEN_THOUSANDS = "[ ,.']?"
_NOT_WITHIN = r"(?<![^\W_])"
_LOOSE = "[ _-]*"
"""A separator between words."""
_NO_FURTHER = r"(?![^\W_])"
_NO_OPENING = r"(?<![^\s(\[{<\"'“‘„«»`*_:=|])"
_ENDING = r"(?=[)\]}>\"'”’“»`*_.,;:!?…|—–]*(?:\s|\Z)|[—–])(?!\s+(?:-{1,2}[a-z]|&&|\|\|?\s|>>?\s))"

Find = Callable[[str, str], Iterator[tuple[int, int]]]
"""Yields (start, end) of each place where a text has a value."""


def places(text: str, value: str) -> Iterator[tuple[int, int]]:
    """Yield (start, end) of each place where a plain text has a value, in any form."""
    is_number, form = _form(value)
    for found in form.finditer(text):
        start, end = found.span()
        if not is_number or _stands_alone(text, start, end):
            yield start, end


def exact_places(text: str, value: str) -> Iterator[tuple[int, int]]:
    """Yield (start, end) of each verbatim value; a space matches any run of white space."""
    return (found.span() for found in _letters(value).finditer(text))


def has(text: str, value: str, find: Find = places) -> bool:
    return next(find(text, value), None) is not None


@lru_cache(maxsize=4096)
def _letters(value: str) -> re.Pattern[str]:
    spelt = r"\s+".join(map(re.escape, value.split()))
    return re.compile(_NO_OPENING + spelt + _ENDING)


@lru_cache(maxsize=4096)
def _form(value: str) -> tuple[bool, re.Pattern[str]]:
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
    """Whether a number is not part of a longer number or a word; a unit can follow."""
    return not _BEFORE_NUMBER.search(text, max(0, start - 2), start) and not _AFTER_NUMBER.match(
        text, end
    )


def _number(digits: str) -> str:
    """Match a number with any usual thousands separator, or digit by digit."""
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
    """Match words with spaces, hyphens or nothing between words, and between letter and digit."""
    tokens = [re.escape(token) for token in re.findall(r"[^\W\d_]+|\d+|[^\w\s-]", spelt)]
    if not tokens:
        return r"(?!)"
    if is_name:
        return rf"(?<![^\W_])(?<![^\W_]-){_LOOSE.join(tokens)}(?!-?[^\W_])"
    if tokens[-1].isalpha():
        tokens[-1] = rf"{tokens[-1].removesuffix('s')}(?:e?s)?"
    return rf"{_NOT_WITHIN}{_LOOSE.join(tokens)}{_NO_FURTHER}"
