"""Where an answer names the value that is asked for, or one that is wrong.

Of two that overlap the longer is meant.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from jitchat.lab.facts import Fact
    from jitchat.lab.reading.forms import Find

_REACH = 160
"""Characters on each side of a value that are looked at."""
_STOP = re.compile(r"(?<!\bno)(?<!\bvs)[.!?…](?=\s)|\n")
"""Where a sentence ends in a plain text."""


@dataclass(frozen=True, slots=True)
class Mention:
    """A value in a text, and what stands around it in its sentence."""

    value: str
    """As the fact has it, however the answer spells it."""
    is_accepted: bool
    start: int
    end: int
    before: str
    """From the beginning of the sentence, or from the mention before it; the nearest of it."""
    after: str
    """Up to the end of the sentence, or up to the next mention."""
    leads: bool
    """Whether another mention follows in its sentence."""


def mentions(text: str, fact: Fact, find: Find) -> list[Mention]:
    """Find every mention of a value of the fact, in order."""
    found = _apart(sorted(_all(text, fact, find), key=lambda each: (each[0], -each[1])))
    stops = [stop.end() for stop in _STOP.finditer(text)]
    return [_mention(text, found, at, stops) for at in range(len(found))]


_Found = tuple[int, int, str, bool]


def _all(text: str, fact: Fact, find: Find) -> Iterator[_Found]:
    for values, is_accepted in ((fact.accepted, True), (fact.wrong, False)):
        for value in values:
            for start, end in find(text, value):
                yield start, end, value, is_accepted


def _apart(found: Sequence[_Found]) -> list[_Found]:
    """Drop what begins within another."""
    kept: list[_Found] = []
    for each in found:
        if not kept or each[0] >= kept[-1][1]:
            kept.append(each)
    return kept


def _mention(text: str, found: Sequence[_Found], at: int, stops: Sequence[int]) -> Mention:
    start, end, value, is_accepted = found[at]
    first = bisect_right(stops, start)
    begins = stops[first - 1] if first else 0
    last = bisect_left(stops, end)
    ends = stops[last] if last < len(stops) else len(text)
    previous = found[at - 1][1] if at else 0
    following = found[at + 1][0] if at + 1 < len(found) else len(text)
    before = text[max(begins, previous, start - _REACH) : start]
    after = text[end : min(ends, following, end + _REACH)]
    return Mention(value, is_accepted, start, end, before, after, following < ends)
