"""BM25 over the turns of one conversation, in memory.

Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009), with
k1 = 0.9 and b = 0.4, which suit short texts. SQLite's own bm25() has both constants fixed.
"""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

K1 = 0.9
B = 0.4

Scores = NDArray[np.float32]


class Postings:
    """Which documents hold a stem, and how often. Documents are numbered from 0."""

    def __init__(self) -> None:
        self._documents: dict[str, array[int]] = {}
        self._counts: dict[str, array[int]] = {}
        self._lengths = array("I")

    def __len__(self) -> int:
        return len(self._lengths)

    def add(self, stems: Iterable[str]) -> None:
        """One more document."""
        number = len(self._lengths)
        counted = Counter(stems)
        for stem, count in counted.items():
            self._documents.setdefault(stem, array("I")).append(number)
            self._counts.setdefault(stem, array("H")).append(min(count, 65_535))
        self._lengths.append(counted.total())

    def scores(self, weights: Mapping[str, float]) -> Scores:
        """Shape (documents,): 0 without a shared stem, towards 1 when all are matched well.

        BM25 over its largest possible value, so that a score means the same in any query.
        """
        found = np.zeros(len(self), dtype=np.float32)
        best = sum(weight * self.rarity(stem) for stem, weight in weights.items()) * (K1 + 1)
        if not best:
            return found
        lengths = np.frombuffer(self._lengths.tobytes(), dtype=np.uint32)
        damping = K1 * (1 - B + B * lengths / max(1.0, float(lengths.mean())))
        for stem, weight in weights.items():
            if stem not in self._documents:
                continue
            rows = np.frombuffer(self._documents[stem].tobytes(), dtype=np.uint32)
            counts = np.frombuffer(self._counts[stem].tobytes(), dtype=np.uint16).astype(np.float32)
            gain = weight * self.rarity(stem) * (K1 + 1) / best
            found[rows] += gain * counts / (counts + damping[rows])
        return found

    def rarity(self, stem: str) -> float:
        """The inverse document frequency, above 0 even for a stem that nothing has."""
        having = len(self._documents.get(stem, ()))
        return math.log(1 + (len(self) - having + 0.5) / (having + 0.5))

    def holds(self, stem: str, document: int) -> bool:
        """Whether a document has a stem."""
        rows = self._documents.get(stem)
        if rows is None:
            return False
        place = int(np.searchsorted(np.frombuffer(rows.tobytes(), dtype=np.uint32), document))
        return place < len(rows) and rows[place] == document
