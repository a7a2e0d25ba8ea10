"""The order of scores: which rows are the best, and where one row stands among all."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from jitchat.memory.index.lexical import Places, Scores

Totals = NDArray[np.float64]
"""The score of every row, shape (rows,)."""


def summed_up(parts: Mapping[str, Scores]) -> Totals:
    """Add up the parts of every row's score."""
    return np.asarray(np.sum(list(parts.values()), axis=0, dtype=np.float64))


def best(total: Totals, size: int) -> Places:
    """The rows of the `size` highest scores above 0, best first; of equals the earlier first."""
    found = np.flatnonzero(total > 0)
    if len(found) > size:
        least = np.partition(total[found], -size)[-size]
        found = found[total[found] >= least]
    return found[np.argsort(-total[found], kind="stable")][:size]


def rank_of(total: Totals, row: int) -> int:
    """Find the place of one row in the order of `best`, from 1, whatever its score."""
    better = np.count_nonzero(total > total[row])
    return 1 + int(better + np.count_nonzero(total[:row] == total[row]))
