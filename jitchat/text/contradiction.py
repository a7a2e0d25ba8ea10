"""Whether a later statement takes the place of an earlier one: it restates or contradicts it.

Both must be about the same: most of the words of the shorter, but for those that only introduce it
("always", "let's go with"), are in the other. It is restated where hardly any word differs, negated
or not; it is contradicted where each has another value of one kind: another number, another name,
another language or weekday. Where that cannot be told, both stand: two lines are the smaller harm.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from jitchat.text.entities import entities
from jitchat.text.words import content_of, fold, stem, words

_DATA = files(__package__) / "data"
_ALIKE, _ABOUT = 0.8, 0.6
"""Shares of the words: that two have of all, and one has of the shorter."""
_NUMBER = re.compile(r"\d")
_NAME, _FIGURE = "name", "figure"
_GERMAN, _JOINED = "german", "_"


@dataclass(frozen=True, slots=True)
class _Statement:
    about: frozenset[str]
    """Stems of its words, but for values and generic words."""
    values: dict[str, frozenset[str]]
    """By kind: what it says of it."""

    @property
    def stems(self) -> frozenset[str]:
        return self.about.union(*self.values.values())


def supersedes(newer: str, older: str) -> bool:
    """Whether the newer statement takes the place of the older."""
    first, second = _read(newer), _read(older)
    if not first.stems or not second.stems:
        return fold(newer) == fold(older)
    shared, every = first.stems & second.stems, first.stems | second.stems
    if len(shared) >= _ALIKE * len(every):
        return True
    return _is_about_same(first, second) and any(_differing(first, second))


def _is_about_same(first: _Statement, second: _Statement) -> bool:
    """Whether they share most of what the shorter is about; or neither is about anything else."""
    if not first.about and not second.about:
        return True
    least = min(len(first.about), len(second.about))
    return bool(least) and len(first.about & second.about) >= _ABOUT * least


def _differing(first: _Statement, second: _Statement) -> Iterator[bool]:
    """Tell of each kind of which both have values whether these have nothing in common.

    Where there are no other words, a name or a figure tells nothing.
    """
    kinds = first.values.keys() & second.values.keys()
    for kind in kinds if first.about else kinds - {_NAME, _FIGURE}:
        yield first.values[kind].isdisjoint(second.values[kind])


def _read(text: str) -> _Statement:
    said, language = content_of(text)
    # every noun of German has a capital
    names = entities(text) if language != _GERMAN else ()
    named = {part for name in names for part in words(name)}
    values: dict[str, set[str]] = {}
    about: set[str] = set()
    for word in said:
        root = stem(word, language)
        if word in _generic() or root in _generic() or _JOINED in word:
            continue
        kind = _kinds().get(word) or _kinds().get(root)
        kind = kind or (_FIGURE if _NUMBER.search(word) else _NAME if word in named else None)
        if kind is None:
            about.add(root)
        else:
            values.setdefault(kind, set()).add(root)
    return _Statement(frozenset(about), {kind: frozenset(of) for kind, of in values.items()})


@cache
def _kinds() -> dict[str, str]:
    """Name the kind of each word that is a value of one; a line of the file is a kind."""
    lines = (_DATA / "kinds_of_values.txt").read_text("utf-8").splitlines()
    return {word: f"kind {number}" for number, line in enumerate(lines) for word in line.split()}


@cache
def _generic() -> frozenset[str]:
    """List the words that only introduce a statement, or tell how it is decided or asked for."""
    return frozenset((_DATA / "introducing_words.txt").read_text("utf-8").split())
