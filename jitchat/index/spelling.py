"""Words of a draft as the conversation has them: other forms, parts of compounds, misspellings.

A word that occurs stands for itself. Beside it, or in its place where it does not occur, stand the
stems that it has in another language, for of a short text the language is uncertain; a number in
figures or in words; and German compounds that begin or end with it. What does not occur in any
form is looked for in two parts, and else as a misspelling: of a word one edit away, or two from
eight letters on, where an edit is a letter more, less or other, or two exchanged (Damerau, 1964).
Words with a figure are never corrected, nor is a first letter; words of four letters only where a
letter is doubled or two are exchanged.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from string import ascii_lowercase

import numpy as np
from numpy.typing import NDArray

from jitchat.index.lexical import EITHER, Postings
from jitchat.index.retrieve import Query
from jitchat.text.languages import (
    ENGLISH,
    english_function_words,
    languages,
    number_forms,
    stemmed,
)
from jitchat.text.negation import is_negation
from jitchat.text.words import stem

CORRECTED = 0.7
"""What a word counts that is found in another spelling, or in one of its two parts."""
_MOST_UNKNOWN = 8
"""Words of a draft that are looked for in other spellings: a longer one has words enough."""
_SHORT, _SHORTEST, _LONG = 4, 5, 8
"""Letters: below the second a word is only corrected in part, from the third on by two edits."""
_WIDTH = 16
"""Letters of a word that are compared; longer ones are not corrected."""
_LONGEST = 40
"""Letters of a compound."""
_COMPOUND, _REST, _PART = 5, 2, 4
"""Letters of what is looked for in compounds, of what else is in them, and of a part of a word."""
_MOST_COMPOUNDS = 12
_LETTER = re.compile(r"[^\W\d_]+")


class Spelling:
    """The stems of one conversation, to be searched for those that are much like a word.

    Grows with `postings`; a stem that was taken back is passed over.
    """

    def __init__(self, postings: Postings) -> None:
        self._postings = postings
        self._packed, self._packed_count = _Vocabulary(()), 0
        """Of the packs of `postings`, which had so many stems then."""
        self._unpacked, self._generation = _Vocabulary(()), -1
        """Of what is behind the packs, and of which generation of `postings`."""
        self._last: tuple[Query, int, Query] | None = None
        """The query that was expanded last, of which generation, and what was made of it."""

    def expanded(self, query: Query) -> Query:
        """Put in place of each stem of a query what stands for it, be it `EITHER` of several."""
        if self._last and self._last[:2] == (query, self._postings.generation):
            return self._last[2]
        self._last = query, self._postings.generation, self._expand(query)
        return self._last[2]

    def _expand(self, query: Query) -> Query:
        weights, spelled, left = dict[str, float](), dict[str, str](), _MOST_UNKNOWN
        for own, weight in query.weights.items():
            word, worth = query.spelled[own], weight
            forms = self._forms(own, word, query.language)
            found = [(EITHER.join(forms), word)] if forms else []
            if not forms and left and _LETTER.fullmatch(word) and len(word) >= _SHORT:
                left, worth = left - 1, weight * CORRECTED
                found = self._parts(word, query.language) or self._corrected(
                    own, word, query.language
                )
            for each, shown in found:
                weights.setdefault(each, worth)
                spelled.setdefault(each, shown)
            if not found and not is_negation(own):
                weights.setdefault(own, weight)
                spelled.setdefault(own, word)
        return replace(query, weights=weights, spelled=spelled)

    def _forms(self, own: str, word: str, language: str) -> tuple[str, ...]:
        """List the stems that stand for a word, the same ones in one order."""
        occurs = self._postings.has
        forms = [own] if occurs(own) else []
        numbers = (stem(each, language) for each in number_forms(word, language))
        forms += [each for each in numbers if occurs(each)]
        if not _LETTER.fullmatch(word):
            return tuple(dict.fromkeys(forms))
        if word.isascii():
            wanted = languages() if not forms else (ENGLISH, language)
            others = (stem(word, each) for each in wanted if each != language)
            forms += [each for each in others if len(each) > _REST and occurs(each)]
            if language == "german" and len(word) >= _COMPOUND:
                forms += self._compounds(own)
        elif "\u0620" <= word[0] <= "\u06ff":
            forms += [each for each in _with_prefixes(word, own) if occurs(each)]
        return tuple(dict.fromkeys(forms))

    def _compounds(self, part: str) -> list[str]:
        """List compounds that begin or end with a part, which the conversation has."""
        near = [each for stems in self._vocabularies() for each in stems.beside(part)]
        found = (each for each in dict.fromkeys(near) if len(each) >= len(part) + _REST)
        return [each for each in found if self._postings.has(each)][:_MOST_COMPOUNDS]

    def _parts(self, word: str, language: str) -> list[tuple[str, str]]:
        """Cut a word in two that both occur, the longest first; with the letters that join them."""
        occurs, passed_over = self._postings.has, english_function_words()
        for at in range(len(word) - _PART, _PART - 1, -1):
            first, second = word[:at], word[at:]
            if second in passed_over or not occurs(stem(second, language)):
                continue
            for ahead in _without_joint(first, language):
                is_word = len(ahead) >= _PART and ahead not in passed_over
                if is_word and occurs(stem(ahead, language)):
                    return [(stem(each, language), each) for each in (ahead, second)]
        return []

    def _corrected(self, own: str, word: str, language: str) -> list[tuple[str, str]]:
        """Find the stem that a misspelt word is nearest to, and how to show it."""
        if len(word) > _WIDTH:
            return []
        near = dict[str, str]()
        for each in _one_edit(word):
            found = stemmed(each, language)
            if found not in near and self._postings.has(found):
                near[found] = each
        if not near and len(word) >= _SHORTEST:
            near = {each: each for each in self._within(own, 1 + (len(word) >= _LONG))}
        best = max(near, key=self._postings.having, default=None)
        return [(best, near[best])] if best is not None else []

    def _within(self, wanted: str, edits: int) -> list[str]:
        """List the stems within so many edits of another, those of the fewest edits alone."""
        near = {
            word: distance
            for stems in self._vocabularies()
            for word, distance in stems.beginning(wanted[0]).within(wanted, edits)
            if self._postings.has(word)
        }
        least = min(near.values(), default=0)
        return [word for word, distance in near.items() if distance == least]

    def _vocabularies(self) -> "tuple[_Vocabulary, _Vocabulary]":
        postings = self._postings
        if self._packed_count != len(postings.packed_stems):
            self._packed_count = len(postings.packed_stems)
            self._packed = _Vocabulary(postings.packed_stems)
        if self._generation != postings.generation:
            self._generation = postings.generation
            self._unpacked = _Vocabulary(postings.unpacked_stems)
        return self._packed, self._unpacked


class _Vocabulary:
    """Stems as one text, which is searched fast; arrays are made of those that begin alike."""

    def __init__(self, stems: Iterable[str]) -> None:
        self._lines = "\n".join(("", *stems, ""))
        self._tables: dict[str, _Table] = {}

    def beside(self, part: str) -> Iterator[str]:
        """List the stems of letters alone that begin or end with a part."""
        for piece in (f"{part}\n", f"\n{part}"):
            for each in _lines_with(self._lines, piece):
                if len(each) <= _LONGEST and each.isalpha():
                    yield each

    def beginning(self, letter: str) -> "_Table":
        """Give the stems of letters alone that begin with one."""
        if letter not in self._tables:
            line = re.compile(rf"\n{letter}[^\W\d_]{{{_SHORT - 1},{_WIDTH - 1}}}(?=\n)")
            self._tables[letter] = _Table.of([each[1:] for each in line.findall(self._lines)])
        return self._tables[letter]


@dataclass(frozen=True, slots=True)
class _Table:
    """Stems as arrays, to be compared with a word all at once."""

    words: list[str]
    letters: NDArray[np.uint16]
    """Shape (words, _WIDTH)."""
    masks: NDArray[np.uint64]
    """Which letters are in each."""
    lengths: NDArray[np.int16]

    @classmethod
    def of(cls, words: list[str]) -> "_Table":
        """Make arrays of words of `_WIDTH` letters at the most."""
        letters = _letters(words)
        lengths = np.fromiter(map(len, words), dtype=np.int16, count=len(words))
        return cls(words, letters, _masks(letters), lengths)

    def within(self, wanted: str, edits: int) -> Iterator[tuple[str, int]]:
        """List the words within so many edits of another, with how many it takes."""
        letters, length = _letters([wanted]), len(wanted)
        differ = np.bitwise_count(self.masks ^ _masks(letters)[0])
        is_near = (differ <= 2 * edits) & (np.abs(self.lengths - length) <= edits)
        rows = np.flatnonzero(is_near)
        distances = _distances(letters[0, :length], self.letters[rows], self.lengths[rows])
        for row, distance in zip(rows.tolist(), distances.tolist(), strict=True):
            if distance <= edits:
                yield self.words[row], distance


def _lines_with(lines: str, piece: str) -> Iterator[str]:
    """List the lines that have a piece, which begins or ends with a line's end."""
    at = lines.find(piece)
    while at >= 0:
        start = at + 1 if piece[0] == "\n" else lines.rfind("\n", 0, at + 1) + 1
        end = lines.find("\n", at + 1)
        yield lines[start:end]
        at = lines.find(piece, end)


