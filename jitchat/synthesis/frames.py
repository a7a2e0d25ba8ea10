"""What a statement is about, and what it says of that: by which a later one contradicts it.

A statement's values are its figures, names and weekdays; its frame is the rest of its stems. Two
statements with the same frame and one other value cannot both hold, where they tell of a state
and not of an event; nor can one, and the same with a negation.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, lru_cache

from jitchat.index.entry import sentence_weight
from jitchat.text.assertions import is_change, is_state
from jitchat.text.entities import entities
from jitchat.text.negation import is_negation, stems_and_negations
from jitchat.text.stance import is_decision
from jitchat.text.words import stem, stems, words

_SAME, _CHANGED = 0.6, 0.4
"""Of the stems of both frames, the share that both have; less where a change is announced."""
_AGAIN = 0.8
"""Of all stems of both, the share that both have where one says the other again."""
_OF_CHANGE = (
    "move change switch now new actually instead longer anymore correct correction set replace quit"
    " leave today used"
)
"""Words that say that something is new, and not what."""


@cache
def _stems_of_change() -> frozenset[str]:
    return frozenset(map(stem, _OF_CHANGE.split()))


_WEEKDAY = re.compile(
    r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b|\b(?:january|february|march|april|june|july"
    r"|august|september|october|november|december)\b",
    re.IGNORECASE,
)
_FIGURE = re.compile(r"\d")


@dataclass(frozen=True, slots=True)
class Frame:
    stems: frozenset[str]
    values: frozenset[frozenset[str]]
    """The stems of each."""
    denied: frozenset[str]
    """What is negated in it, as `negations` writes it."""

    @property
    def all(self) -> frozenset[str]:
        return self.stems.union(*self.values)


@lru_cache(maxsize=1 << 13)
def frame_of(text: str) -> Frame:
    found = frozenset(stems_and_negations(text))
    denied = frozenset(filter(is_negation, found))
    said = found - denied
    named = [frozenset(stems(each)) & said for each in (*names_in(text), *_WEEKDAY.findall(text))]
    figures = (frozenset({each}) for each in said if _FIGURE.search(each))
    of_names = frozenset[str]().union(*named)
    values = frozenset(filter(None, (*named, *(each for each in figures if not each <= of_names))))
    return Frame(said - of_names.union(*values) - _stems_of_change(), values, denied)


@lru_cache(maxsize=1 << 13)
def names_in(text: str) -> tuple[str, ...]:
    return entities(text)


@lru_cache(maxsize=1 << 13)
def weight_of(sentence: str) -> float:
    """Weigh what a sentence says by itself, as the summaries of turns are chosen."""
    return sentence_weight(sentence, names_in(sentence), decides=is_decision(sentence))


def says_again(new: Frame, old: Frame) -> bool:
    """Whether both say the same, in about the same words."""
    return new.denied == old.denied and _share(new.all, old.all) >= _AGAIN


def contradicts(new: str, old: str) -> bool:
    """Whether a later statement says that an earlier one no longer holds.

    False where either tells of an event: both can have happened.
    """
    later, earlier = frame_of(new), frame_of(old)
    shared, share = len(later.stems & earlier.stems), _share(later.stems, earlier.stems)
    lost, found = earlier.values - later.values, later.values - earlier.values
    is_other = len(lost) == len(found) == 1  # with several, it may be said of something else
    if share < _CHANGED or not (is_other or later.denied != earlier.denied):
        return False
    if share < _SAME and not (shared > 1 and is_change(new)):
        return False
    return is_state(new) and is_state(old)


def is_near(shared: int, one: int, other: int) -> bool:
    """Whether two frames of so many stems, so many of them in both, can say or deny the same."""
    return shared >= _CHANGED * (one + other - shared)


def _share(some: frozenset[str], others: frozenset[str]) -> float:
    return len(some & others) / max(1, len(some | others))


def mentions_all(text: str, wanted: Iterable[str]) -> bool:
    """Whether a text has all of some stems."""
    needed = frozenset(wanted)
    return bool(needed) and needed <= {stem(word) for word in words(text)}
