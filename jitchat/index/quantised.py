"""Unit vectors in a byte a number: a quarter of the memory, and of the time to read it.

A row is scaled so that its largest number is 127, and rounded; so is what rows are multiplied with.
Their products are whole numbers, and so exact, whoever adds them up. What that changes of what is
found, `jitchat bench scaling` tells.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.int8]
"""Shape (rows, dimension)."""
_MOST = 127.0
_AT_ONCE = 256
"""Rows that stay in the processor's cache while they are turned into floats."""


def quantised(rows: NDArray[np.float32]) -> tuple[Bytes, NDArray[np.float32]]:
    """Round rows, shape (rows, dimension); and their scales, shape (rows,): 0 for an empty row."""
    most = np.abs(rows).max(axis=1, initial=0.0)
    scales = (most / np.float32(_MOST)).astype(np.float32)
    safe = np.where(scales > 0, scales, np.float32(1.0))
    return np.rint(rows / safe[:, None]).astype(np.int8), scales


def products(
    rows: Bytes, scales: NDArray[np.float32], vector: NDArray[np.float32]
) -> NDArray[np.float32]:
    """Multiply each of the rows that were quantised with `vector`, shape (rows,)."""
    rounded, scale = quantised(vector[None])
    found = _dots(rows, rounded)
    found *= scale
    found *= scales
    return found


def total(rows: Bytes, scales: NDArray[np.float32]) -> NDArray[np.float64]:
    """Add up the rows that were quantised, shape (dimension,)."""
    found = np.zeros(rows.shape[1])
    for part in _parts(len(rows)):
        found += scales[part].astype(np.float64) @ rows[part].astype(np.float64)
    return found


def _dots(rows: Bytes, other: Bytes) -> NDArray[np.float32]:
    """Multiply rows with the one of `other`, shape (rows,)."""
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