def _without_joint(part: str, language: str) -> list[str]:
    """List what the first part of a compound may be without the letters that join it."""
    joints = ("", "s", "es", "n", "en") if language == "german" else ("",)
    return [part.removesuffix(joint) for joint in joints if part.endswith(joint)]


_AR_JOINED = "بلفكو"


def _with_prefixes(word: str, own: str) -> list[str]:
    """List the stems of an Arabic word without and with a preposition that is joined to it."""
    bare = [stem(word[1:])] if word[0] in _AR_JOINED and len(word) > _SHORT else []
    return bare + [letter + own for letter in _AR_JOINED]


def _one_edit(word: str) -> Iterator[str]:
    """List the words one edit away that begin alike; of four letters, those that are likely."""
    alphabet = _alphabet(word[0])
    for at in range(len(word)):
        ahead, behind = word[:at], word[at:]
        if len(behind) > 1 and behind[0] != behind[1]:
            yield ahead + behind[1] + behind[0] + behind[2:]
        if at:
            if len(word) >= _SHORTEST or behind[0] == ahead[-1]:
                yield ahead + behind[1:]
            yield ahead + ahead[-1] + behind
            if len(word) >= _SHORTEST:
                yield from (ahead + letter + behind for letter in alphabet)
                yield from (ahead + letter + behind[1:] for letter in alphabet)
    yield word + word[-1]
    if len(word) >= _SHORTEST:
        yield from (word + letter for letter in alphabet)


