"""BM25 over the turns of one conversation, in memory.

Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009), with
k1 = 0.9 and b = 0.4, which suit short texts. SQLite's own bm25() has both constants fixed.
"""

from __future__ import annotations

import math
from array import array
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

K1 = 0.9
B = 0.4

Scores = NDArray[np.float32]
Numbers = NDArray[np.int64] | NDArray[np.uint32] | NDArray[np.float64]


class Postings:
    """Where each stem occurs. Documents are numbered from 0."""

    def __init__(self) -> None:
        self._occurrences: defaultdict[str, array[int]] = defaultdict(lambda: array("I"))
        self._lengths = array("I")

    def __len__(self) -> int:
        return len(self._lengths)

    def add(self, stems: Iterable[str]) -> None:
        """Take one more document."""
        number, length = len(self._lengths), 0
        for stem in stems:
            self._occurrences[stem].append(number)
            length += 1
        self._lengths.append(length)

    def scores(self, weights: Mapping[str, float]) -> Scores:
        """Score every document, shape (documents,).

        0 without a shared stem, towards 1 when all are matched well: BM25 over its largest
        possible value, so that a score means the same in any query.
        """
        counts = {stem: self._counts(stem) for stem in weights}
        return _bm25(weights, counts, _numbers(self._lengths))

    def scores_of_groups(
        self, weights: Mapping[str, float], group_of: NDArray[np.int64], groups: int
    ) -> Scores:
        """Score the first `groups` groups as if each were one document, shape (groups,).

        `group_of` has the group of every document, shape (documents,).
        """
        lengths = np.bincount(group_of, _numbers(self._lengths), groups)[:groups]
        counts = {
            stem: np.bincount(group_of, self._counts(stem), groups)[:groups] for stem in weights
        }
        return _bm25(weights, counts, lengths)

    def holds(self, stem: str, document: int) -> bool:
        """Whether a document has a stem."""
        found = self._occurrences.get(stem, ())
        place = bisect_left(found, document)
        return place < len(found) and found[place] == document

    def _counts(self, stem: str) -> NDArray[np.int64]:
        """How often each document has a stem, shape (documents,)."""
        found = self._occurrences.get(stem, array("I"))
        return np.bincount(_numbers(found), minlength=len(self))


def _bm25(weights: Mapping[str, float], counts: Mapping[str, Numbers], lengths: Numbers) -> Scores:
    found = np.zeros(len(lengths), dtype=np.float32)
    if not weights or not len(lengths):
        return found
    damping = K1 * (1 - B + B * lengths / max(1.0, float(lengths.mean())))
    gains = {
        stem: weight * _rarity(int(np.count_nonzero(counts[stem])), len(lengths))
        for stem, weight in weights.items()
    }
    best = sum(gains.values())
    for stem, gain in gains.items():
        found += np.asarray((gain / best) * counts[stem] / (counts[stem] + damping), np.float32)
    return found


def _rarity(having: int, documents: int) -> float:
    """The inverse document frequency, above 0 even for a stem that every document has."""
    return math.log(1 + (documents - having + 0.5) / (having + 0.5))


def _numbers(values: array[int]) -> NDArray[np.uint32]:
    """A copy: an array that is looked at cannot grow."""
    return np.frombuffer(values.tobytes(), dtype=np.uint32)
