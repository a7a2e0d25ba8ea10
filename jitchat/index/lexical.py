"""BM25 over the turns of one conversation, in memory.

Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009), with
constants that suit chat turns; those of SQLite's bm25() cannot be changed.

A document's length is normalised by that of a brief document, not by the mean: in a chat with a
language model, answers are ten times as long as the user's messages and would dominate the mean.
The square root of the length is used, so that statements in a long message are found, too.
"""

import math
from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jitchat.index.growing import Growing
from jitchat.index.packed_postings import PackedPostings

K1 = 0.9
B = 0.9
_BRIEF = 12.0
"""Stems. A document this short is brief in any conversation."""
LONGEST = 12.0
"""Maximum ratio of a document's length to that of a brief one; longer documents count as this."""
_UNSEEN = 2
"""Number of stems that never occur which count in full."""
EITHER = "|"
"""Separates alternative stems, which are searched as one stem."""
_SUMMED = 8
"""The stems of a query whose maximum is 1. In a long draft, all stems together occur in no turn:
divided by the sum of all, three rare words in common would count less than a vague likeness."""
_REMEMBERED = 128
"""Stems to cache: a query has few, and looks up each of them several times."""

Scores = NDArray[np.float32]
Places = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Matches:
    """The documents in which one stem of a query occurs, with its value in each."""

    documents: Places
    """Ascending, without repeats."""
    values: Scores
    """Of the same shape. The values of a query's most valuable stems add up to 1 at most."""
    share: float
    """The stem's share of the query's weight, 0 to 1."""

    def weighed(self, weights: Scores) -> "Matches":
        """Multiply the values by each document's weight, shape (all documents,)."""
        return Matches(self.documents, self.values * weights[self.documents], self.share)

    def without(self, documents: NDArray[np.bool_]) -> "Matches":
        """Remove the documents that are True in the mask, shape (all documents,)."""
        kept = ~documents[self.documents]
        return Matches(self.documents[kept], self.values[kept], self.share)


