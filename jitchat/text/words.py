"""Split text into the stems that are matched.

The index and the query use the same function, so both always agree. Words are folded to lower case
without accents and stemmed by the language of the text (`languages`); quantities are normalised
(`quantities`). Scripts without spaces between words, and Korean, which attaches particles to words,
are split into bigrams; a Chinese character is also matched by itself. Identifiers are matched by
their words and by pairs of joined words: `parse_user_id`, `parseUserId`, `3.11.4`, `--force`,
`c++`.

Each pair of joined words is an additional word. This distinguishes an identifier, a path, a version
or an address from the same words in another order, and finds it by any part.
"""

import re
import unicodedata
from collections.abc import Iterator
from functools import cache, lru_cache
from importlib.resources import files
from itertools import pairwise

from jitchat.text.languages import ENGLISH, function_words, language_of, stemmed
from jitchat.text.quantities import spell_out

_DATA = files(__package__) / "data"

VERSION = 1
"""The version of the stemming; increment it on any change, and stored stems are rebuilt."""

LONGEST = 64
"""Maximum characters of a word that are used; anything longer is data, not a word."""

_BRAHMIC = (
    "\u0900-\u0963\u0966-\u0e3e\u0e40-\u0e4e\u0e50-\u0e59\u0e80-\u0eff\u1000-\u109f\u1780-\u17d3"
)
"""Brahmic scripts: their vowel signs are combining marks and part of the word."""
_NO_BLANKS = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)
_WORD = re.compile(r"[^\W_]++(?:'[^\W\d_]++)?")
_ASCII_WORD = re.compile(r"[0-9a-z]++(?:'[a-z]++)?")
"""Finds the same as `_WORD` in folded ASCII, in half the time."""
_MARKED_WORD = re.compile(rf"(?:[^\W_]|[{_BRAHMIC}])++")
_MARKED = re.compile(f"[{_BRAHMIC}]")
_UNSPACED = re.compile(f"[{_NO_BLANKS}]+")
_IN_BIGRAMS = re.compile(f"[{_NO_BLANKS}\uac00-\ud7a3]+")
_ACCENTS = re.compile(
    "[\u0300-\u036f\u0591-\u05bd\u05bf-\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670]+"
)
"""Combining diacritics; points and vowel signs of Hebrew and Arabic."""
_TO_ACCENTED = str.maketrans(
    dict(zip("đłøıßæœ", ("d", "l", "o", "i", "ss", "ae", "oe"), strict=True))
)
_SLICE = 256


def fold(text: str) -> str:
    """Return the text in lower case, without accents and with straight apostrophes."""
    lowered = text.lower().replace("’", "'")
    if lowered.isascii():
        return lowered
    bare = _ACCENTS.sub("", lowered.translate(_TO_ACCENTED))
    return "".join(
        _without_accents(bare[start : start + _SLICE]) for start in range(0, len(bare), _SLICE)
    ).lower()


def words(text: str) -> list[str]:
    """List the words of `text` in order, folded; unspaced scripts as overlapping bigrams."""
    return _words_of(fold(text))


def content_words(text: str) -> list[str]:
    """List the words of `text` without function words, then its joined words."""
    return content_of(text)[0]


def content_of(text: str) -> tuple[list[str], str]:
    """Return the `content_words` of a text, and its language."""
    plain = fold(text)
    spelt = spell_out(plain)
    found = _words_of(spelt)
    language = language_of(found, text)
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
    return bool(_UNSPACED.search(text))


@lru_cache(maxsize=1 << 16)
def stem(word: str, language: str = ENGLISH) -> str:
    if not word.isascii():
        return stemmed(word.translate(_TO_HIRAGANA), language)
    bare = word.removesuffix("'s")
    return stemmed(_bases().get(bare, bare) if language == ENGLISH else bare, language)


@cache
def _bases() -> dict[str, str]:
    """Read the base forms of irregular verbs and nouns, which stemming does not find."""
    lines = (_DATA / "irregular.txt").read_text("utf-8").splitlines()
    entries = (line.split(":") for line in lines)
    return {form: base for base, forms in entries for form in forms.split()}


