"""Values that facts are made of, drawn by chance."""

from __future__ import annotations

import random
import string
from collections.abc import Callable

Draw = Callable[[random.Random, int], list[str]]
"""Draws so many values, no two of them the same."""

_LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ"
"""Without those that look like a digit."""
_SIGNS = {"#": string.digits, "@": _LETTERS, "%": "0123456789abcdef"}
_MONTHS = "January, February, March, April, June, July, August, September, October, November"


def among(listed: str) -> Draw:
    """Draw from what is listed, separated by commas."""
    every = listed.split(", ")
    return lambda chance, count: chance.sample(every, count)


def number(low: int, high: int, step: int = 1) -> Draw:
    """Draw whole numbers, both ends included."""
    every = range(low, high + 1, step)
    return lambda chance, count: [str(each) for each in chance.sample(every, count)]


def shaped(shape: str) -> Draw:
    """Draw by a shape: # is a digit, @ a capital, % a hexadecimal digit, the rest is itself."""
    return _distinct(
        lambda chance: "".join(chance.choice(_SIGNS.get(sign, sign)) for sign in shape)
    )


def built(pattern: str, **parts: Draw) -> Draw:
    """Draw the parts of a pattern as `str.format` takes it."""
    return _distinct(
        lambda chance: pattern.format(**{name: part(chance, 1)[0] for name, part in parts.items()})
    )


def clock(first: int, last: int) -> Draw:
    """Draw times of day, by five minutes: `16:40`; both hours included.

    They should be less than twelve apart: 18:40 is 6:40, too.
    """
    return _distinct(
        lambda chance: f"{chance.randint(first, last)}:{chance.randrange(5, 60, 5):02}"
    )


def _distinct(one: Callable[[random.Random], str]) -> Draw:
    def draw(chance: random.Random, count: int) -> list[str]:
        found: dict[str, None] = {}
        while len(found) < count:
            found[one(chance)] = None
        return list(found)

    return draw


MONTH = among(_MONTHS)
"""Without May, which is a common verb, and December."""
WEEKDAY = among("Monday, Tuesday, Wednesday, Thursday, Friday, Saturday, Sunday")
DATE = built("{day} {month}", day=number(3, 28), month=MONTH)
"""`7 March`."""
