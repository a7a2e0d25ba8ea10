"""Index negations as separate stems: `not-want` for "I really don't want a cat".

Negators are function words and are not indexed, so a question about what somebody does not want
would find everything that anybody wants. A negator is joined to the next content word. Verbs that
imply a negation ("we dropped it", "ruled out") share a stem with their meaning ("no longer use").
This works for English; for other languages, `denials` only reports whether anything is denied.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from jitchat.text.expressions import lines_of, word_list
from jitchat.text.languages import ENGLISH, english_function_words, negators
from jitchat.text.words import content_of, stem, words

_PARTICLES = frozenset(["out", "down", "against", "rid", "up"])
_PASSED_OVER = frozenset(["really", "ever", "actually", "even", "longer", "want", "going", "able"])
"""After one of these words, the next word is negated as well."""
_IDENTIFIER = re.compile(r"(?<!\w)[^\W_]*+_\w+")
"""Removed first: `is_not_there` denies nothing."""
_SCOPE = 4
"""Maximum words from a negator to the word that it negates."""


def stems_and_negations(text: str) -> list[str]:
    """List the stems by which a turn is found: its own in order, then its negations."""
    found, language = content_of(text)
    return [stem(word, language) for word in found] + negations(text, language)


def negations(text: str, language: str = ENGLISH) -> list[str]:
    """List a text's negations in order: `not-` with a stem, and meanings such as `~rejected`."""
    return list(_found(words(_IDENTIFIER.sub(" ", text)))) if language == ENGLISH else []


def denials(text: str, language: str) -> frozenset[str]:
    """Return what a statement denies, for comparison with another statement."""
    if language == ENGLISH:
        return frozenset(negations(text))
    return frozenset(["not"]) if negators(language).intersection(words(text)) else frozenset()


def is_negation(stem_of_query: str) -> bool:
    """Return whether a stem comes from `negations` and not from a word of the text."""
    return stem_of_query.startswith(("~", "not-"))


def spelt_out(negation: str) -> str:
    """Return one of `negations` in words: `not want`, `rejected`."""
    return negation.removeprefix("~").replace("-", " ")


def _found(said: Sequence[str]) -> Iterator[str]:
    meanings = _meanings()
    for at, word in enumerate(said):
        own = stem(word)
        if word in word_list("negators") or (word == "no" and said[at + 1 : at + 2] == ["longer"]):
            found = [f"not-{each}" for each in _next(said, at + 1)]
        elif word in _PARTICLES and at:
            found = [f"{stem(said[at - 1])}-{word}"]
        else:
            found = []
        yield from found
        for form in (own, *found):
            yield from meanings.get(form, ())


def _next(said: Sequence[str], start: int) -> Iterator[str]:
    """Yield the next content word, and the ones after it while they are in `_PASSED_OVER`."""
    for word in said[start : start + _SCOPE]:
        if word == "like" or word not in english_function_words():
            yield stem(word)
            if word not in _PASSED_OVER:
                return


@cache
def _meanings() -> Mapping[str, tuple[str, ...]]:
    """Read the meanings of stems and joined pairs of stems, as stems."""
    meanings: dict[str, dict[str, None]] = {}
    for line in lines_of("negation"):
        meaning, _, phrases = line.partition(": ")
        for phrase in phrases.split():
            first, _, second = phrase.partition("-")
            key = stem(first) if not second else _joined(first, second)
            meanings.setdefault(key, {})[f"~{meaning}"] = None
    return {key: tuple(of_key) for key, of_key in meanings.items()}


def _joined(first: str, second: str) -> str:
    return f"not-{stem(second)}" if first in ("not", "stop") else f"{stem(first)}-{second}"