_TO_HIRAGANA = {code: code - 0x60 for code in range(0x30A1, 0x30F7)}
_HAN = re.compile("[\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_HAN_PARTICLES = frozenset(
    "的了是在我你您他她它有和就不也都吗嗎呢吧啊么麼哪什这這那们們与與或个個把被给給从從到上里裡去"
)
_KANA = frozenset(map(chr, range(0x3041, 0x30A0)))
_KOREAN_PARTICLES = "은는이가을를에의도로과와만"
_KOREAN_SYLLABLE = re.compile(
    f"(?<![\uac00-\ud7a3])([\uac00-\ud7a3])[{_KOREAN_PARTICLES}](?![\uac00-\ud7a3])"
)


def _lone_characters(plain: str) -> list[str]:
    """List one-character words: Chinese characters, and Korean syllables with a particle."""
    lone = [each for each in _HAN.findall(plain) if each not in _HAN_PARTICLES]
    return lone + _KOREAN_SYLLABLE.findall(plain)


_FEW = 0.35


def weight_of(word: str) -> float:
    """Return the weight of a query's content word: lower for uninformative bigrams.

    These are single characters, bigrams with a particle, and Japanese without a Chinese character,
    which is mostly grammar.
    """
    if word.isascii() or len(word) > 2:
        return 1.0
    if len(word) == 1 or not _HAN_PARTICLES.isdisjoint(word) or not _KANA.isdisjoint(word):
        return _FEW
    return _FEW if "\uac00" <= word[-1] <= "\ud7a3" and word[-1] in _KOREAN_PARTICLES else 1.0


def _without_accents(text: str) -> str:
    """Normalise a short text. On long runs of combining marks, normalising takes quadratic time."""
    decomposed = unicodedata.normalize("NFKD", text)
    return unicodedata.normalize("NFC", _ACCENTS.sub("", decomposed))


def _words_of(plain: str) -> list[str]:
    """Split folded text into words."""
    if plain.isascii():
        return [word[:LONGEST] for word in _ASCII_WORD.findall(plain)]
    found = (_MARKED_WORD if _MARKED.search(plain) else _WORD).findall(plain)
    return [part[:LONGEST] for word in found for part in _bigrams(word)]


def _bigrams(word: str) -> list[str]:
    """Split the parts of a word in an unspaced script or Korean into bigrams."""
    if word.isascii() or not _IN_BIGRAMS.search(word):
        return [word]
    parts: list[str] = []
    start = 0
    for run in _IN_BIGRAMS.finditer(word):
        parts += [word[start : run.start()]] if run.start() > start else []
        characters = run.group()
        parts += [a + b for a, b in pairwise(characters)] or [characters]
        start = run.end()
    return parts + ([word[start:]] if start < len(word) else [])


_NO_ENDING = r"(?<=')(?!(?:s|t|d|m|ll|re|ve)\b)[a-z]"
"""A letter after an apostrophe that does not begin an English ending."""
_ANY = re.compile(rf"[._/@\\:'#+-](?:{_NO_ENDING}|(?<!')[0-9a-z+-]|(?<=[a-z]#))")
"""Matches every text in which `_JOINED` finds anything, and few others. Fast."""
_JOINED = re.compile(
    r"(?<![0-9a-z])(?=("
    r"(?:--)?[0-9a-z]++(?:_++|[./@\\-]|::|:(?=\d))[0-9a-z]++"  # in a.b_c: a.b and b_c
    r"|--[0-9a-z]++"  # --flag
    r"|[a-z](?:\+\+|#)(?![\w+#])"  # c++
    rf"|[a-z]++'{_NO_ENDING}++"  # l'eglise, diyarbakir'a
    r"))"
)

may_join = _ANY.search
"""Tests quickly whether a folded text may have joined words."""


def joined(plain: str) -> Iterator[str]:
    """Yield the joined words of a folded text, in order.

    Words joined by a hyphen alone are left out. A word with an apostrophe is split, because an
    article or a suffix may be attached to it.
    """
    for found in _JOINED.findall(plain):
        if "'" in found:
            yield from (part for part in found.split("'") if len(part) > 2)
        elif found.startswith("--") or not found.replace("-", "").isalpha():
            yield found


_CAMEL = re.compile(r"[a-z0-9][A-Z]|[A-Z]{2}[a-z]")
_CAMEL_PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+")


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
        parts = _CAMEL_PART.findall(text[start:end][:LONGEST])
        if len(parts) > 1 and len(parts[0]) > 1:
            yield from parts
            yield from map("_".join, pairwise(parts))


def _is_plain(letter: str) -> bool:
    return letter.isascii() and letter.isalnum()
