"""From a draft to the turns that are shortlisted for it, and those of them that are picked.

How many of these are loaded is for the window's allowance to say, and turns with the same text
are for the window to find: two lines can be alike where the turns differ in one number.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING

from jitchat.index.query import Query, make_query
from jitchat.values import Candidate, Hit, Retrieval

if TYPE_CHECKING:
    from jitchat.index.search import HotIndex  # loads numpy

LATE_DECISIONS = 2
FLOOR = 0.25
"""A score below this is no more than chance words in common."""
_WORTH = 0.3


def floor_of(candidates: Sequence[Candidate]) -> float:
    """Find the score below which nothing is picked: `FLOOR`, or three tenths of the best."""
    return max([FLOOR, *(_WORTH * row.score for row in candidates[:1])])


def pick(candidates: Sequence[Candidate]) -> tuple[Hit, ...]:
    """Choose the hits: every candidate that is not below the floor, best first."""
    floor = floor_of(candidates)
    return tuple(Hit(row.turn, row.score, _reason(row)) for row in candidates if row.score >= floor)


def _reason(row: Candidate) -> str:
    strongest = max(row.parts, key=lambda part: part[1], default=("", 0.0))[0]
    words = f" on “{', '.join(row.matched[:4])}”" if row.matched else ""
    best = "best " if row.rank == 1 else ""
    if strongest in ("lexical", "context") and words:
        return f"{best}lexical match{words}"
    why = _WHY.get(strongest, f"{best}score")
    return f"{why}, lexical match{words}" if words else why


_WHY = {
    "dense": "close in meaning",
    "context": "among turns that match",
    "neighbour": "beside turns that match",
    "stretch": "in a stretch of talk that matches",
    "date": "of the day asked for",
}


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """A draft in its place in the conversation."""

    draft: str
    context: str
    """The user's message before the draft, which a draft of few words borrows from; or empty."""
    position: int
    """Only turns ahead of this position are found."""
    today: date

    def query(self, index: HotIndex) -> Query:
        """Make what an index is searched by."""
        return make_query(self.draft, self.context, index.speakers, self.today)


def retrieve(
    index: HotIndex, request: SearchRequest, searched: int, without: Collection[int] = ()
) -> Retrieval:
    """Search an index that has the turns up to position `searched`.

    Turns `without` which windows are made may be on the shortlist, but are not picked.
    """
    candidates = index.search(request.query(index), request.position)
    listed = {row.turn for row in candidates}.union(without)
    late = index.decisions(LATE_DECISIONS, request.position)
    unlisted = tuple(entry for entry in late if entry.turn not in listed)
    allowed = [row for row in candidates if row.turn not in without]
    return Retrieval(candidates, pick(allowed), unlisted, floor_of(allowed), searched=searched)
