"""Talk about everyday work and life around the facts, the same for the same seed.

`data/talk.jsonl` has a stretch of talk on each line, about one subject, as a list of exchanges. The
exchanges in `data/bare.jsonl` have no word with a stem, so none of their words is ever avoided.
"""

import json
import random
from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, lru_cache
from importlib.resources import files
from typing import TypeVar

from jitchat.text.sentences import sentences
from jitchat.text.words import stems

_T = TypeVar("_T")


class Talk(StrEnum):
    """The style of generated filler."""

    CHAT = "chat"
    """Like a chat between people: short turns about everyday work and life."""
    LONG = "long"
    """Like a chat with a model: questions, and answers of 200 to 500 words with lists and code."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """A message of the user and the assistant's reply: two turns."""

    text: str
    reply: str


class Draw:
    """Draws from one random source; the results are the same in every version of Python."""

    def __init__(self, chance: Callable[[], float]) -> None:
        """`chance` is `random()` of a seeded generator: only this is stable across Pythons."""
        self._chance = chance

    def number(self, low: int, high: int) -> int:
        """Draw a whole number from `low` to `high`, both included."""
        return low + int(self._chance() * (high - low + 1))

    def one_of(self, several: Sequence[_T]) -> _T:
        return several[self.number(0, len(several) - 1)]

    def some(self, several: Sequence[_T], count: int) -> list[_T]:
        """Draw `count` items, or all if there are fewer, in random order."""
        rest = list(several)
        return [rest.pop(self.number(0, len(rest) - 1)) for _ in range(min(count, len(rest)))]


@cache
def stretches(name: str) -> tuple[tuple[Exchange, ...], ...]:
    """Read the stretches of talk of a file in `data`."""
    lines = (files(__package__) / "data" / f"{name}.jsonl").read_text("utf-8").splitlines()
    return tuple(tuple(Exchange(*texts) for texts in json.loads(line)) for line in lines)


@lru_cache(maxsize=65_536)
def _stems(text: str) -> frozenset[str]:
    return frozenset(stems(text))


@cache
def _sentences(text: str) -> tuple[str, ...]:
    """Split a text; one with a list stays whole."""
    return (text,) if "\n" in text else tuple(sentences(text))


def without(exchange: Exchange, avoided: Set[str]) -> Exchange | None:
    """Leave out the sentences with avoided words; None if one of them is required.

    The first sentence of each turn is required, and so is the user's last one, which asks.
    """

    def is_free(text: str) -> bool:
        return avoided.isdisjoint(_stems(text))

    text, reply = _sentences(exchange.text), _sentences(exchange.reply)
    if not all(is_free(part) for part in (text[0], text[-1], reply[0])):
        return None
    left = [" ".join(part for part in parts if is_free(part)) for parts in (text, reply)]
    # the stems of a word depend on the language, and so on the sentences around it
    return Exchange(*left) if all(is_free(part) for part in left) else None


def exchanges(seed: str, avoided: Set[str]) -> Iterator[Exchange]:
    """Yield exchanges forever, without words whose stem is `avoided` (`jitchat.text.words.stems`).

    No exchange is repeated before every other one was yielded. If nearly every word is avoided,
    the talk becomes vague: words without a stem are never avoided.
    """
    draw = Draw(random.Random(seed).random)  # noqa: S311  not for secrets
    while True:
        is_mute = True
        for exchange in _shuffled("talk", draw, avoided):
            is_mute = False
            yield exchange
        if is_mute:
            yield from _shuffled("bare", draw, avoided)


def _shuffled(name: str, draw: Draw, avoided: Set[str]) -> Iterator[Exchange]:
    """Yield the usable exchanges of a file, its stretches in random order."""
    talk = stretches(name)
    for stretch in draw.some(talk, len(talk)):
        for exchange in stretch:
            usable = without(exchange, avoided)
            if usable is not None:
                yield usable
