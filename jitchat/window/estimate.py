"""The token estimate when no vocabulary is available: o200k_base, judged by shape alone.

Invariant: an estimate is a sum over blocks, and a block starts at each line that does not start
with white space; so ``estimate(a + b) == estimate(a) + estimate(b)`` whenever ``a`` ends with a
newline and ``b`` does not start with white space. The time is linear in the length of any text.

The text is cut into pieces as o200k_base's own pattern cuts it; each piece is charged in hundredths
of a token by script, case and letter pairs, and only a block's sum is rounded. The prices are fits
to the true counts of prose in some 25 languages, source code, JSON and logs.
"""

import re
import unicodedata
from collections.abc import Sequence, Set
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise

from jitchat.text.expressions import packaged

_UPPER = r"A-Z\xc0-\xd6\xd8-\xde"
_LOWER = r"a-z\xdf-\xf6\xf8-\u02af\u0300-\u036f\u1e00-\u1eff"
_HAN = r"\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
# Marks belong to the letters before them, so the other scripts are whole blocks less their stops.
_OTHER = (
    r"\u0370-\u060b\u060d-\u061a\u061c-\u061e\u0620-\u0963\u0966-\u1cff\u1f00-\u1fff\u2c00-\u2dff"
    r"\u3130-\u318f\ua000-\ud7ff\ufb00-\ufdff\ufe70-\ufefc\uff21-\uff3a\uff41-\uff5a\uff66-\uffdc"
)
_MARK = r"!-/:-@\[-`{-~"
_LEAD = rf"[\t {_MARK}\xa0-\xbf\u2010-\u2044\u3001-\u3020\uff01-\uff0f\uff1a-\uff20]?"
_SUFFIX = r"(?i:'(?:[stmd]|re|ve|ll))?"
# Every repeat is bounded: no input makes matching quadratic, and pieces stay short enough to cache.
_PIECE = re.compile(
    rf"{_LEAD}[{_UPPER}]{{0,40}}[{_LOWER}]{{1,40}}{_SUFFIX}|{_LEAD}[{_UPPER}]{{1,40}}{_SUFFIX}"
    rf"|{_LEAD}[{_HAN}]{{1,40}}|{_LEAD}[{_OTHER}]{{1,40}}|\d{{1,3}}"
    rf"| ?[{_MARK}]{{1,64}}[\r\n/]{{0,16}}| ?[^\s\w\x00-\xa0{_LOWER}{_HAN}{_OTHER}]{{1,40}}"
    r"|\s{0,112}[\r\n]|\s{1,112}(?!\S)|\s{1,112}|.",
    re.DOTALL,
)
_WORD = re.compile(rf"({_LEAD})(?:([{_UPPER}{_LOWER}]+)('\w+)?|([{_HAN}]+)|([{_OTHER}]+))")
_BLOCK_END = re.compile(r"\n(?=\S)")
_NO_LETTER = re.compile("[^a-z]")
_LONG_RUN = re.compile(r"(.)\1{3,}", re.DOTALL)

_MERGING = "_.(\t<#'?&@\\-\u2019"
_UNFOLDED = str.maketrans({"ł": "l", "ø": "o", "đ": "d", "ß": "ss", "æ": "ae", "œ": "oe"})
_VIETNAMESE = re.compile(r"[ƠơƯư\u1ea0-\u1ef9]|^.{,3}[ĂăĐđ]")
_HIRAGANA, _KATAKANA = re.compile(r"[\u3040-\u309f]"), re.compile(r"[\u30a0-\u30ff]")


@dataclass(frozen=True, slots=True)
class _Shape:
    pairs: bytes
    credit: Sequence[Sequence[int]]
    pair_price: Sequence[int]
    syllables: Set[str]
    syllable_price: Sequence[Sequence[int]]
    chinese: re.Pattern[str]
    scripts: Sequence[tuple[int, int, int]]
    runs: Sequence[tuple[str, int]]


@cache
def _shape() -> _Shape:
    read = dict(packaged(__package__, "data/o200k.toml"))
    read["pairs"] = "".join(read["pairs"].split()).encode()
    read["syllables"] = frozenset(read["syllables"].split())
    read["chinese"] = re.compile("|".join(read["chinese"].split()))
    return _Shape(**read)


