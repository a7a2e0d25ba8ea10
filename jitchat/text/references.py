"""Turns that a text names: `#12`."""

from __future__ import annotations

import re
from collections.abc import Callable

_REFERENCE = re.compile(r"(?<![\w#&/])#([1-9][0-9]{0,17})(?!\w|\.\d|#)", re.ASCII)
"""Neither a colour nor a place in a page: `#12` stands alone, or before punctuation."""


def referenced(draft: str) -> frozenset[int]:
    """Find the positions that a draft names; no turn need be there."""
    return frozenset(int(number) for number in _REFERENCE.findall(draft))


def without_references(draft: str, is_here: Callable[[int], bool]) -> str:
    """Leave out the names of turns that there are: they are fetched by that, not looked for."""

    def left(found: re.Match[str]) -> str:
        return "" if is_here(int(found[1])) else found[0]

    return _REFERENCE.sub(left, draft)