def _alphabet(letter: str) -> str:
    if letter.isascii():
        return ascii_lowercase
    return _CYRILLIC if letter in _CYRILLIC else ""


_CYRILLIC = "абвгдежзиклмнопрстуфхцчшщъыьэюя"
_BITS = np.uint64(64)


def _letters(words: Sequence[str]) -> NDArray[np.uint16]:
    """Write words as numbers of their letters, shape (words, _WIDTH), filled up with 0."""
    cut = np.array([word[:_WIDTH] for word in words], dtype=f"<U{_WIDTH}")
    return cut.view(np.uint32).reshape(len(words), _WIDTH).astype(np.uint16)


def _masks(letters: NDArray[np.uint16]) -> NDArray[np.uint64]:
    """Mark which letters are in each word, a bit a letter; one edit changes two bits at most."""
    bits = np.uint64(1) << (letters.astype(np.uint64) % _BITS)
    bits[letters == 0] = 0
    masks: NDArray[np.uint64] = np.bitwise_or.reduce(bits, axis=1)
    return masks


def _distances(
    wanted: NDArray[np.uint16], words: NDArray[np.uint16], lengths: NDArray[np.int16]
) -> NDArray[np.int16]:
    """Count the edits from a word to each of `words` (optimal string alignment), by word."""
    rows = len(words)
    last = np.tile(np.arange(_WIDTH + 1, dtype=np.int16), (rows, 1))
    before = last
    for at, letter in enumerate(wanted, start=1):
        now = np.empty_like(last)
        now[:, 0] = at
        other = (words != letter).astype(np.int16)
        for to in range(1, _WIDTH + 1):
            cost = np.minimum(last[:, to - 1] + other[:, to - 1], last[:, to] + 1)
            np.minimum(cost, now[:, to - 1] + 1, out=cost)
            if at > 1 and to > 1:
                swapped = (words[:, to - 1] == wanted[at - 2]) & (words[:, to - 2] == letter)
                np.minimum(cost, np.where(swapped, before[:, to - 2] + 1, cost), out=cost)
            now[:, to] = cost
        before, last = last, now
    found: NDArray[np.int16] = last[np.arange(rows), lengths]
    return found
