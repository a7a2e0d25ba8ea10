"""Every fact there is, by kind and number."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping

from jitchat.rot.fact import Fact
from jitchat.rot.kinds import Kind

Maker = Callable[[random.Random], Fact]
"""Makes a fact, its values (names, numbers, days) drawn by chance; its `name` stays the same."""

MAKERS: Mapping[Kind, tuple[Maker, ...]] = {}
"""At least twelve of each kind; none shares words with another that would mislead a search."""


def avoided(fact: Fact) -> frozenset[str]:
    """Name the stems that no filler may have beside this fact: those that matter in it."""
    raise NotImplementedError
