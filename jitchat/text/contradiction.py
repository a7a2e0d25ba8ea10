"""Detect whether a later statement restates or contradicts an earlier one.

A statement is parsed into what it is about, its values by kind (a number, a name, a language, a
weekday …), and what it denies. Two statements about the same thing contradict each other if they
have different values of one kind, or if one denies what the other does not. In doubt, both are
kept, because a redundant line does less harm than a lost one.

Facts use `supersedes`. Documents and observations use `is_outdated_by`, because they can describe
events, which can happen twice.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from types import MappingProxyType

from jitchat.text.entities import entities
from jitchat.text.expressions import lines_of, says, word_list
from jitchat.text.negation import denials
from jitchat.text.words import content_of, content_words, fold, stem

_AGAIN = 0.8
"""Minimum overlap of two statements' stems if one restates the other."""
_SAME, _CHANGED = 0.6, 0.4
"""Minimum overlap of what both are about if it is the same; lower if a change is announced."""
_NUMBER = re.compile(r"\d")
_NAME, _FIGURE = "name", "figure"
_GERMAN, _JOINED = "german", "_"

Values = frozenset[frozenset[str]]
"""The stems of each value."""


@dataclass(frozen=True, slots=True)
class Statement:
    about: frozenset[str]
    """Stems of its words, except values and introductory words."""
    values: Mapping[str, Values]
    """The values of each kind."""
    denied: frozenset[str]
    """What the statement denies."""

    @property
    def stems(self) -> frozenset[str]:
        return self.about.union(*(value for kind in self.values.values() for value in kind))


def supersedes(newer: str, older: str) -> bool:
    """Return whether a statement that holds until it is changed replaces an older one."""
    _, language = content_of(f"{newer}\n{older}")  # a short instruction alone may not show it
    later, earlier = statement_of(newer, language), statement_of(older, language)
    if not later.stems or not earlier.stems:
        return fold(newer) == fold(older)
    return restates(later, earlier) or _contradicts(later, earlier, _SAME)


def is_outdated_by(older: str, newer: str) -> bool:
    """Return whether a later statement says that an earlier one no longer holds.

    False if either describes an event, because both can have happened.
    """
    later, earlier = statement_of(newer), statement_of(older)
    is_announced = says("assertions", "changed", newer)
    shared = len(later.about & earlier.about)
    least = _CHANGED if is_announced and shared > 1 else _SAME
    return _contradicts(later, earlier, least) and _is_state(newer) and _is_state(older)


def _is_state(sentence: str) -> bool:
    """Return whether a sentence describes a lasting state, or a change of one."""
    return says("assertions", "state", sentence) or says("assertions", "changed", sentence)


def restates(later: Statement, earlier: Statement) -> bool:
    """Return whether both say the same in about the same words."""
    return later.denied == earlier.denied and _share(later.stems, earlier.stems) >= _AGAIN


def may_be_same(shared: int, one: int, other: int) -> bool:
    """Return whether two statements can be about the same thing.

    `one` and `other` are the numbers of stems that they are about, `shared` the number in common.
    """
    return shared >= _CHANGED * (one + other - shared)


def _contradicts(later: Statement, earlier: Statement, least: float) -> bool:
    """Return whether both are about the same thing and differ in their values or denials.

    If names and also other values differ, the statements may be about different things.
    """
    if _share(later.about, earlier.about) < least:
        return False
    denies = later.denied != earlier.denied
    if denies and not later.about:  # not `a` does not contradict `b`
        return bool(later.values) and later.values == earlier.values
    differing = set(_differing(later, earlier))
    if not later.about:
        differing -= {_NAME, _FIGURE}
    if _NAME in differing and len(differing) > 1:
        return False
    return denies or bool(differing)


def _differing(later: Statement, earlier: Statement) -> Iterator[str]:
    """Yield the kinds in which the values of the two statements differ.

    For names and numbers, exactly one value on each side must differ.
    """
    for kind in later.values.keys() & earlier.values.keys():
        new, old = later.values[kind], earlier.values[kind]
        one_each = len(new - old) == len(old - new) == 1
        if one_each or (kind not in (_NAME, _FIGURE) and new.isdisjoint(old)):
            yield kind


def _share(some: frozenset[str], others: frozenset[str]) -> float:
    every = some | others
    return len(some & others) / len(every) if every else 1.0


@lru_cache(maxsize=1 << 13)
def statement_of(text: str, language: str = "") -> Statement:
    """Parse a statement in a language; it is detected if none is given."""
    said, language = content_of(text, language)
    values: dict[str, set[frozenset[str]]] = {}
    named, present = set[str](), set(said) - _kinds().keys() - word_list("introducing_words")
    for name in entities(text):
        parts = [part for part in content_words(name) if part in present]
        kind = _FIGURE if _NUMBER.search(name) else _NAME
        # German capitalises every noun
        if parts and (kind == _FIGURE or language != _GERMAN):
            values.setdefault(kind, set()).add(frozenset(stem(part, language) for part in parts))
            named.update(parts)
    about: set[str] = set()
    introducing = word_list("introducing_words")
    denying = word_list("denying_words")
    denied = set(denials(text, language))
    for word in said:
        root = stem(word, language)
        is_introducing = not introducing.isdisjoint((word, root))
        if word in named or is_introducing or _JOINED in word:
            continue
        if not denying.isdisjoint((word, root)):
            denied.add(root)
            continue
        kind = _kinds().get(word) or _kinds().get(root) or (_FIGURE if _NUMBER.search(word) else "")
        if kind:
            values.setdefault(kind, set()).add(frozenset({root}))
        else:
            about.add(root)
    of_kinds = {kind: frozenset(each) for kind, each in values.items()}
    return Statement(frozenset(about), MappingProxyType(of_kinds), frozenset(denied))


@cache
def _kinds() -> dict[str, str]:
    """Read the kind of each word that is a value; each line of the file is a kind."""
    kinds = enumerate(lines_of("kinds_of_values"))
    return {word: f"kind {number}" for number, line in kinds for word in line.split()}
