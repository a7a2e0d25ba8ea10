"""From a draft in its place to what is found for it, in one hot index."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

from jitchat.memory.index.picker import floor_of, pick
from jitchat.memory.index.query import make_query
from jitchat.turn import Retrieval

if TYPE_CHECKING:
    from datetime import date

    from jitchat.memory.index.search import HotIndex

LATE_DECISIONS = 2


@dataclass(frozen=True, slots=True)
class Asked:
    """What is looked for, and where."""

    draft: str
    context: str
    """What the user said before; a draft of few words borrows from it."""
    position: int
    """Only turns ahead of it are found."""
    today: date


def found_in(
    index: HotIndex, asked: Asked, seen: int, without: Collection[int] = frozenset()
) -> Retrieval:
    """Search an index that has the turns up to position `seen`.

    Turns `without` which windows are made may be on the shortlist, but are not picked.
    """
    query = make_query(asked.draft, asked.context, index.speakers, asked.today)
    candidates = index.search(query, asked.position)
    listed = {row.turn for row in candidates}.union(without)
    late = index.decisions(LATE_DECISIONS, asked.position)
    unlisted = tuple(entry for entry in late if entry.turn not in listed)
    allowed = [row for row in candidates if row.turn not in without]
    hits, spared = pick(allowed)
    return Retrieval(candidates, hits, unlisted, floor_of(allowed), spared, searched=seen)
