"""From the shortlist to the turns that are loaded. Sees index lines, never full turns."""

from __future__ import annotations

from jitchat.turn import Candidate, Hit

PICKS = 6
FLOOR = 0.12
"""A score below this is no more than chance words in common."""


def pick(candidates: tuple[Candidate, ...], count: int = PICKS) -> tuple[Hit, ...]:
    """The best candidates above the floor, best first."""
    return tuple(
        Hit(row.turn, row.score, _reason(row)) for row in candidates[:count] if row.score >= FLOOR
    )


def _reason(row: Candidate) -> str:
    if row.matched:
        return "shares " + ", ".join(f"“{word}”" for word in row.matched[:4])
    strongest = max(row.parts, key=lambda part: part[1])[0]
    return {
        "dense": "close in meaning",
        "neighbour": "beside turns that match",
        "stretch": "in a stretch of talk that matches",
    }.get(strongest, "best by its score")
