"""Map a draft's words to the conversation's: variants, parts of compounds, corrected spellings.

A word is searched together with its variants that occur: its stems in other languages, because the
language of a short text is uncertain; a number in figures or in words; and German compounds that
begin or end with it. A word that does not occur in any variant is split into two parts, or else
treated as a misspelling of a word or stem one edit away, or of a stem two edits away from eight
letters on. An edit inserts, deletes or replaces a letter or swaps two adjacent ones (Damerau,
1964). Words with digits and first letters are never corrected; words of four letters only if a
letter is doubled or two are swapped.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain
from string import ascii_lowercase

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
"""The weight factor of a word that is corrected, or split into two parts."""
_MOST_UNKNOWN = 8
"""Maximum words of a draft to correct; a longer draft has enough other words."""
_SHORT, _SHORTEST, _LONG = 4, 5, 8
"""Minimum letters for the corrections of short words, for all single edits, and for two edits."""
_WIDTH = 16
"""Maximum letters of a word to correct."""
_LONGEST = 40
"""Maximum letters of a compound."""
_COMPOUND, _REST, _PART = 5, 2, 4
"""Minimum letters of a word looked for in compounds, of the compound's rest, and of a split
word's parts."""
_MOST_COMPOUNDS = 12
_LETTER = re.compile(r"[^\W\d_]+")


class Spelling:
    """Searches the stems of one conversation for those similar to a word.

    Follows changes of `postings`; stems whose documents were removed are skipped.
    """

    def __init__(self, postings: Postings) -> None:
        self._postings = postings
        self._known, self._generation = _Vocabulary(()), -1
        """The stems, and the generation of `postings` they were read from."""
        self._last: tuple[Query, int, Query] | None = None
        """The last expanded query, the generation of `postings`, and the result."""

    def expanded(self, query: Query) -> Query:
        """Replace each stem of a query by the stems to search for, joined by `EITHER`."""
        if self._last and self._last[:2] == (query, self._postings.generation):
            return self._last[2]
        self._last = query, self._postings.generation, self._expand(query)
        return self._last[2]

    def _expand(self, query: Query) -> Query:
        weights, spelled, left = dict[str, float](), dict[str, str](), _MOST_UNKNOWN
        for own, weight in query.weights.items():
            word, worth = query.spelled[own], weight
            variants = self._variants(own, word, query.language)
            found = [(EITHER.join(variants), word)] if variants else []
            if not variants and left and _LETTER.fullmatch(word) and len(word) >= _SHORT:
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

    def _variants(self, own: str, word: str, language: str) -> tuple[str, ...]:
        """List the stems that occur and match a word, in a fixed order."""
        occurs = self._postings.has
        variants = [own] if occurs(own) else []
        numbers = (stem(each, language) for each in number_forms(word, language))
        variants += [each for each in numbers if occurs(each)]
        if not _LETTER.fullmatch(word):
            return tuple(dict.fromkeys(variants))
        if word.isascii():
            wanted = languages() if not variants else (ENGLISH, language)
            others = (stem(word, each) for each in wanted if each != language)
            variants += [each for each in others if len(each) > _REST and occurs(each)]
            if language == "german" and len(word) >= _COMPOUND:
                variants += self._compounds(own)
        elif "\u0620" <= word[0] <= "\u06ff":
            variants += [each for each in _with_prefixes(word, own) if occurs(each)]
        return tuple(dict.fromkeys(variants))

    def _compounds(self, part: str) -> list[str]:
        """List the conversation's compounds that begin or end with `part`."""
        near = dict.fromkeys(self._vocabulary().compounds(part))
        found = (each for each in near if len(each) >= len(part) + _REST)
        return [each for each in found if self._postings.has(each)][:_MOST_COMPOUNDS]

    def _parts(self, word: str, language: str) -> list[tuple[str, str]]:
        """Split a word into two words that occur, preferring a long first one.

        Returns the stem and the word of each; German linking letters between them are removed.
        """
        occurs, passed_over = self._postings.has, english_function_words()
        for at in range(len(word) - _PART, _PART - 1, -1):
            first, second = word[:at], word[at:]
            if second in passed_over or not occurs(stem(second, language)):
                continue
            for head in _without_joint(first, language):
                is_word = len(head) >= _PART and head not in passed_over
                if is_word and occurs(stem(head, language)):
                    return [(stem(each, language), each) for each in (head, second)]
        return []

    def _corrected(self, own: str, word: str, language: str) -> list[tuple[str, str]]:
        """Find the stem nearest to a misspelt word, and the word to show for it."""
        if len(word) > _WIDTH:
            return []
        near = dict[str, str]()
        for each in _one_edit(word):
            found = stemmed(each, language)
            if found not in near and self._postings.has(found):
                near[found] = each
        if not near and len(own) >= _SHORTEST:
            near = {each: each for each in self._within(own, 1 + (len(own) >= _LONG))}
        best = max(near, key=self._postings.having, default=None)
        return [(best, near[best])] if best is not None else []

    def _within(self, wanted: str, edits: int) -> list[str]:
        """List the stems with the fewest edits from `wanted`, at most `edits`."""
        near = {
            word: distance
            for word, distance in self._vocabulary().within(wanted, edits)
            if self._postings.has(word)
        }
        least = min(near.values(), default=0)
        return [word for word, distance in near.items() if distance == least]

    def _vocabulary(self) -> "_Vocabulary":
        postings = self._postings
        if self._generation != postings.generation:
            self._generation = postings.generation
            self._known = _Vocabulary(chain(postings.packed_stems, postings.unpacked_stems))
        return self._known


