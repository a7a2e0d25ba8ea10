"""From the shortlist to the turns worth loading. Sees index lines, never full turns.

Each is taken by what it adds: a turn that says what a better one says adds nothing. How many
of them are loaded is for the window's allowance to say.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from jitchat.text.words import stems
from jitchat.turn import Candidate, Hit

FLOOR = 0.25
"""A score below this is no more than chance words in common."""
_WORTH = 0.3
_ALIKE = 0.8
_FEW = 3
"""Lines of so few words are alike by chance."""


def floor_of(candidates: Sequence[Candidate]) -> float:
    """Find the score below which nothing is picked: `FLOOR`, or three tenths of the best."""
    return max([FLOOR, *(_WORTH * row.score for row in candidates[:1])])


def pick(candidates: Sequence[Candidate]) -> tuple[tuple[Hit, ...], tuple[Hit, ...]]:
    """Choose the hits, best first; and those above the floor that add nothing to them.

    Of turns that say the same, the first that was said stands: what repeats it may be a
    quotation.
    """
    floor = floor_of(candidates)
    hits, spared = [], []
    for group in _alike_grouped([row for row in candidates if row.score >= floor]):
        first = min(group, key=lambda row: row.turn)
        hits.append(Hit(first.turn, group[0].score, _reason(first)))
        spared += [
            Hit(row.turn, row.score, f"says what #{first.turn} says")
            for row in group
            if row is not first
        ]
    return tuple(hits), tuple(spared)


def _alike_grouped(candidates: Sequence[Candidate]) -> list[list[Candidate]]:
    """Group those whose lines share most of their words with the first of a group (Jaccard)."""
    bits: dict[str, int] = {}
    groups: list[tuple[int, int, list[Candidate]]] = []
    for row in candidates:
        line = 0
        for each in _stems_of(row.entry.summary):
            line |= bits.setdefault(each, 1 << len(bits))
        size = line.bit_count()
        # a line of so few words cannot be alike one of more
        for known, others, group in groups if size > _FEW else ():
            common = (line & known).bit_count()
            if common >= _ALIKE * (size + others - common):
                group.append(row)
                break
        else:
            groups.append((line, size, [row]))
    return [group for _, _, group in groups]


@lru_cache(maxsize=2_048)
def _stems_of(line: str) -> frozenset[str]:
    """As the user types, the same lines come up again and again."""
    return frozenset(stems(line))


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
