"""Immutable postings in four arrays, ordered by stem and then by document.

Stems are numbers here; `Postings` maps them to text.
"""

from array import array
from bisect import bisect_left
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.uint32]
Counts = NDArray[np.unsignedinteger]


@dataclass(frozen=True, slots=True)
class PackedPostings:
    start: int
    """The first document that is packed."""
    stems: Numbers
    """Ascending, shape (stems,)."""
    ends: Numbers
    """The end of each stem's run in the arrays below, shape (stems,)."""
    documents: Numbers
    """Ascending for each stem, shape (occurrences,)."""
    counts: Counts
    """How often a document has the stem, shape (occurrences,), in the smallest type that fits."""

    @classmethod
    def of(
        cls,
        occurrences: Mapping[str, tuple["array[int]", "array[int]"]],
        start: int,
        stop: int,
        number_of: Callable[[str], int],
    ) -> "PackedPostings":
        """Pack the documents [start, stop) of `occurrences`: documents and counts, by stem."""
        stems, sizes = array("I"), array("I")
        documents, counts = array("I"), array("I")
        for stem, (found, often) in occurrences.items():
            if size := bisect_left(found, stop):
                stems.append(number_of(stem))
                sizes.append(size)
                documents += found[:size]
                counts += often[:size]
        arrays = (np.array(each, dtype=np.uint32) for each in (stems, sizes, documents, counts))
        return _ordered(start, *arrays)

    def in_order(self) -> "PackedPostings":
        """Order the runs by stem: the stems of another index may be numbered in another order."""
        is_ordered = bool(np.all(self.stems[:-1] < self.stems[1:]))
        return self if is_ordered else _ordered(self.start, *self.in_sizes())

    def followed_by(self, other: "PackedPostings") -> "PackedPostings":
        """Join two packs. All documents of `other` come after the documents of this one."""
        both = zip(self.in_sizes(), other.in_sizes(), strict=True)
        return _ordered(self.start, *map(np.concatenate, both))

    def up_to(self, stop: int) -> "PackedPostings":
        """Return the postings without the documents from `stop` on."""
        kept = self.documents < stop
        running = np.append(np.uint32(0), np.cumsum(kept, dtype=np.uint32))
        sizes = np.diff(running[np.append(np.uint32(0), self.ends)])
        occurs = sizes > 0
        documents, counts = self.documents[kept], self.counts[kept]
        return _ordered(self.start, self.stems[occurs], sizes[occurs], documents, counts)

    def where(self, stem: int) -> tuple[Numbers, Counts]:
        """Find the documents that have a stem, and how often each has it."""
        place = int(np.searchsorted(self.stems, stem))
        if place == len(self.stems) or self.stems[place] != stem:
            return self.documents[:0], self.counts[:0]
        part = slice(int(self.ends[place - 1]) if place else 0, int(self.ends[place]))
        return self.documents[part], self.counts[part]

    def in_sizes(self) -> tuple[Numbers, Numbers, Numbers, Counts]:
        """Return the arrays with the size of each stem's run instead of its end."""
        sizes = np.diff(self.ends, prepend=np.uint32(0))
        return self.stems, sizes, self.documents, self.counts


def _ordered(
    start: int, stems: Numbers, sizes: Numbers, documents: Numbers, counts: Counts
) -> PackedPostings:
    """Order runs of the given `sizes` by stem. Runs of the same stem must be in order already."""
    order = np.argsort(np.repeat(stems, sizes), kind="stable")
    kept, places = np.unique(stems, return_inverse=True)
    ends = np.cumsum(np.bincount(places, sizes, len(kept))).astype(np.uint32)
    small = np.min_scalar_type(int(counts.max(initial=0)))
    return PackedPostings(start, kept, ends, documents[order], counts[order].astype(small))
