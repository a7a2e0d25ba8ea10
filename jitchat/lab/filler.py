"""Talk around the facts, written in advance, and in another order for each seed.

Each line of a compressed file in `data` is a stretch of talk about one subject, as a list of
exchanges. Those in `bare` have no word with a stem, so none of their words is ever avoided.
"""

import gzip
import json
import random
import re
from collections.abc import Iterator, Set
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, lru_cache
from importlib.resources import files

from jitchat.text.sentences import sentences
from jitchat.text.words import stems


class Talk(StrEnum):
    """The style of the filler; its exchanges are in the file of this name."""

    CHAT = "chat"
    """Like a chat between people: short turns about everyday work and life."""
    LONG = "long"
    """Like a chat with a model: questions, and answers of 200 to 500 words with lists and code."""


_PART = re.compile(r"(?:\A|(?<=\S))(\s*)(```.*?```|(?:- |\d\. )[^\n]+|[^\n]+)", re.DOTALL)
"""A block of code, an item of a list, or a line of sentences, with the white space before it."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """A message of the user and the assistant's reply: two turns."""

    text: str
    reply: str


@cache
def stretches(name: str) -> tuple[tuple[Exchange, ...], ...]:
    """Read the stretches of talk of a file in `data`."""
    packed = (files(__package__) / "data" / f"{name}.jsonl.gz").read_bytes()
    lines = gzip.decompress(packed).decode().splitlines()
    return tuple(tuple(Exchange(*texts) for texts in json.loads(line)) for line in lines)


@lru_cache(maxsize=65_536)
def _stems(text: str) -> frozenset[str]:
    return frozenset(stems(text))


@cache
def _parts(text: str) -> tuple[tuple[str, str], ...]:
    """Split a text into sentences, items of lists and blocks of code, each after its gap."""
    parts: list[tuple[str, str]] = []
    for gap, block in _PART.findall(text):
        is_prose = not block.startswith(("```", "- ")) and not block[0].isdigit()
        first, *others = sentences(block) if is_prose else [block]
        parts += [(gap, first), *((" ", other) for other in others)]
    return tuple(parts)


def without(exchange: Exchange, avoided: Set[str]) -> Exchange | None:
    """Leave out the parts with avoided words; None if one of them is required.

    The first part of each turn is required, and so is the user's last one, which asks.
    """

    def is_free(text: str) -> bool:
        return avoided.isdisjoint(_stems(text))

    text, reply = _parts(exchange.text), _parts(exchange.reply)
    if not all(is_free(part) for _, part in (text[0], text[-1], reply[0])):
        return None
    left = ["".join(gap + part for gap, part in turn if is_free(part)) for turn in (text, reply)]
    # the stems of a word depend on the language, and so on the sentences around it
    return Exchange(*left) if all(is_free(turn) for turn in left) else None


def exchanges(seed: str, avoided: Set[str], talk: Talk = Talk.CHAT) -> Iterator[Exchange]:
    """Yield exchanges forever, without words whose stem is `avoided` (`jitchat.text.words.stems`).

    No exchange is repeated before every other one was yielded. If nearly every word is avoided,
    short turns stand in for long ones, and then vague ones: words without a stem are never avoided.
    """
    chance = random.Random(seed)  # noqa: S311  not for secrets
    while True:
        for name in dict.fromkeys((talk, Talk.CHAT, "bare")):
            usable = _shuffled(name, chance, avoided)
            first = next(usable, None)
            if first is not None:
                yield first
                yield from usable
                break


def _shuffled(name: str, chance: random.Random, avoided: Set[str]) -> Iterator[Exchange]:
    """Yield the usable exchanges of a file, its stretches in random order."""
    # only random() gives the same numbers in every version of Python
    for stretch in sorted(stretches(name), key=lambda _: chance.random()):
        for exchange in stretch:
            usable = without(exchange, avoided)
            if usable is not None:
                yield usable
