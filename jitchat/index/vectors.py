"""Vectors of texts, and the rows of them that a query is compared with.

A row is what an embedder made, unless it is not one: a blob of another length, or numbers that
no unit vector has, count as a turn without a vector.
"""

from collections.abc import Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from jitchat.errors import EmbedderUnavailable
from jitchat.index.embedder import Embedder
from jitchat.index.lexical import Scores

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


_Number = TypeVar("_Number", np.float32, np.bool_)
_TOLERANCE = 0.01
_LEAST = 1e-6
_PARTS = 2.0**40
"""Sums are of whole parts of 1, so that a row that is taken back leaves nothing behind."""


class Vectors:
    """Rows of `dimension` numbers; grows by doubling, so that adding is cheap."""

    def __init__(self, dimension: int) -> None:
        self._dimension = dimension
        self._data = np.zeros((64, dimension), dtype=np.float32)
        self._is_there = np.zeros(64, dtype=bool)
        self._sum = np.zeros(dimension, dtype=np.int64)
        self._size = 0

    def extend(self, blobs: Sequence[bytes | None]) -> None:
        """Add a row for each; None for a turn that has none."""
        size = self._size + len(blobs)
        while size > len(self._data):
            self._data, self._is_there = _doubled(self._data), _doubled(self._is_there)
        if self._dimension:
            width = 4 * self._dimension
            whole = [
                blob if isinstance(blob, bytes) and len(blob) == width else bytes(width)
                for blob in blobs
            ]
            made = np.frombuffer(b"".join(whole), dtype="<f4").reshape(len(blobs), self._dimension)
            with np.errstate(all="ignore"):  # NaN and infinity have no length of 1
                lengths = np.einsum("ij,ij->i", made, made, dtype=np.float64)
                fits = np.abs(lengths - 1.0) < _TOLERANCE
            kept = np.where(fits[:, None], made, np.float32(0.0))
            self._data[self._size : size] = kept
            self._is_there[self._size : size] = fits
            self._sum += _whole(kept)
        self._size = size

    def take_back(self, size: int) -> None:
        """Keep the first `size` rows, as if no other had been added."""
        self._sum -= _whole(self._data[size : self._size])
        self._size = size

    def known(self) -> NDArray[np.bool_]:
        """Which rows have a vector, shape (rows,)."""
        return self._is_there[: self._size].copy()

    def standardised(self, vector: NDArray[np.float32]) -> Scores:
        """Cosines in standard deviations above their mean, 0 at the least, shape (rows,).

        They are of what sets each row, and the query, apart from the mean of all rows: what
        they have in common says nothing.
        """
        found = np.zeros(self._size, dtype=np.float32)
        rows = self._is_there[: self._size]
        if not rows.any() or not vector.any():
            return found
        mean = (self._sum / (_PARTS * rows.sum())).astype(np.float32)
        # not `@`: it would wake other threads, for which a busy machine waits ten times as long
        products = np.einsum("ij,kj->ki", self._data[: self._size], np.stack([vector, mean]))
        along, common, own = products[0], products[1], float(mean @ mean)
        apart = np.sqrt(np.maximum(1.0 - 2.0 * common + own, _LEAST))
        cosines = ((along - common - vector @ mean + own) / apart)[rows]
        spread = float(cosines.std())
        if spread > _LEAST:
            found[rows] = np.maximum(0.0, (cosines - cosines.mean()) / spread)
        return found


def _doubled(values: NDArray[_Number]) -> NDArray[_Number]:
    """Make room for as many rows again; memory that is never written to is never taken."""
    grown = np.zeros((2 * len(values), *values.shape[1:]), dtype=values.dtype)
    grown[: len(values)] = values
    return grown


def _whole(rows: NDArray[np.float32]) -> NDArray[np.int64]:
    """Add up rows in parts of 1, shape (dimension,)."""
    parts = np.rint(rows.astype(np.float64) * _PARTS).astype(np.int64)
    return np.asarray(parts.sum(axis=0))
