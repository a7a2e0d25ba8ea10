"""From text to the stems that are matched.

One function feeds the index and the query alike, so that both always agree. Words are folded
to lower case without accents, and stemmed (Snowball, English; other languages pass through
mostly unharmed). Scripts that write no blanks between words, and Korean, which joins its
particles to them, become bigrams. Identifiers are matched by their words and by which of
these are joined: `parse_user_id`, `3.11.4`, `--force`, `c++`.

Each two words that are joined count as one more, so that an identifier, a path, a version or
an address is told from its words in another order, and is found by any stretch of it.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator
from functools import cache, lru_cache
from importlib.resources import files
from itertools import pairwise

_DATA = files(__package__) / "data"

LONGEST = 64
"""Characters of a word that count; what goes on longer is data, not a word."""

_BRAHMIC = (
    "\u0900-\u0963\u0966-\u0e3e\u0e40-\u0e4e\u0e50-\u0e59\u0e80-\u0eff\u1000-\u109f\u1780-\u17d3"
)
"""Scripts from India to Cambodia: their vowel signs are marks, and part of the word."""
_NO_BLANKS = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)
_WORD = re.compile(r"[^\W_]++(?:'[^\W\d_]++)?")
_ASCII_WORD = re.compile(r"[0-9a-z]++(?:'[a-z]++)?")
"""What `_WORD` finds in folded ASCII, in half the time."""
_MARKED_WORD = re.compile(rf"(?:[^\W_]|[{_BRAHMIC}])++")
_MARKED = re.compile(f"[{_BRAHMIC}]")
_UNSPACED = re.compile(f"[{_NO_BLANKS}]+")
_IN_BIGRAMS = re.compile(f"[{_NO_BLANKS}\uac00-\ud7a3]+")
_ACCENTS = re.compile(
    "[\u0300-\u036f\u0591-\u05bd\u05bf-\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670]+"
)
"""Combining marks of the alphabets; points and vowel signs of Hebrew and Arabic."""
_TO_ACCENTED = str.maketrans(
    dict(zip("đłøıßæœ", ("d", "l", "o", "i", "ss", "ae", "oe"), strict=True))
)
_SLICE = 256


def fold(text: str) -> str:
    """Lower case, without accents and with straight apostrophes."""
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
    """`words` without `stop_words`, then what is joined."""
    plain = fold(text)
    found = _words_of(plain)
    if may_join(plain):
        found += [each[:LONGEST] for each in joined(plain)]
    passed_over = stop_words()
    return [word for word in found if word not in passed_over]


def stems(text: str) -> list[str]:
    """List the stems of the content words of `text`, in order, with repeats."""
    return [stem(word) for word in content_words(text)]


@cache
def stop_words() -> frozenset[str]:
    """Read the function words of English, which say nothing by themselves, folded."""
    return frozenset((_DATA / "function_words.txt").read_text("utf-8").split())


def is_unspaced(text: str) -> bool:
    """Whether `text` has characters of a script that writes no blanks between words."""
    return bool(_UNSPACED.search(text))


@lru_cache(maxsize=1 << 16)
def stem(word: str) -> str:
    bare = word.removesuffix("'s")
    return _stemmer()(_bases().get(bare, bare)) if bare.isascii() else bare


@cache
def _bases() -> dict[str, str]:
    """Read the base form of irregular verbs and nouns, which no suffix rule brings together."""
    lines = (_DATA / "irregular.txt").read_text("utf-8").splitlines()
    entries = (line.split(":") for line in lines)
    return {form: base for base, forms in entries for form in forms.split()}


@cache
def _stemmer() -> Callable[[str], str]:
    from py_rust_stemmers import SnowballStemmer  # noqa: PLC0415  not needed to print help

    stem_word: Callable[[str], str] = SnowballStemmer("english").stem_word
    return stem_word


def _without_accents(piece: str) -> str:
    """Normalise a short piece: over a long run of marks, the time of it grows squared."""
    decomposed = unicodedata.normalize("NFKD", piece)
    return unicodedata.normalize("NFC", _ACCENTS.sub("", decomposed))


def _words_of(plain: str) -> list[str]:
    """Cut what is folded already."""
    if plain.isascii():
        return [word[:LONGEST] for word in _ASCII_WORD.findall(plain)]
    found = (_MARKED_WORD if _MARKED.search(plain) else _WORD).findall(plain)
    return [piece[:LONGEST] for word in found for piece in _pieces(word)]


def _pieces(word: str) -> list[str]:
    if word.isascii() or not _IN_BIGRAMS.search(word):
        return [word]
    pieces: list[str] = []
    start = 0
    for run in _IN_BIGRAMS.finditer(word):
        pieces += [word[start : run.start()]] if run.start() > start else []
        characters = run.group()
        pieces += [a + b for a, b in pairwise(characters)] or [characters]
        start = run.end()
    return pieces + ([word[start:]] if start < len(word) else [])


_NO_ENDING = r"(?<=')(?!(?:s|t|d|m|ll|re|ve)\b)[a-z]"
"""What follows an apostrophe that is no English ending."""
_ANY = re.compile(rf"[._/@\\:'#+-](?:{_NO_ENDING}|(?<!')[0-9a-z+-]|(?<=[a-z]#))")
"""True of every text in which `_JOINED` finds anything, and of few others; quick."""
_JOINED = re.compile(
    r"(?<![0-9a-z])(?=("
    r"(?:--)?[0-9a-z]++(?:_++|[./@\\-]|::|:(?=\d))[0-9a-z]++"  # of a.b_c: a.b and b_c
    r"|--[0-9a-z]++"  # --flag
    r"|[a-z](?:\+\+|#)(?![\w+#])"  # c++
    rf"|[a-z]++'{_NO_ENDING}++"  # l'eglise, diyarbakir'a
    r"))"
)

may_join = _ANY.search
"""Whether it is worth while to look for what is joined in a folded text."""


def joined(plain: str) -> Iterator[str]:
    """List what is joined in a folded text, in order.

    Words with a hyphen are but words. Of a word with an apostrophe each part counts: an
    article or a suffix may have been joined to it.
    """
    for found in _JOINED.findall(plain):
        if "'" in found:
            yield from (part for part in found.split("'") if len(part) > 2)
        elif found.startswith("--") or not found.replace("-", "").isalpha():
            yield found
