"""The vectors of one conversation's turns, compared with a query's.

A row is what an embedder made, unless it is not one: a blob of another length, or numbers
that no unit vector has, count as a turn without a vector.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from jitchat.memory.lexical import Scores

_TOLERANCE = 0.01


class Vectors:
    """Rows of `dimension` numbers; grows by doubling, so that adding is cheap."""

    def __init__(self, dimension: int) -> None:
        self._dimension = dimension
        self._data = np.zeros((64, dimension), dtype=np.float32)
        self._is_there = np.zeros(64, dtype=bool)
        self._size = 0

    def extend(self, blobs: Sequence[bytes | None]) -> None:
        """Add a row for each; None for a turn that has none."""
        size = self._size + len(blobs)
        while size > len(self._data):
            self._data = np.concatenate([self._data, np.zeros_like(self._data)])
            self._is_there = np.concatenate([self._is_there, np.zeros_like(self._is_there)])
        if self._dimension:
            made = self._unpacked(blobs)
            fits = _are_units(made)
            self._data[self._size : size] = np.where(fits[:, None], made, 0.0)
            self._is_there[self._size : size] = fits
        self._size = size

    def standardised(self, vector: NDArray[np.float32]) -> Scores:
        """Cosines in standard deviations above their mean, 0 at the least, shape (rows,)."""
        found = np.zeros(self._size, dtype=np.float32)
        rows = self._is_there[: self._size]
        cosines = self._data[: self._size][rows] @ vector if self._dimension else found[:0]
        spread = float(cosines.std()) if len(cosines) else 0.0
        if spread > 0.0:
            found[rows] = np.maximum(0.0, (cosines - cosines.mean()) / spread)
        return found

    def _unpacked(self, blobs: Sequence[bytes | None]) -> NDArray[np.float32]:
        width = 4 * self._dimension
        whole = [
            blob if isinstance(blob, bytes) and len(blob) == width else bytes(width)
            for blob in blobs
        ]
        return np.frombuffer(b"".join(whole), dtype="<f4").reshape(len(blobs), self._dimension)


def _are_units(rows: NDArray[np.float32]) -> NDArray[np.bool_]:
    """Which rows have length 1, shape (rows,); NaN and infinity have not."""
    with np.errstate(all="ignore"):
        lengths = np.einsum("ij,ij->i", rows, rows, dtype=np.float64)
        return np.asarray(np.abs(lengths - 1.0) < _TOLERANCE)
