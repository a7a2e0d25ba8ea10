"""From the shortlist to the turns worth loading. Sees index lines, never full turns.

How many of them are loaded is for the window's allowance to say, and turns with the same text
are for the window to find: two lines can be alike where the turns differ in one number.
"""

from __future__ import annotations

from collections.abc import Sequence

from jitchat.turn import Candidate, Hit

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
    told = _IN_WORDS.get(strongest, f"{best}score")
    return f"{told}, lexical match{words}" if words else told


_IN_WORDS = {
    "dense": "close in meaning",
    "context": "among turns that match",
    "neighbour": "beside turns that match",
    "stretch": "in a stretch of talk that matches",
    "date": "of the day asked for",
}