class _Vocabulary:
    """Stems as one string, which is fast to search."""

    def __init__(self, stems: Iterable[str]) -> None:
        self._lines = "\n".join(("", *stems, ""))
        self._by_letter: dict[str, list[str]] = {}
        """Stems of at most `_WIDTH` letters and nothing else, by their first letter."""

    def compounds(self, part: str) -> Iterator[str]:
        """List the stems of letters only that begin or end with `part`."""
        for wanted in (f"{part}\n", f"\n{part}"):
            for each in _lines_with(self._lines, wanted):
                if len(each) <= _LONGEST and each.isalpha():
                    yield each

    def within(self, wanted: str, edits: int) -> Iterator[tuple[str, int]]:
        """List the stems within `edits` edits of `wanted`, with the same first letter."""
        letter, letters = wanted[0], set(wanted)
        if letter not in self._by_letter:
            line = re.compile(rf"(?<=\n){letter}[^\W\d_]{{{_SHORT - 1},{_WIDTH - 1}}}(?=\n)")
            self._by_letter[letter] = line.findall(self._lines)
        for word in self._by_letter[letter]:
            if abs(len(word) - len(wanted)) > edits:
                continue
            # an edit takes one letter away and brings one at most: of 93,000 words, 70 are left
            if len(letters.symmetric_difference(word)) <= 2 * edits:
                distance = _distance(wanted, word)
                if distance <= edits:
                    yield word, distance


def _lines_with(lines: str, wanted: str) -> Iterator[str]:
    """List the lines that contain `wanted`, which begins or ends with a line break."""
    at = lines.find(wanted)
    while at >= 0:
        start = at + 1 if wanted[0] == "\n" else lines.rfind("\n", 0, at + 1) + 1
        end = lines.find("\n", at + 1)
        yield lines[start:end]
        at = lines.find(wanted, end)


def _without_joint(part: str, language: str) -> list[str]:
    """List the candidates for a compound's first part, with and without linking letters."""
    joints = ("", "s", "es", "n", "en") if language == "german" else ("",)
    return [part.removesuffix(joint) for joint in joints if part.endswith(joint)]


_AR_JOINED = "بلفكو"


def _with_prefixes(word: str, own: str) -> list[str]:
    """List the stems of an Arabic word with and without prefixed prepositions."""
    bare = [stem(word[1:])] if word[0] in _AR_JOINED and len(word) > _SHORT else []
    return bare + [letter + own for letter in _AR_JOINED]


def _one_edit(word: str) -> Iterator[str]:
    """List the words one edit away with the same first letter; if short, only likely edits."""
    alphabet = _alphabet(word[0])
    for at in range(len(word)):
        head, tail = word[:at], word[at:]
        if len(tail) > 1 and tail[0] != tail[1]:
            yield head + tail[1] + tail[0] + tail[2:]
        if at:
            if len(word) >= _SHORTEST or tail[0] == head[-1]:
                yield head + tail[1:]
            yield head + head[-1] + tail
            if len(word) >= _SHORTEST:
                yield from (head + letter + tail for letter in alphabet)
                yield from (head + letter + tail[1:] for letter in alphabet)
    yield word + word[-1]
    if len(word) >= _SHORTEST:
        yield from (word + letter for letter in alphabet)


def _alphabet(letter: str) -> str:
    if letter.isascii():
        return ascii_lowercase
    return _CYRILLIC if letter in _CYRILLIC else ""


_CYRILLIC = "абвгдежзиклмнопрстуфхцчшщъыьэюя"


def _distance(one: str, other: str) -> int:
    """Count the edits from one word to the other (optimal string alignment distance)."""
    before: list[int] = []
    last = list(range(len(other) + 1))
    for at, letter in enumerate(one, start=1):
        now = [at]
        for to, found in enumerate(other, start=1):
            cost = min(last[to - 1] + (letter != found), last[to] + 1, now[-1] + 1)
            if min(at, to) > 1 and (letter, one[at - 2]) == (other[to - 2], found):
                cost = min(cost, before[to - 2] + 1)
            now.append(cost)
        before, last = last, now
    return last[-1]
