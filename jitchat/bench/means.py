"""Intervals of means, such as that of F1, which is neither a share nor normally distributed."""

from collections.abc import Sequence

LEAST = 10
"""Values; the interval of fewer would look surer than it is."""
_DRAWS, _SEED = 2_000, 1

ASSUMED = (
    "95 % intervals by the bootstrap over questions, each taken as independent: those on one"
    " conversation are not quite, so that other conversations may differ by more."
)


def mean_interval(values: Sequence[float]) -> tuple[float, float] | None:
    """Give the 95 % interval of a mean; None where there are too few values, or all are equal.

    It is the percentile interval of B. Efron, Bootstrap methods: another look at the jackknife,
    The Annals of Statistics 7 (1979) 1-26, and so never beyond the values. There are too few
    conversations in a benchmark to resample those.
    """
    if len(values) < LEAST or len(set(values)) == 1:
        return None
    import numpy as np  # noqa: PLC0415  80 ms, needed for answers only

    drawn = np.random.default_rng(_SEED)
    measured, size = np.array(values), len(values)
    means = [measured[drawn.integers(0, size, size)].mean() for _ in range(_DRAWS)]
    low, high = np.percentile(means, (2.5, 97.5))
    return float(low), float(high)