def estimate(text: str) -> int:
    """Estimated o200k_base tokens of ``text``: 0 for the empty string, else at least 1."""
    *blocks, last = _BLOCK_END.split(text)
    return sum(_tokens(block + "\n") for block in blocks) + (_tokens(last) if last else 0)


def _tokens(block: str) -> int:
    return max(1, round(sum(map(_charge, _PIECE.findall(block))) / 100))


@lru_cache(maxsize=1 << 16)
def _charge(piece: str) -> int:
    """Hundredths of a token for one piece."""
    if word := _WORD.fullmatch(piece):
        lead, latin, suffix, han, other = word.groups(default="")
        if latin:
            return _latin(lead, latin) + (15 if suffix else 0)
        return _han(lead, han) if han else _other(lead, other)
    if piece.isspace():
        return 100 + (len(piece) - piece.count(" ")) // 16 * 100
    return 100 if piece.isdecimal() else _marks(piece.strip())


def _latin(lead: str, word: str) -> int:
    shape = _shape()
    kind = 0 if not lead else 1 if lead == " " else 2 if lead in _MERGING else 3
    case = 0 if word.islower() else 2 if word.isupper() and len(word) > 1 else 1
    plain, accents = word.lower(), 0
    if not word.isascii():
        if len(word) < 8 and _VIETNAMESE.search(word):
            return (
                100 if kind == 1 and word in shape.syllables else shape.syllable_price[kind][case]
            )
        folded = unicodedata.normalize("NFD", plain.translate(_UNFOLDED))
        plain = _NO_LETTER.sub("", folded)
        accents = 19 + 37 * max(1, len(folded) - len(plain))
    short = _LONG_RUN.sub(r"\1\1\1", plain) if len(plain) > 7 else plain
    pairs = sum([shape.pairs[27 * a + b - 28 * 96] for a, b in pairwise(b"`%b`" % short.encode())])
    spent = shape.pair_price[case] * (pairs - 48 * len(short) - 48) // 10 + accents
    return 100 + max(0, spent - shape.credit[kind][case]) + _repeats(plain, short)


def _han(lead: str, word: str) -> int:
    rest, known = _shape().chinese.subn("", word)
    hiragana, katakana = len(_HIRAGANA.findall(rest)), len(_KATAKANA.findall(rest))
    # GB 2312 orders its characters by use: 0xB0 to 0xD7 everyday Chinese, from 0xD8 the literary.
    ranks = rest.encode("gb2312", "ignore")[::2]
    literary = sum(rank >= 0xD8 for rank in ranks)
    everyday = sum(rank >= 0xB0 for rank in ranks) - literary
    foreign = len(rest) - hiragana - katakana - everyday - literary
    charge = 68 * known + 90 * everyday + 190 * literary + 123 * foreign
    return max(100, charge + 74 * hiragana + 46 * katakana + (60 if lead else 0))


def _other(lead: str, word: str) -> int:
    first = ord(word[0])
    free, price = next((free, price) for start, free, price in _shape().scripts if start <= first)
    ukrainian = 50 * sum(map(word.count, "іїєґ"))
    letters = max(0, len(word) * 10 - free) * price // 10
    return 100 + letters + ukrainian + (40 if lead.strip() else 0)


def _marks(run: str) -> int:
    bare = run.rstrip("/") or run
    short = _LONG_RUN.sub(r"\1", bare)
    repeats = _repeats(bare, short)
    if run.isascii():
        of_json = sum(map(short.count, '",:{}[]'))
        return 100 + max(0, 50 * len(short) - 20 * of_json - 100) + repeats
    wide = sum(95 if char > "\uffff" else 20 if char > "\u218f" else 0 for char in short)
    return 45 + 55 * len(short) + wide + repeats


def _repeats(run: str, short: str) -> int:
    if len(run) == len(short):
        return 0
    price = 120 if run[-1] > "\uffff" else next((p for c, p in _shape().runs if run[-1] in c), 25)
    return (len(run) - len(short)) * price
