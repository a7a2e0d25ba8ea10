"""Split texts and queries into the tokens of the search index, and find a query in a text.

Both go through `fold`: compatibility forms and case are folded (NFKC, `ß` is `ss`), invisible
characters are dropped, and so are the marks of Latin, Greek, Cyrillic, Arabic and Hebrew letters.
Words end at punctuation, and where a script without blanks begins: Chinese, Japanese, Thai, Lao,
Khmer, Burmese, and Korean, which attaches its particles. A run of such a script becomes its pairs
of characters, then its last character: `東京都` is `東京`, `京都` and `都`. So any part of a run is
a sequence of pairs, a single character is the beginning of a token, and the end of a run is known.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache, partial

from jitchat.text.expressions import expressions
from jitchat.text.languages import ENGLISH, snowball
from jitchat.text.words import LONGEST, TO_PLAIN_LATIN

_ASCII_TOKEN = re.compile(r"[0-9a-z]+|(?<=(?<![0-9a-z])[a-z])[+#]+|(?<=[0-9a-z])\+\++")
"""A word, and what follows it in `c++`, `c#` and `notepad++`."""
_LEAST_OPEN = 3
"""Letters of a beginning: of a million turns, those of two take up to half a second."""
_MOST_PHRASES, _MOST_TOKENS = 32, 64
"""What a query has beyond that is ignored."""
_ONLY_WORDS = {code: " " for code in range(128) if not chr(code).isalnum()}
_expressions = partial(expressions, "search_tokens")


def fold(text: str) -> str:
    """Return the text in the form in which texts and queries are compared."""
    if text.isascii():
        return text.lower()
    return "".join(map(_fold_piece, _expressions()["piece"].findall(text)))


def _fold_piece(text: str) -> str:
    """Fold whole grapheme clusters."""
    if text.isascii():
        return text.lower()
    visible = _expressions()["dropped"].sub("", text)
    plain = _expressions()["marks"].sub("", unicodedata.normalize("NFKD", visible))
    return unicodedata.normalize("NFKC", plain.casefold().translate(TO_PLAIN_LATIN))


_fold_cluster = lru_cache(1 << 14)(_fold_piece)


def terms(text: str) -> list[str]:
    """List the tokens of a text as they are indexed: English words as stems."""
    folded = fold(text)
    if folded.isascii() and "+" not in folded and "#" not in folded:  # in a third of the time
        return [_stem(word[:LONGEST]) for word in folded.translate(_ONLY_WORDS).split()]
    return [_term(token) for chunk, is_run in _chunks(folded) for token in _tokens(chunk, is_run)]


def _chunks(folded: str) -> list[tuple[str, bool]]:
    """List the words and symbols of a folded text, and its runs of a script without blanks."""
    if folded.isascii():
        return [(word, False) for word in _ASCII_TOKEN.findall(folded)]
    return [(match[0], bool(match.lastindex)) for match in _expressions()["token"].finditer(folded)]


def _tokens(chunk: str, is_run: bool) -> list[str]:
    return [chunk[start : start + 2] for start in range(len(chunk))] if is_run else [chunk]


def _term(token: str) -> str:
    short = token[:LONGEST]
    return _stem(short) if short.isascii() else short


@lru_cache(1 << 16)
def _stem(word: str) -> str:
    return snowball(ENGLISH)(word)


@dataclass(frozen=True, slots=True)
class Phrase:
    """A text to be found: what stands between two blanks of a query, or in quotes."""

    tokens: tuple[str, ...]
    words: tuple[str, ...]
    """Those of its tokens that are stemmed."""
    is_exact: bool
    """Whether it was in quotes: words are not stemmed."""
    is_open: bool
    """Whether the last word can be the beginning of one."""
    is_single: bool
    """Whether the last token is one character of a script without blanks, which begins others."""
    pattern: re.Pattern[str]
    """Matches wherever the phrase is in a folded text, and more; a group for each of `words`."""

    def expression(self, *, is_open: bool) -> str:
        """Return the phrase in the syntax of FTS5, with its beginning or as it is."""
        stems = [_term(token) for token in self.tokens]
        words = f'"{" ".join(stems)}"{" *" * self.is_single}'
        if not (is_open and self.is_open):
            return words
        beginning = f'"{" ".join([*stems[:-1], self.tokens[-1][:LONGEST]])}" *'
        return f"({words} OR {beginning})"

    @property
    def is_verified(self) -> bool:
        """Whether texts that the index finds must be searched: it holds stems only."""
        return self.is_exact and bool(self.words)

    def is_in(self, folded: str) -> bool:
        return any(True for _ in self.find_in(folded))

    def find_in(self, folded: str) -> Iterator[tuple[int, int]]:
        """Yield (start, end) of each match in a folded text."""
        last = len(self.words) - 1 if self.is_open else -1
        for match in self.pattern.finditer(folded):
            pairs = zip(match.groups(), self.words, strict=True)
            if self.is_exact or all(
                _term(group) == _term(word) or (number == last and group.startswith(word))
                for number, (group, word) in enumerate(pairs)
            ):
                yield match.span()


def phrases_of(query: str) -> list[Phrase]:
    """Split a query into phrases; the last one is open, if it is not in quotes."""
    matches = list(_expressions()["phrase"].finditer(query))[:_MOST_PHRASES]
    phrases = []
    for match in matches:
        is_quoted, is_last = match[6] is None, match is matches[-1]
        phrases.append(_phrase(match[match.lastindex or 0], is_exact=is_quoted, is_last=is_last))
    return [phrase for phrase in phrases if phrase is not None]


def _phrase(text: str, *, is_exact: bool, is_last: bool) -> Phrase | None:
    chunks: list[tuple[str, bool]] = []
    tokens: list[str] = []
    for chunk, is_run in _chunks(fold(text)):
        if len(tokens) < _MOST_TOKENS:
            chunks.append((chunk[:_MOST_TOKENS] if is_run else chunk, is_run))
            tokens += _tokens(*chunks[-1])
    if not tokens:
        return None
    last, is_run = chunks[-1]
    is_single = is_run and len(last) == 1
    if is_run and not is_single:
        tokens.pop()  # the run may go on
    is_long = not is_run and last[0].isalnum() and len(last) >= _LEAST_OPEN
    words = tuple(chunk for chunk, _ in chunks if _WORD.fullmatch(chunk))
    symbols = re.escape("".join(chunk[0] for chunk, _ in chunks if not chunk[0].isalnum()))
    between = rf"(?:_|[^\w{symbols}])*+"  # as it goes back nowhere, it takes linear time
    pattern = re.compile(between.join(_source(chunk, is_exact=is_exact) for chunk, _ in chunks))
    is_open = is_last and is_long and not is_exact
    return Phrase(tuple(tokens), words, is_exact, is_open, is_single, pattern)


_WORD = re.compile("[0-9a-z]+")


def _source(chunk: str, *, is_exact: bool) -> str:
    """Return the pattern for a chunk of a phrase; words begin as stems without two letters do."""
    if not _WORD.fullmatch(chunk):
        return re.escape(chunk)
    if is_exact:
        return f"(?<![0-9a-z])({chunk})(?![0-9a-z])"
    return f"(?<![0-9a-z])({_term(chunk)[:-2] or chunk[0]}[0-9a-z]*+)"


def fold_in_place(text: str) -> tuple[str, list[tuple[int, int]]]:
    """Fold a short text; also return (start, end) in the text of what each character is from."""
    folded: list[str] = []
    spans: list[tuple[int, int]] = []
    for match in _expressions()["cluster"].finditer(text):
        cluster = _fold_cluster(match[0])
        folded.append(cluster)
        spans += [match.span()] * len(cluster)
    return "".join(folded), spans


def find_folded(pattern: re.Pattern[str], text: str) -> list[tuple[int, int]]:
    """List (start, end) in a text of each match of a pattern for folded text."""
    folded = fold(text)
    if text.isascii():
        return [match.span() for match in pattern.finditer(folded)]
    if not pattern.search(folded):  # the answer for most texts, in a sixth of the time
        return []
    folded, origins = fold_in_place(text)
    matches = [match.span() for match in pattern.finditer(folded)]
    return [(origins[start][0], origins[end - 1][1]) for start, end in matches]
