"""Vectors of texts, and the rows of them that a query is compared with.

A row is what an embedder made, unless it is not one: a blob of another length, or numbers that
no unit vector has, count as a turn without a vector.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from jitchat.errors import EmbedderUnavailable
from jitchat.index.embedder import Embedder
from jitchat.index.growing import Growing
from jitchat.index.lexical import Scores
from jitchat.index.quantised import Bytes, quantised, total
from jitchat.index.quantised import products as products_of

Matrix = NDArray[np.float32]
"""Shape (rows, dimension)."""
_REACH = 4_000
_RECALL_IS_LEXICAL = "Recall goes by words alone meanwhile; the turns are all kept."


def vectors_of(embedder: Embedder, texts: Sequence[str]) -> Matrix:
    """Embed `texts`, shape (len(texts), dimension): unit rows, and zeros for one that has none.

    Of a long text the first 4,000 characters count: a model reads no more of it.

    Raises:
        EmbedderUnavailable: The embedder failed, or made something else than it promised.

    """
    try:
        made = np.asarray(embedder.embed([text[:_REACH] for text in texts]), dtype=np.float32)
    except Exception as error:  # each library fails in classes of its own
        raise EmbedderUnavailable(
            f"The embedder {embedder.id} failed ({type(error).__name__}).", _RECALL_IS_LEXICAL
        ) from error
    if made.shape != (len(texts), embedder.dimension):
        raise EmbedderUnavailable(
            f"The embedder {embedder.id} made vectors of another shape.", _RECALL_IS_LEXICAL
        )
    return unit_rows(made)


def unit_rows(vectors: Matrix) -> Matrix:
    """Scale rows to length 1; a row that is empty or not finite becomes zeros."""
    clean = np.where(np.isfinite(vectors).all(axis=1, keepdims=True), vectors, 0.0)
    lengths = np.linalg.norm(clean.astype(np.float64), axis=1, keepdims=True)
    scaled = np.divide(clean, lengths, out=np.zeros(clean.shape), where=lengths > 0)
    return np.asarray(scaled, dtype=np.float32)


_TOLERANCE = 0.01
_LEAST = 1e-6
_PARTS = 2.0**40
"""Sums are of whole parts of 1, so that a row that is taken back leaves nothing behind."""


@dataclass(frozen=True, slots=True)
class PackedVectors:
    """Rows in a byte a number; a row that has no vector has the scale 0."""

    rows: Bytes
    scales: Scores
    total: NDArray[np.float64]
    """Of the rows, shape (dimension,)."""

    @classmethod
    def of(cls, rows: Bytes, scales: Scores) -> "PackedVectors":
        return cls(rows, scales, total(rows, scales))

    def first(self, count: int) -> "PackedVectors":
        return self.of(self.rows[:count], self.scales[:count])


class Vectors:
    """Rows of `dimension` numbers: those at the start in packs, the others as they were made."""

    def __init__(self, dimension: int) -> None:
        self._dimension = dimension
        self._packs: list[PackedVectors] = []
        self._packed = 0
        """Rows of the packs."""
        self._of_packs: list[_Apart] | None = None
        """What `_parts_of_packs` gave last."""
        self._rows = Growing(np.float32, dimension)
        """Behind the packs."""
        self._is_there = Growing(np.bool_)
        """Of every row."""
        self._sum = np.zeros(dimension, dtype=np.int64)
        """Of what is behind the packs."""

    def extend(self, blobs: Sequence[bytes | None]) -> None:
        """Add a row for each; None for a turn that has none."""
        width = 4 * self._dimension
        whole = [
            blob if isinstance(blob, bytes) and len(blob) == width else bytes(width)
            for blob in blobs
        ]
        joined = b"".join(whole)
        numbers = np.frombuffer(joined, dtype="<f4") if joined else np.zeros(0, dtype=np.float32)
        made = numbers.reshape(len(blobs), self._dimension)
        with np.errstate(all="ignore"):  # NaN and infinity have no length of 1
            lengths = np.einsum("ij,ij->i", made, made, dtype=np.float64)
            fits = np.abs(lengths - 1.0) < _TOLERANCE
        kept = np.where(fits[:, None], made, np.float32(0.0))
        self._rows.extend(kept)
        self._is_there.extend(fits)
        self._sum += _whole(kept)

    def pack(self, start: int, stop: int) -> PackedVectors:
        """Make one pack of the rows from `start` on, where a pack begins or the last one ends."""
        count = stop - self._packed
        rows, scales = quantised(self._rows.rows[:count])
        if start < self._packed:
            last = self._packs.pop()
            rows, scales = np.concatenate([last.rows, rows]), np.append(last.scales, scales)
        behind = self._rows.rows[count:].copy()
        self.add_pack(made := PackedVectors.of(rows, scales), start)
        self._rows.cut(0)
        self._rows.extend(behind)
        self._sum = _whole(behind)
        return made

    def add_pack(self, made: PackedVectors, start: int) -> None:
        self._packs.append(made)
        self._packed, self._of_packs = start + len(made.rows), None
        there = made.scales > 0
        self._is_there.extend(there[len(self._is_there) - start :])

    def take_back(self, size: int) -> None:
        """Keep the first `size` rows, as if no other had been added."""
        while size < self._packed:
            last, self._of_packs = self._packs.pop(), None
            self._packed -= len(last.rows)
            if size > self._packed:
                self._packs.append(last.first(size - self._packed))
                self._packed = size
        behind = size - self._packed
        self._sum -= _whole(self._rows.rows[behind:])
        self._rows.cut(behind)
        self._is_there.cut(size)

    def known(self) -> NDArray[np.bool_]:
        """Which rows have a vector, shape (rows,)."""
        return self._is_there.rows.copy()

    def standardised(self, vector: NDArray[np.float32]) -> Scores:
        """Cosines in standard deviations above their mean, 0 at the least, shape (rows,).

        They are of what sets each row, and the query, apart from the mean of all rows: what
        they have in common says nothing. A mean of thousands is hardly moved by a few more:
        where there are packs, it is theirs.
        """
        there = self._is_there.rows
        found = np.zeros(len(there), dtype=np.float32)
        if not there.any() or not vector.any():
            return found
        mean, sums = self._mean(), _Sums()
        along = float(vector @ mean)
        start = 0
        for pack, parts in zip(self._packs, self._parts_of_packs(mean), strict=True):
            part = slice(start, start := start + len(pack.rows))
            products = products_of(pack.rows, pack.scales, vector)
            sums.add(parts.cosines(products, along, out=found[part]), there[part])
        if start < len(there):
            # not `@`: it would wake other threads, for which a busy machine waits ten times as long
            products = np.einsum("ij,kj->ki", self._rows.rows, np.stack([vector, mean]))
            parts = _Apart.of(products[1], mean, there[start:])
            sums.add(parts.cosines(products[0], along, out=found[start:]), there[start:])
        usual, spread = sums.mean_and_spread()
        if spread <= _LEAST:
            return np.zeros_like(found)
        found *= np.float32(1 / spread)
        found -= np.float32(usual / spread)
        np.maximum(found, np.float32(0.0), out=found)
        if not there.all():
            found *= there
        return found

    def _mean(self) -> NDArray[np.float32]:
        if self._packs:
            packed = np.sum([pack.total for pack in self._packs], axis=0)
            count = np.count_nonzero(self._is_there.rows[: self._packed])
            return np.asarray(packed / max(1, count), dtype=np.float32)
        return (self._sum / (_PARTS * np.count_nonzero(self._is_there.rows))).astype(np.float32)

    def _parts_of_packs(self, mean: NDArray[np.float32]) -> "list[_Apart]":
        """What the cosines of each pack take that is the same for any query."""
        if self._of_packs is None:
            self._of_packs = [
                _Apart.of(products_of(pack.rows, pack.scales, mean), mean, pack.scales > 0)
                for pack in self._packs
            ]
        return self._of_packs


@dataclass(frozen=True, slots=True)
class _Apart:
    """What sets rows apart from the mean of all rows: two numbers a row, 0 for one with no vector.

    A row's product with a query's vector, both without the mean, by its distance from the mean, is
    `(product - along) * nearness + offset`, where `along` is the query's product with the mean.
    """

    nearness: Scores
    offset: Scores

    @classmethod
    def of(cls, common: Scores, mean: NDArray[np.float32], there: NDArray[np.bool_]) -> "_Apart":
        """`common` are the products of the rows with the mean."""
        own = float(mean @ mean)
        distance = np.sqrt(np.maximum(1.0 - 2.0 * common + own, _LEAST))
        nearness = (there / distance).astype(np.float32)
        return cls(nearness, np.asarray((own - common) * nearness, dtype=np.float32))

    def cosines(self, products: Scores, along: float, out: Scores) -> Scores:
        np.subtract(products, np.float32(along), out=out)
        out *= self.nearness
        out += self.offset
        return out


class _Sums:
    """Of numbers that come in parts, each of which stays in the processor's cache meanwhile."""

    def __init__(self) -> None:
        self._count = 0
        self._sum = self._squares = 0.0

    def add(self, values: Scores, there: NDArray[np.bool_]) -> None:
        """Add the values that are `there`; both have one shape."""
        kept = values if there.all() else values[there]
        self._count += len(kept)
        self._sum += float(kept.sum())
        self._squares += float(np.einsum("i,i->", kept, kept))

    def mean_and_spread(self) -> tuple[float, float]:
        """Tell the mean and the standard deviation of at least one value."""
        mean = self._sum / self._count
        return mean, math.sqrt(max(0.0, self._squares / self._count - mean * mean))


def _whole(rows: NDArray[np.float32]) -> NDArray[np.int64]:
    """Add up rows in parts of 1, shape (dimension,)."""
    parts = np.rint(rows.astype(np.float64) * _PARTS).astype(np.int64)
    return np.asarray(parts.sum(axis=0))
