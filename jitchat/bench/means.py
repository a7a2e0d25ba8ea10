"""Intervals of means, such as that of F1, which is neither a share nor normally distributed."""

from collections.abc import Sequence

LEAST = 10
"""Minimum number of values; with fewer, the interval would be misleadingly narrow."""
_DRAWS, _SEED = 2_000, 1

ASSUMED = (
    "95 % intervals by the bootstrap over questions, each treated as independent: those on one"
    " conversation are not quite, so other conversations may differ by more."
)


def mean_interval(values: Sequence[float]) -> tuple[float, float] | None:
    """Return the 95 % interval of a mean; None if there are too few values, or all are equal.

    It is the percentile interval of B. Efron, Bootstrap methods: another look at the jackknife,
    The Annals of Statistics 7 (1979) 1-26, and so never exceeds the range of the values. A
    benchmark has too few conversations to resample these instead.
    """
    if len(values) < LEAST or len(set(values)) == 1:
        return None
    import numpy as np  # noqa: PLC0415  80 ms, needed only for answers

    drawn = np.random.default_rng(_SEED)
    measured, size = np.array(values), len(values)
    means = [measured[drawn.integers(0, size, size)].mean() for _ in range(_DRAWS)]
    low, high = np.percentile(means, (2.5, 97.5))
    return float(low), float(high)