class Postings:
    """For each stem, the documents it occurs in and how often. Documents are numbered from 0."""

    def __init__(self) -> None:
        self._packs: list[PackedPostings] = []
        self._packed = 0
        """Number of documents in packs."""
        self._numbers: dict[str, int] = {}
        """The number of each stem in a pack."""
        self._occurrences: dict[str, tuple[array[int], array[int]]] = {}
        """Documents and counts after the packs, by stem."""
        self._lengths = Growing(np.uint32)
        self._found: dict[str, tuple[Places, NDArray[np.uint32]]] = {}
        """Cache of `_where`."""
        self._brief: float | None = None
        """Cache of `brief`."""
        self.generation = 0
        """Incremented whenever documents are added or removed."""

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
        self._forget()

    def pack(self, start: int, stop: int) -> PackedPostings:
        """Pack the documents [start, stop). `start` is the start of the last pack, or its end."""
        made = PackedPostings.of(self._occurrences, self._packed, stop, self._number_of)
        if start < self._packed:
            made = self._packs.pop().followed_by(made)
        self._keep(lambda documents: (bisect_left(documents, stop), len(documents)))
        self._packs.append(made)
        self._packed = stop
        self._forget()
        return made

    def add_pack(self, made: PackedPostings, lengths: NDArray[np.uint32]) -> None:
        """Append packed documents with their lengths in stems."""
        self._packs.append(made)
        self._lengths.extend(lengths)
        self._packed = len(self._lengths)
        self._forget()

    def numbered(self, stems: Iterable[str]) -> NDArray[np.uint32]:
        """Return the numbers that stand for stems in packs, assigning new ones as needed."""
        return np.fromiter(map(self._number_of, stems), dtype=np.uint32)

    def spelled(self, made: PackedPostings) -> list[str]:
        """Return the stems of a pack as text."""
        spelled = list(self._numbers)
        return [spelled[number] for number in made.stems.tolist()]

    def truncate(self, size: int) -> None:
        """Keep the first `size` documents, as if no others had been added."""
        if size < self._packed:
            kept = (pack for pack in self._packs if pack.start < size)
            self._packs = [pack.up_to(size) for pack in kept]
            self._packed = size
        self._keep(lambda documents: (0, bisect_left(documents, size)))
        self._lengths.cut(size)
        self._forget()

    def _keep(self, part: Callable[["array[int]"], tuple[int, int]]) -> None:
        """Keep only `part` of each stem's documents after the packs, as a range of indices."""
        kept = {}
        for stem, (documents, counts) in self._occurrences.items():
            start, stop = part(documents)
            if start < stop:
                kept[stem] = documents[start:stop], counts[start:stop]
        self._occurrences = kept

    @property
    def lengths(self) -> NDArray[np.uint32]:
        """Number of stems of each document, shape (documents,)."""
        return self._lengths.rows

    @property
    def brief(self) -> float:
        """The length of a brief document, as `brief_of` defines it."""
        if self._brief is None:
            self._brief = brief_of(self.lengths)
        return self._brief

    def rarest(self, weights: Mapping[str, float], count: int) -> dict[str, float]:
        """Keep a query's `count` most valuable stems that occur, and up to `count` that do not.

        The stems that never occur are scaled down so that together they weigh no more than the
        stems that occur, or than two unseen stems if that is more.
        """
        worths = self.worths(weights)
        chosen = sorted(worths, key=lambda stem: -worths[stem])[:count]
        unseen = [stem for stem in weights if stem not in worths][:count]
        rarity = _rarity(0, len(self))
        missing = rarity * sum(weights[stem] for stem in unseen)
        most = max(sum(worths[stem] for stem in chosen), _UNSEEN * rarity)
        share = min(1.0, most / missing) if missing else 1.0
        return {
            **{stem: weights[stem] for stem in chosen},
            **{stem: share * weights[stem] for stem in unseen},
        }

    def worths(self, weights: Mapping[str, float]) -> dict[str, float]:
        """Return the value of each stem of a query that occurs: its weight times its rarity."""
        occurring = (stem for stem in weights if len(self._where(stem)[0]))
        return {stem: weights[stem] * self._rarity(stem) for stem in occurring}

    def matches(self, weights: Mapping[str, float]) -> list[Matches]:
        """Find the stems of a query that occur, with their values in each document.

        Values are BM25 divided by its maximum for the most valuable stems of the query, so that
        scores of different queries are comparable.
        """
        gains = {stem: weight * self._rarity(stem) for stem, weight in weights.items()}
        total, lengths = sum(gains.values()), self.lengths
        best = sum(sorted(gains.values(), reverse=True)[:_SUMMED])
        found = []
        for stem, gain in gains.items():
            documents, counts = self._where(stem)
            if len(documents):
                damping = damped(lengths[documents], self.brief)
                values = (gain / best) * counts / (counts + damping)
                found.append(Matches(documents, values.astype(np.float32), gain / total))
        return found

    def scores_of_groups(
        self, weights: Mapping[str, float], group_of: Places, groups: int
    ) -> Scores:
        """Score each of the first `groups` groups as one document, shape (groups,).

        `group_of` is the group of every document, shape (documents,), ascending.
        """
        found = np.zeros(groups, dtype=np.float32)
        lengths = np.bincount(group_of, self.lengths, groups)[:groups]
        damping, best = damped(lengths, brief_of(lengths)), 0.0
        for stem, weight in weights.items():
            documents, counts = self._where(stem)
            often = np.bincount(group_of[documents], counts, groups)[:groups].astype(np.float64)
            gain = weight * _rarity(int(np.count_nonzero(often)), groups)
            found += np.asarray(gain * often / (often + damping), dtype=np.float32)
            best += gain
        return found / np.float32(best or 1.0)

    def contains(self, stem: str, documents: Places) -> NDArray[np.bool_]:
        """Return whether each of `documents` has a stem, in the shape of `documents`."""
        having = self._where(stem)[0]
        if not len(having):
            return np.zeros(len(documents), dtype=np.bool_)
        place = np.minimum(np.searchsorted(having, documents), len(having) - 1)
        return np.asarray(having[place] == documents)

    def _where(self, stem: str) -> tuple[Places, NDArray[np.uint32]]:
        """Find the documents that have a stem, ascending, and how often each has it."""
        if stem not in self._found:
            if len(self._found) >= _REMEMBERED:
                self._found.clear()
            found = [self._located(each) for each in stem.split(EITHER)]
            self._found[stem] = found[0] if len(found) == 1 else _merged(found)
        return self._found[stem]

    def _located(self, stem: str) -> tuple[Places, NDArray[np.uint32]]:
        number = self._numbers.get(stem)
        parts = [pack.where(number) for pack in self._packs] if number is not None else []
        unpacked, often = map(_numbers, self._occurrences.get(stem, _NOWHERE))
        documents = np.concatenate([*(part[0] for part in parts), unpacked])
        counts = np.concatenate([*(part[1] for part in parts), often])
        return documents.astype(np.int64), counts.astype(np.uint32)

    def has(self, stem: str) -> bool:
        """Return whether any document has a stem."""
        if stem in self._occurrences:
            return True
        number = self._numbers.get(stem)
        return number is not None and any(len(pack.where(number)[0]) for pack in self._packs)

    def having(self, stem: str) -> int:
        """Count the documents that have a stem."""
        return len(self._where(stem)[0])

    @property
    def packed_stems(self) -> Collection[str]:
        """The stems of the packs. Stems are never removed, not even with their last document."""
        return self._numbers.keys()

    @property
    def unpacked_stems(self) -> Collection[str]:
        """The stems that occur after the packs."""
        return self._occurrences.keys()

    def _forget(self) -> None:
        self.generation += 1
        self._brief = None
        if self._found:
            self._found.clear()

    def _number_of(self, stem: str) -> int:
        return self._numbers.setdefault(stem, len(self._numbers))

    def _rarity(self, stem: str) -> float:
        return _rarity(len(self._where(stem)[0]), len(self))


