"""Language detection, function words and stemming.

A script that only one language uses identifies it. The languages in Latin script are distinguished
by their function words, each of which counts more the fewer languages have it. A text without
evidence for another language is taken for English, so a single word is stemmed as English.

Words are folded before Snowball stems them, so that a search without accents finds the same; rules
applied before and after Snowball correct what it misses without accents. Each file in
`data/languages` describes a language in Latin script: its function words, its negators, letters
that occur in no other language, its number words from two on, and endings of words and of stems,
each with the minimum number of letters before it and its replacement.

Arabic is stemmed with the prefixes and suffixes of light10: Larkey, Ballesteros and Connell, "Light
Stemming for Arabic Information Retrieval" (2007). A stem is only for matching and need not be a
word.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from jitchat.text.expressions import data, lines_of, word_list

ENGLISH = "english"
_ENOUGH = 240
"""Maximum words read to detect a language."""
_LEAST = 0.5
"""A language other than English needs more votes than this. Each function word casts one vote,
divided among the languages that have it."""
_MARK = 1.0
"""Votes of a letter that only one language has."""

_Ending = tuple[str, int, str]
"""An ending, the minimum number of letters before it, and its replacement."""


def language_of(words: Sequence[str], text: str = "") -> str:
    """Detect the language of a text in Latin script from its folded words; English if in doubt.

    `text` is the original text; accented letters that only one language has count, too.
    """
    shares, marks = _shares(), _marks()
    votes: dict[str, float] = {}
    for word in words[:_ENOUGH]:
        for language, share in shares.get(word, ()):
            votes[language] = votes.get(language, 0.0) + share
    if text and not text.isascii():
        for mark in marks.keys() & set(text):
            votes[marks[mark]] = votes.get(marks[mark], 0.0) + _MARK
    own = votes.pop(ENGLISH, 0.0)
    best = max(votes, key=lambda language: votes[language], default=ENGLISH)
    return best if votes.get(best, 0.0) > max(own, _LEAST) else ENGLISH


@cache
def languages() -> tuple[str, ...]:
    """Return the names of the languages in Latin script."""
    return (ENGLISH, *_rules())


@cache
def function_words(language: str) -> frozenset[str]:
    """Return the function words of a language, folded.

    They include those of English and of the languages that are not in Latin script.
    """
    own = _rules().get(language, {}).get("words", "").split()
    return english_function_words() | word_list("function_words_of_scripts") | set(own)


@cache
def negators(language: str) -> frozenset[str]:
    """Return the negators of a language other than English; none if it is not known."""
    return frozenset(_rules().get(language, {}).get("negators", "").split())


def english_function_words() -> frozenset[str]:
    """Read the function words of English, folded."""
    return word_list("function_words")


def stemmed(word: str, language: str) -> str:
    """Stem a folded word by its script or, in Latin script, by the language of the text."""
    if word.isascii():
        return _stem_latin(word, language)
    letter = word[0]
    if "\u0400" <= letter <= "\u04ff":
        return _replaced(snowball("russian")(word), data("scripts")["russian"])
    if "\u0620" <= letter <= "\u06ff":
        bare = _AR_PREFIX.sub("", word.translate(_AR_ALIKE))
        return _replaced(bare, data("scripts")["arabic"])
    if "\u0370" <= letter <= "\u03ff":
        return snowball("greek")(word)
    return word


def _stem_latin(word: str, language: str) -> str:
    rules = _rules().get(language)
    if rules is None:
        return snowball(ENGLISH)(word)
    if not word.isalpha():
        return word
    if language == "german":
        word = _participle(_UMLAUT.sub(r"\1", word))
    stem = snowball(language)(_replaced(word, rules.get("before", ())))
    return _replaced(stem, rules.get("endings", ()))


_UMLAUT = re.compile(r"(?<![aeq])([aou])e(?=[^aeiou])")
"""`ue` written for `ü`, which folds to `u`."""
_PARTICIPLE = 7
"""Minimum letters of a participle; shorter words with `ge` are mostly other words."""


def _participle(word: str) -> str:
    """Remove the prefix of a German participle: `gekündigt` becomes `kündigt`."""
    is_one = word.startswith("ge") and word.endswith(("t", "en")) and len(word) >= _PARTICIPLE
    return word[2:] if is_one else word


_AR_ALIKE = str.maketrans("ىئؤکی", "يءءكي")
_AR_PREFIX = re.compile(r"^(?:و?(?:ال|لل)|[وفبك]ال|و(?=...))(?=..)")


def _replaced(word: str, endings: Iterable[_Ending]) -> str:
    """Replace the first ending that matches."""
    for ending, least, replacement in endings:
        if word.endswith(ending) and len(word) >= least + len(ending):
            return word[: -len(ending)] + replacement
    return word


@cache
def snowball(language: str) -> Callable[[str], str]:
    from py_rust_stemmers import SnowballStemmer  # noqa: PLC0415  not needed to print help

    stem_word: Callable[[str], str] = SnowballStemmer(language).stem_word
    return stem_word


@cache
def _rules() -> Mapping[str, Mapping[str, Any]]:
    """Read the files on languages in Latin script, by the language's name."""
    folder = files(__package__) / "data" / "languages"
    names = sorted(file.name for file in folder.iterdir())
    languages = [name.removesuffix(".toml") for name in names]
    return {language: data(f"languages/{language}") for language in languages}


def number_forms(word: str, language: str) -> tuple[str, ...]:
    """Return the ways to write the number that a folded word stands for; none if not a number."""
    return _number_forms(language).get(word) or _number_forms(ENGLISH).get(word, ())


@cache
def _number_forms(language: str) -> Mapping[str, tuple[str, ...]]:
    if language == ENGLISH:
        lines = lines_of("english_numbers")
        numbers = [tuple(line.replace(":", "").split()) for line in lines]
    else:
        words = _rules()[language].get("numbers", "").split()
        numbers = [(str(value), word) for value, word in enumerate(words, 2)]
    return {form: forms for forms in numbers for form in forms}


@cache
def _shares() -> Mapping[str, tuple[tuple[str, float], ...]]:
    """Return, by function word, the languages that have it, with its vote for each.

    Words that are also English words, names or abbreviations count for English, too: `van`, `die`,
    `los`. Single letters do not count, because they are common in code.
    """
    lists = {language: frozenset(rules["words"].split()) for language, rules in _rules().items()}
    lists[ENGLISH] = english_function_words() | word_list("english_too")
    having: dict[str, list[str]] = {}
    for language, words in lists.items():
        for word in (each for each in words if len(each) > 1):
            having.setdefault(word, []).append(language)
    return {
        word: tuple((language, 1 / len(among)) for language in among)
        for word, among in having.items()
    }


@cache
def _marks() -> Mapping[str, str]:
    return {
        mark: language for language, rules in _rules().items() for mark in rules.get("marks", "")
    }
