"""Rank the newest of several turns that match equally well first: it may be a correction.

A turn matches as well as a higher-ranked one if it scores nearly as much and has nearly all of the
query's words that the other has, weighted by rarity; identifiers and numbers must all be present.
A turn with a name that none of the others has probably says the same about somebody else and
corrects nothing, so turns with the fewest such names take precedence over newer ones.
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
"""Minimum share of the better turn's score, and of its matched words by weight."""
_LEADING = 6
"""Only this many top candidates are reordered, so that no weak match displaces a good one."""
_NAME = re.compile(r"[^\d_]*")


def newest_first(ranked: Sequence[Candidate], worths: Mapping[str, float]) -> list[Candidate]:
    """Move the newest of the candidates that match as well as a better one before that one.

    `ranked` is best first; `worths` has the weight of each matched word. The amount by which a
    candidate is lifted becomes a part of its score; the part is 0 for all others.
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
    first: Candidate, others: Sequence[Candidate], worths: Mapping[str, float]
) -> Candidate:
    """Find the newest of `first` and the rows that match as well."""
    as_good = [
        row
        for row in others
        if row.score >= _AS_WELL * first.score and _has_as_much(row, first, worths)
    ]
    names = {row.turn: _names(row.entry) for row in (first, *as_good)}
    named_by = Counter(chain.from_iterable(names.values()))

    def precedence(row: Candidate) -> tuple[int, int]:
        return -sum(named_by[name] == 1 for name in names[row.turn]), row.turn

    return max((first, *as_good), key=precedence)


def _has_as_much(row: Candidate, first: Candidate, worths: Mapping[str, float]) -> bool:
    """Return whether `row` matches nearly all that `first` matches, and every exact word."""
    lacking = set(first.matched).difference(row.matched)
    held = sum(worths.get(word, 0.0) for word in first.matched)
    missed = sum(worths.get(word, 0.0) for word in lacking)
    return all(map(str.isalpha, lacking)) and missed <= (1 - _AS_WELL) * held


def _names(entry: IndexEntry) -> frozenset[str]:
    """Return the entry's names without numbers and identifiers, which a correction may change."""
    return frozenset(fold(name) for name in entry.entities if _NAME.fullmatch(name))
