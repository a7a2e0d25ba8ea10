"""What an answer asserts in the end, of all the values that it names."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from jitchat.lab.reading.hedges import between, is_open
from jitchat.lab.reading.standing import Standing, standing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jitchat.lab.reading.mentions import Mention

_TAKEN_BACK = re.compile(r" ?\?\W*(?:no|not|wait|sorry)\b", re.IGNORECASE)
"""`7443? No, …`."""
_STOP = re.compile(r"[.!?] |\n")
_LEVELS = ((Standing.NOW, Standing.SAID), (Standing.FAINT,), (Standing.PAST,))


@dataclass(frozen=True, slots=True)
class Assertion:
    """A value that is asserted, and another that is left open beside it."""

    mention: Mention
    rival: str | None = None
    """Empty where it is a value that nobody said."""


def asserted(text: str, mentions: Sequence[Mention]) -> Assertion | None:
    """Find it: the last value that is neither denied nor called old. None where there is none."""
    live = live_ones(text, mentions)
    if not live:
        return None
    last = live[-1]
    rival = next((each for each in reversed(live) if each.is_accepted != last.is_accepted), None)
    if rival is None:
        return Assertion(last, "" if all(map(is_open, live)) else None)
    if between(text, *sorted((rival, last), key=lambda each: each.start)):
        return Assertion(last, rival.value)
    return Assertion(_opening(text, live) or last)


def live_ones(text: str, mentions: Sequence[Mention]) -> list[Mention]:
    """List the mentions with the most weight; those that are denied have none."""
    weights = _weights(text, mentions)
    for level in _LEVELS:
        found = [each for each, its in zip(mentions, weights, strict=True) if its in level]
        if found:
            return found
    return []


def _weights(text: str, mentions: Sequence[Mention]) -> list[Standing]:
    """Weigh each; one that is joined to another weighs no more: `not 412 or 580`."""
    weights: list[Standing] = []
    for at, each in enumerate(mentions):
        weight = Standing.DENIED if _TAKEN_BACK.match(text, each.end) else standing(each)
        if at and between(text, mentions[at - 1], each):
            weight = min(weight, weights[-1])
        weights.append(weight)
    return weights


def _opening(text: str, live: Sequence[Mention]) -> Mention | None:
    """Find what the first sentence says to hold now, if all that follows says less of others."""
    first = live[0]
    opens = not _STOP.search(text[: first.start])
    strong = [each for each in live if standing(each) is Standing.NOW]
    agree = all(each.is_accepted == first.is_accepted for each in strong)
    return first if opens and first in strong and agree else None
