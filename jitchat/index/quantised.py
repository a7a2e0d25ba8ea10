"""Unit vectors quantised to one byte per number: a quarter of the memory and of the time to read.

A row is scaled so that its largest number is 127, and rounded; so is the vector it is multiplied
with. Their products are whole numbers, so sums are exact in any order. `jitchat bench scaling`
measures the effect on retrieval.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.int8]
"""Shape (rows, dimension)."""
_MOST = 127.0
_AT_ONCE = 256
"""Rows converted to floats at a time; this many fit into the processor's cache."""


def quantised(rows: NDArray[np.float32]) -> tuple[Bytes, NDArray[np.float32]]:
    """Return rounded rows, shape (rows, dimension), and scales, shape (rows,): 0 if a row is 0."""
    most = np.abs(rows).max(axis=1, initial=0.0)
    scales = (most / np.float32(_MOST)).astype(np.float32)
    safe = np.where(scales > 0, scales, np.float32(1.0))
    return np.rint(rows / safe[:, None]).astype(np.int8), scales


def products(
    rows: Bytes, scales: NDArray[np.float32], vector: NDArray[np.float32]
) -> NDArray[np.float32]:
    """Multiply each quantised row with `vector`, shape (rows,)."""
    rounded, scale = quantised(vector[None])
    found = _dots(rows, rounded)
    found *= scale
    found *= scales
    return found


def total(rows: Bytes, scales: NDArray[np.float32]) -> NDArray[np.float64]:
    """Add up quantised rows, shape (dimension,)."""
    found = np.zeros(rows.shape[1])
    for part in _parts(len(rows)):
        found += scales[part].astype(np.float64) @ rows[part].astype(np.float64)
    return found


def _dots(rows: Bytes, other: Bytes) -> NDArray[np.float32]:
    """Multiply rows with the only row of `other`, shape (rows,)."""
    try:
        from simsimd import cdist  # noqa: PLC0415  has no wheel for some machines
    except ImportError:
        return _dots_by_numpy(rows, other)
    if not rows.size:
        return np.zeros(len(rows), dtype=np.float32)
    return np.asarray(cdist(rows, other, "dot", out_dtype="float32"))[:, 0]


def _dots_by_numpy(rows: Bytes, other: Bytes) -> NDArray[np.float32]:
    found, wanted = np.empty(len(rows), dtype=np.float32), other[0].astype(np.float32)
    for part in _parts(len(rows)):
        np.einsum("ij,j->i", rows[part].astype(np.float32), wanted, out=found[part])
    return found


def _parts(size: int) -> Iterator[slice]:
    return (slice(start, start + _AT_ONCE) for start in range(0, size, _AT_ONCE))
