"""Believable talk about everyday work and life, the same for the same seed."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence, Set
from functools import cache, partial
from typing import TypeVar

from jitchat.rot.stretch import Exchange, stretch
from jitchat.rot.theme import cases, theme
from jitchat.rot.topics.bare import BARE
from jitchat.rot.topics.every import TOPICS
from jitchat.rot.topics.topic import Topic

__all__ = ["Exchange", "exchanges"]

_T = TypeVar("_T")
_Chance = Callable[[], float]

_REMEMBERED = 20_000
"""Exchanges that do not come again."""


def exchanges(seed: str, avoided: Set[str]) -> Iterator[Exchange]:
    """Talk for ever; no word's stem is among those `avoided` (`jitchat.text.words.stems`).

    It never ends and never repeats an exchange word for word in its first 10,000. Where next to
    every word is avoided, what is left is vague: words that have no stem are never avoided.
    """
    chance = random.Random(seed).random  # noqa: S311  not for secrets
    said: set[Exchange] = set()
    subjects = [_stretches(topic, frozenset(avoided), chance, said) for topic in TOPICS]
    vague = _stretches(BARE, frozenset(avoided), chance, said)
    while True:
        subjects = _in_another_order(subjects, chance)
        is_mute = True
        for talk in map(next, subjects):
            is_mute = is_mute and not talk
            yield from talk
        if is_mute:
            yield from next(vague)


def _stretches(
    topic: Topic, avoided: Set[str], chance: _Chance, said: set[Exchange]
) -> Iterator[list[Exchange]]:
    """Talk for ever about one case of a topic after the other, and note in `said` what is said.

    A stretch is empty where nothing new can be said of any case.
    """
    themed = cache(partial(theme, topic, avoided=avoided))
    order: Sequence[int] = range(cases(topic))
    while True:
        order = _in_another_order(order, chance)
        is_mute = True
        for each in filter(lambda each: each.is_enough, map(themed, order)):
            if talk := stretch(each, chance, said):
                said.update(talk if len(said) < _REMEMBERED else ())
                is_mute = False
                yield talk
        if is_mute:
            yield []


def _in_another_order(several: Sequence[_T], chance: _Chance) -> list[_T]:
    """Shuffle; the last does not become the first, unless it is alone."""
    rest = list(several)
    shuffled = [rest.pop(int(chance() * len(rest))) for _ in several]
    return shuffled if shuffled[0] is not several[-1] else [*shuffled[1:], shuffled[0]]
