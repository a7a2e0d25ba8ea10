"""Facts of the book, drawn by many seeds."""

from __future__ import annotations

import random
from functools import cache
from typing import TYPE_CHECKING

from jitchat.lab.facts import makers

if TYPE_CHECKING:
    from jitchat.lab.facts import Fact, Kind

SEEDS = range(12)
FEW = 5
"""Of them, where all are alike."""


@cache
def facts(kind: Kind, seeds: int = len(SEEDS)) -> tuple[Fact, ...]:
    """Each fact of a kind, once a seed."""
    return tuple(make(random.Random(seed)) for make in makers()[kind] for seed in SEEDS[:seeds])
