"""What a text says is not so, as stems of its own: `not-want` of "I really don't want a cat".

The words that negate are function words, and so a question about what somebody does not want finds
all that anybody wants. A negation is joined to the next word that says something; and verbs that
deny by themselves ("we dropped it", "ruled out") share a stem with what they stand for ("no longer
use"). English; of other languages, only whether anything is denied is told (`denials`).
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files

from jitchat.text.languages import ENGLISH, english_function_words, negators
from jitchat.text.words import content_of, stem, words

_DATA = files(__package__) / "data"
_PARTICLES = frozenset(["out", "down", "against", "rid", "up"])
_PASSED_OVER = frozenset(["really", "ever", "actually", "even", "longer", "want", "going", "able"])
"""Behind a negation: what comes next is negated as well."""
_IDENTIFIER = re.compile(r"(?<!\w)[^\W_]*+_\w+")
"""`is_not_there` denies nothing."""
_REACH = 4
"""Words from a negation to what it negates."""


def stems_and_negations(text: str) -> list[str]:
    """List what a turn is found by: its stems, in order, then what it says is not so."""
    found, language = content_of(text)
    return [stem(word, language) for word in found] + negations(text, language)


def negations(text: str, language: str = ENGLISH) -> list[str]:
    """List what is negated in a text, in order: `not-` and a stem, and what that means, `~`."""
    return list(_found(words(_IDENTIFIER.sub(" ", text)))) if language == ENGLISH else []


def denials(text: str, language: str) -> frozenset[str]:
    """Give what a statement denies, to be compared with another's; no order, nothing twice."""
    if language == ENGLISH:
        return frozenset(negations(text))
    return frozenset(["not"]) if negators(language).intersection(words(text)) else frozenset()


def is_negation(stem_of_query: str) -> bool:
    """Whether a stem is one of `negations`, and none of the words that were written."""
    return stem_of_query.startswith(("~", "not-"))


def spelt_out(negation: str) -> str:
    """Write one of `negations` in words: `not want`, `rejected`."""
    return negation.removeprefix("~").replace("-", " ")


def _found(said: Sequence[str]) -> Iterator[str]:
    meanings = _meanings()
    for at, word in enumerate(said):
        own = stem(word)
        if word in _negators() or (word == "no" and said[at + 1 : at + 2] == ["longer"]):
            found = [f"not-{each}" for each in _next(said, at + 1)]
        elif word in _PARTICLES and at:
            found = [f"{stem(said[at - 1])}-{word}"]
        else:
            found = []
        yield from found
        for each in (own, *found):
            if each in meanings:
                yield from meanings[each]


def _next(said: Sequence[str], start: int) -> Iterator[str]:
    """Give the next words that say something: the first, and what it is about if that is little."""
    for word in said[start : start + _REACH]:
        if word == "like" or word not in english_function_words():
            yield stem(word)
            if word not in _PASSED_OVER:
                return


@cache
def _negators() -> frozenset[str]:
    return frozenset((_DATA / "negators.txt").read_text("utf-8").split())


@cache
def _meanings() -> Mapping[str, tuple[str, ...]]:
    """By a stem, or two that are joined: what it means, as stems."""
    found: dict[str, tuple[str, ...]] = {}
    for line in (_DATA / "negation.txt").read_text("utf-8").splitlines():
        if not line.startswith("#"):
            meaning, _, phrases = line.partition(": ")
            for phrase in phrases.split():
                first, _, second = phrase.partition("-")
                key = stem(first) if not second else _joined(first, second)
                found[key] = (*found.get(key, ()), f"~{meaning}")
    return {key: tuple(dict.fromkeys(means)) for key, means in found.items()}


def _joined(first: str, second: str) -> str:
    return f"not-{stem(second)}" if first in ("not", "stop") else f"{stem(first)}-{second}"