def brief_of(lengths: NDArray[Any]) -> float:
    """Return the length of a brief document: the lower quartile, but at least `_BRIEF` stems."""
    return max(_BRIEF, float(np.quantile(lengths, 0.25))) if len(lengths) else _BRIEF


def damped(lengths: NDArray[Any], brief: float) -> NDArray[np.float64]:
    """Return how many occurrences give half of the maximum value, in the shape of `lengths`."""
    return np.asarray(K1 * (1 - B + B * np.sqrt(np.minimum(lengths / brief, LONGEST))))


def summed(matches: Iterable[Matches], size: int) -> Scores:
    """Add up the values of a query's stems in each document, shape (size,)."""
    found = np.zeros(size, dtype=np.float32)
    for match in matches:
        found[match.documents] += match.values
    return found


def covered(matches: Iterable[Matches], size: int) -> Scores:
    """Return the share of the query that each document matches, 0 to 1, shape (size,)."""
    found = np.zeros(size, dtype=np.float32)
    for match in matches:
        found[match.documents] += np.float32(match.share)
    return found


_NOWHERE = array("I"), array("I")


def _merged(
    found: Iterable[tuple[Places, NDArray[np.uint32]]],
) -> tuple[Places, NDArray[np.uint32]]:
    """Merge the documents and counts of several stems as if they were one stem."""
    documents, counts = (np.concatenate(each) for each in zip(*found, strict=True))
    kept, places = np.unique(documents, return_inverse=True)
    return kept, np.bincount(places, counts, len(kept)).astype(np.uint32)


def _rarity(having: int, documents: int) -> float:
    """Return the inverse document frequency, above 0 even for a stem in every document."""
    return math.log(1 + (documents - having + 0.5) / (having + 0.5))


def _numbers(values: "array[int]") -> NDArray[np.uint32]:
    """Copy an array, because an array with a view on it cannot grow."""
    return np.frombuffer(values.tobytes(), dtype=np.uint32)
