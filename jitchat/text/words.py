"""Split text into the stems that are matched.

The index and the query use the same function, so both always agree. Words are folded to lower case
without accents and stemmed by the language of the text (`languages`); quantities are normalised.
Scripts without spaces between words, and Korean, which attaches particles to words, are split into
bigrams; a Chinese character is also matched by itself. Identifiers are matched by their words and
by pairs of joined words: `parse_user_id`, `parseUserId`, `3.11.4`, `--force`,
`c++`.

Each pair of joined words is an additional word. This distinguishes an identifier, a path, a version
or an address from the same words in another order, and finds it by any part.

Quantities are numbers with units, times and amounts of money: `84 m²`, `84sqm` and `84 square
meters` become the same, and so do `€ 1,200`, `1.200 €` and `1200 euros`, and `2pm` and `14:00`.
Thousands separators are removed if they are unambiguous: in `1,200`, and in `1.200` before a unit;
`1.200` by itself may be a version number.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from itertools import pairwise

from jitchat.text.expressions import data, expressions, lines_of
from jitchat.text.languages import ENGLISH, function_words, language_of, stemmed

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


VERSION = 1
"""The version of the stemming; increment it on any change, and stored stems are rebuilt."""

LONGEST = 64
"""Maximum characters of a word that are used; anything longer is data, not a word."""

_WORD = re.compile(r"[^\W_]++(?:'[^\W\d_]++)?")
_ASCII_WORD = re.compile(r"[0-9a-z]++(?:'[a-z]++)?")
"""Finds the same as `_WORD` in folded ASCII, in half the time."""
TO_PLAIN_LATIN = str.maketrans(
    dict(zip("đłøıßæœ", ("d", "l", "o", "i", "ss", "ae", "oe"), strict=True))
)
_SLICE = 256


def fold(text: str) -> str:
    """Return the text in lower case, without accents and with straight apostrophes."""
    lowered = text.lower().replace("’", "'")
    if lowered.isascii():
        return lowered
    bare = expressions("words")["accents"].sub("", lowered.translate(TO_PLAIN_LATIN))
    return "".join(
        _without_accents(bare[start : start + _SLICE]) for start in range(0, len(bare), _SLICE)
    ).lower()


def words(text: str) -> list[str]:
    """List the words of `text` in order, folded; unspaced scripts as overlapping bigrams."""
    return _words_of(fold(text))


def content_words(text: str) -> list[str]:
    """List the words of `text` without function words, then its joined words."""
    return content_of(text)[0]


def content_of(text: str, language: str = "") -> tuple[list[str], str]:
    """Return the `content_words` of a text, and its language, detected if none is given."""
    plain = fold(text)
    spelt = spell_out(plain)
    found = _words_of(spelt)
    language = language or language_of(found, text)
    if may_join(spelt):
        found += [each[:LONGEST] for each in joined(spelt)]
    if _CAMEL.search(text):
        found += [fold(each)[:LONGEST] for each in _camel_parts(text)]
    if not plain.isascii():
        found += _lone_characters(plain)
    passed_over = function_words(language)
    return [word for word in found if word not in passed_over], language


def stems(text: str) -> list[str]:
    """List the stems of the content words of `text`, in order, with duplicates."""
    found, language = content_of(text)
    return [stem(word, language) for word in found]


def is_unspaced(text: str) -> bool:
    """Return whether `text` has characters of a script without spaces between words."""
    return bool(expressions("words")["unspaced"].search(text))


@lru_cache(maxsize=1 << 16)
def stem(word: str, language: str = ENGLISH) -> str:
    if not word.isascii():
        return stemmed(word.translate(_TO_HIRAGANA), language)
    bare = word.removesuffix("'s")
    return stemmed(_bases().get(bare, bare) if language == ENGLISH else bare, language)


@cache
def _bases() -> dict[str, str]:
    """Read the base forms of irregular verbs and nouns, which stemming does not find."""
    entries = (line.split(":") for line in lines_of("irregular"))
    return {form: base for base, forms in entries for form in forms.split()}


_TO_HIRAGANA = {code: code - 0x60 for code in range(0x30A1, 0x30F7)}


def _lone_characters(plain: str) -> list[str]:
    """List one-character words: Chinese characters, and Korean syllables with a particle."""
    known, particles = expressions("words"), data("words")["parts"]["han_particles"]
    lone = [character for character in known["han"].findall(plain) if character not in particles]
    return lone + known["korean_syllable"].findall(plain)


_FEW = 0.35


def weight_of(word: str) -> float:
    """Return the weight of a query's content word: lower for uninformative bigrams.

    These are single characters, bigrams with a particle, and Japanese without a Chinese character,
    which is mostly grammar.
    """
    if word.isascii() or len(word) > 2:
        return 1.0
    is_single = len(word) == 1
    return _FEW if is_single or expressions("words")["grammar"].search(word) else 1.0


def _without_accents(text: str) -> str:
    """Normalise a short text. On long runs of combining marks, normalising takes quadratic time."""
    decomposed = unicodedata.normalize("NFKD", text)
    return unicodedata.normalize("NFC", expressions("words")["accents"].sub("", decomposed))


def _words_of(plain: str) -> list[str]:
    """Split folded text into words."""
    if plain.isascii():
        return [word[:LONGEST] for word in _ASCII_WORD.findall(plain)]
    patterns = expressions("words")
    pattern = patterns["marked_word"] if patterns["marked"].search(plain) else _WORD
    return [part[:LONGEST] for word in pattern.findall(plain) for part in _bigrams(word)]


def _bigrams(word: str) -> list[str]:
    """Split the parts of a word in an unspaced script or Korean into bigrams."""
    pattern = expressions("words")["in_bigrams"]
    if word.isascii() or not pattern.search(word):
        return [word]
    parts: list[str] = []
    start = 0
    for run in pattern.finditer(word):
        parts += [word[start : run.start()]] if run.start() > start else []
        characters = run.group()
        parts += [a + b for a, b in pairwise(characters)] or [characters]
        start = run.end()
    return parts + ([word[start:]] if start < len(word) else [])


def may_join(plain: str) -> bool:
    """Test quickly whether a folded text may have joined words."""
    return bool(expressions("words")["may_be_joined"].search(plain))


def joined(plain: str) -> Iterator[str]:
    """Yield the joined words of a folded text, in order.

    Words joined by a hyphen alone are left out. A word with an apostrophe is split, because an
    article or a suffix may be attached to it.
    """
    for found in expressions("words")["joined"].findall(plain):
        if "'" in found:
            yield from (part for part in found.split("'") if len(part) > 2)
        elif found.startswith("--") or not found.replace("-", "").isalpha():
            yield found


_CAMEL = re.compile(r"[a-z0-9][A-Z]|[A-Z]{2}[a-z]")


def _camel_parts(text: str) -> Iterator[str]:
    """Yield the parts of words like `parseUserId`, and adjacent pairs as in `parse_user_id`."""
    end = 0
    for hump in _CAMEL.finditer(text):
        if hump.start() < end:
            continue
        start, end = hump.start(), hump.end()
        while start > max(0, hump.start() - LONGEST) and _is_plain(text[start - 1]):
            start -= 1
        while end < len(text) and _is_plain(text[end]):
            end += 1
        parts = expressions("words")["camel_part"].findall(text[start:end][:LONGEST])
        if len(parts) > 1 and len(parts[0]) > 1:
            yield from parts
            yield from map("_".join, pairwise(parts))


def _is_plain(letter: str) -> bool:
    return letter.isascii() and letter.isalnum()
