"""BM25 over the turns of one conversation, in memory.

Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009), with
constants that suit short texts. SQLite's own bm25() has both fixed.
"""

import math
from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

K1 = 0.9
B = 0.4

Scores = NDArray[np.float32]
Places = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Matches:
    """Where one stem of a query occurs, and what each occurrence is worth."""

    documents: Places
    """Ascending, without repeats."""
    values: Scores
    """Of the same shape. Of all stems of a query together, 1 at the most."""
    share: float
    """What the stem is worth of the query, 0 to 1."""

    def without(self, documents: NDArray[np.bool_]) -> "Matches":
        """Leave out the documents that are marked, shape (all documents,)."""
        kept = ~documents[self.documents]
        return Matches(self.documents[kept], self.values[kept], self.share)


class Postings:
    """Where each stem occurs, and how often. Documents are numbered from 0."""

    def __init__(self) -> None:
        self._occurrences: dict[str, tuple[array[int], array[int]]] = {}
        self._lengths = array("I")
        self._total = 0

    def __len__(self) -> int:
        return len(self._lengths)

    def add(self, stems: Iterable[str]) -> None:
        number, length = len(self._lengths), 0
        for stem, count in Counter(stems).items():
            documents, counts = self._occurrences.setdefault(stem, (array("I"), array("I")))
            documents.append(number)
            counts.append(count)
            length += count
        self._lengths.append(length)
        self._total += length

    def take_back(self, size: int) -> None:
        """Keep the first `size` documents, as if no other had been added."""
        for stem in [stem for stem, (found, _) in self._occurrences.items() if found[-1] >= size]:
            documents, counts = self._occurrences[stem]
            kept = bisect_left(documents, size)
            del documents[kept:], counts[kept:]
            if not kept:
                del self._occurrences[stem]
        self._total -= sum(self._lengths[size:])
        del self._lengths[size:]

    @property
    def lengths(self) -> NDArray[np.uint32]:
        """Stems of each document, shape (documents,)."""
        return _numbers(self._lengths)

    def rarest(self, weights: Mapping[str, float], count: int) -> dict[str, float]:
        """Keep the `count` stems of a query that occur least; those that never do count too."""
        chosen = sorted(weights, key=self._rarity, reverse=True)[:count]
        return {stem: weights[stem] for stem in chosen}

    def worths(self, weights: Mapping[str, float]) -> dict[str, float]:
        """Tell what each stem of a query that occurs is worth: its weight times its rarity."""
        occurring = weights.keys() & self._occurrences.keys()
        return {each: weights[each] * self._rarity(each) for each in weights if each in occurring}

    def matches(self, weights: Mapping[str, float]) -> list[Matches]:
        """Find the stems of a query that occur, with what they are worth where.

        Values are BM25 over its largest possible value for the query, so that a score means
        the same in any query.
        """
        gains = {stem: weight * self._rarity(stem) for stem, weight in weights.items()}
        best, lengths = sum(gains.values()), self.lengths
        damping = K1 * (1 - B + B * lengths / max(1.0, self._total / max(1, len(self))))
        found = []
        for stem, gain in gains.items():
            if stem in self._occurrences:
                documents, counts = self._where(stem)
                values = (gain / best) * counts / (counts + damping[documents])
                found.append(Matches(documents, values.astype(np.float32), gain / best))
        return found

    def scores_of_groups(
        self, weights: Mapping[str, float], group_of: Places, groups: int
    ) -> Scores:
        """Score the first `groups` groups as if each were one document, shape (groups,).

        `group_of` has the group of every document, shape (documents,), ascending.
        """
        found = np.zeros(groups, dtype=np.float32)
        lengths = np.bincount(group_of, self.lengths, groups)[:groups]
        damping = K1 * (1 - B + B * lengths / max(1.0, float(lengths.mean()) if groups else 0.0))
        best = 0.0
        for stem, weight in weights.items():
            documents, counts = self._where(stem)
            often = np.bincount(group_of[documents], counts, groups)[:groups].astype(np.float64)
            gain = weight * _rarity(int(np.count_nonzero(often)), groups)
            found += np.asarray(gain * often / (often + damping), dtype=np.float32)
            best += gain
        return found / np.float32(best or 1.0)

    def contains(self, stem: str, documents: Places) -> NDArray[np.bool_]:
        """Whether each of `documents` has a stem, shape of `documents`."""
        if stem not in self._occurrences:
            return np.zeros(len(documents), dtype=np.bool_)
        having = self._where(stem)[0]
        place = np.searchsorted(having, documents)
        return np.asarray(np.append(having, -1)[place] == documents)

    def _where(self, stem: str) -> tuple[Places, NDArray[np.uint32]]:
        documents, counts = self._occurrences.get(stem, _NOWHERE)
        return _numbers(documents).astype(np.int64), _numbers(counts)

    def _rarity(self, stem: str) -> float:
        return _rarity(len(self._occurrences.get(stem, _NOWHERE)[0]), len(self))


def summed(matches: Iterable[Matches], size: int) -> Scores:
    """Add up what a query's stems are worth, shape (size,)."""
    found = np.zeros(size, dtype=np.float32)
    for match in matches:
        found[match.documents] += match.values
    return found


def covered(matches: Iterable[Matches], size: int) -> Scores:
    """Find the share of the query that each document has, 0 to 1, shape (size,)."""
    found = np.zeros(size, dtype=np.float32)
    for match in matches:
        found[match.documents] += np.float32(match.share)
    return found


_NOWHERE = array("I"), array("I")


def _rarity(having: int, documents: int) -> float:
    """The inverse document frequency, above 0 even for a stem that every document has."""
    return math.log(1 + (documents - having + 0.5) / (having + 0.5))


def _numbers(values: "array[int]") -> NDArray[np.uint32]:
    """A copy: an array that is looked at cannot grow."""
    return np.frombuffer(values.tobytes(), dtype=np.uint32)
