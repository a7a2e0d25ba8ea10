"""Of turns that match alike, the newest first: it may correct what was said before.

A turn matches as well as a better one where it scores nearly as much and has nearly all that the
other has of the query, by the rarity of its words; an identifier or a number it has to have. One
that names what none of the others names is likelier to say the same of somebody else than to
correct what was said: of those that match as well, the ones with fewest such names count.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain

from jitchat.text.words import fold
from jitchat.values import Candidate, IndexEntry

PART = "later"
_AS_WELL = 0.8
"""Of the best score, and of what the best one has of the query."""
_LEADING = 6
"""So many are put in order among themselves: none takes the place of what is better found."""
_NAME = re.compile(r"[^\d_]*")


def newest_first(ranked: Sequence[Candidate], worths: Mapping[str, float]) -> list[Candidate]:
    """Put the newest of the candidates that match as well as a better one right before that.

    `ranked` are best first, and `worths` is what each matched word is worth. What a candidate is
    lifted by is a part of its score; of all others, that part is 0.
    """
    order: list[tuple[Candidate, float]] = []
    left = list(ranked[:_LEADING])
    while left:
        first = left.pop(0)
        newest = _newest(first, left, worths)
        if newest is not first:
            left.remove(newest)
            order.append((newest, max(0.0, first.score - newest.score)))
        order.append((first, 0.0))
    order += ((row, 0.0) for row in ranked[_LEADING:])
    return [
        replace(row, rank=rank, score=row.score + lift, parts=(*row.parts, (PART, lift)))
        for rank, (row, lift) in enumerate(order, start=1)
    ]


def _newest(
    first: Candidate, behind: Sequence[Candidate], worths: Mapping[str, float]
) -> Candidate:
    """Find the newest of the rows that match as well as the `first`, which may be itself."""
    as_good = [
        row
        for row in behind
        if row.score >= _AS_WELL * first.score and _has_as_much(row, first, worths)
    ]
    names = {row.turn: _names(row.entry) for row in (first, *as_good)}
    named_by = Counter(chain.from_iterable(names.values()))

    def precedence(row: Candidate) -> tuple[int, int]:
        return -sum(named_by[name] == 1 for name in names[row.turn]), row.turn

    return max((first, *as_good), key=precedence)


def _has_as_much(row: Candidate, first: Candidate, worths: Mapping[str, float]) -> bool:
    """Whether a row has nearly all words of the query that the `first` has, all exact ones."""
    lacking = set(first.matched).difference(row.matched)
    held = sum(worths.get(word, 0.0) for word in first.matched)
    missed = sum(worths.get(word, 0.0) for word in lacking)
    return all(map(str.isalpha, lacking)) and missed <= (1 - _AS_WELL) * held


def _names(entry: IndexEntry) -> frozenset[str]:
    """Tell what an entry names, without figures and identifiers: these a correction corrects."""
    return frozenset(fold(name) for name in entry.entities if _NAME.fullmatch(name))
