"""Turns that a text names: `#12`."""

from __future__ import annotations

import re

_REFERENCE = re.compile(r"(?<![\w#&/])#([1-9][0-9]{0,17})(?!\w|\.\d|#)", re.ASCII)
"""Neither a colour nor a place in a page: `#12` stands alone, or before punctuation."""


def referenced(draft: str) -> frozenset[int]:
    """Find the positions that a draft names; no turn need be there."""
    return frozenset(int(number) for number in _REFERENCE.findall(draft))
