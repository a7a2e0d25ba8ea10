"""Intervals of shares, of their differences and of means.

Intervals of shares are Wilson's and Newcombe's: they stay within the possible range, and remain
valid with few cells or if all are right, where "share ± 2 standard errors" would claim certainty.
If the same question is asked several times, these cells form a cluster: they carry less information
than the same number of independent cells, by the design effect.
"""

from collections.abc import Collection, Iterable, Sequence
from math import fsum, sqrt

_Z = 1.959963984540054
"""The 97.5 % point of the standard normal distribution."""

Interval = tuple[float, float]
"""(low, high)."""


def wilson(right: float, of: float) -> Interval:
    """Return the score interval of a share, within 0 to 1; `of` is a sample size of at least 1.

    E. B. Wilson, Probable inference, the law of succession, and statistical inference, Journal
    of the American Statistical Association 22 (1927) 209-212.
    """
    share, spread = right / of, _Z * _Z / of
    middle = (share + spread / 2) / (1 + spread)
    reach = sqrt(spread * (share * (1 - share) + spread / 4)) / (1 + spread)
    return max(0.0, min(share, middle - reach)), min(1.0, max(share, middle + reach))


def effective_size(clusters: Iterable[tuple[int, int]]) -> float:
    """Return the number of independent cells with the same information as clusters of cells.

    Each cluster is given as (right, cells). The design effect is that of a ratio: J. N. K. Rao and
    A. J. Scott, A simple method for the analysis of clustered binary data, Biometrics 48 (1992)
    577-585; corrected for few clusters by E. L. Korn and B. I. Graubard, Confidence intervals for
    proportions with small expected number of positive counts estimated from survey data, Survey
    Methodology 24 (1998) 193-201. It is limited to the possible range, from fully dependent cells
    in each cluster to independent ones; if all or none are right, it cannot be estimated, and full
    dependence is assumed.
    """
    asked = [cluster for cluster in clusters if cluster[1]]
    number, of = len(asked), sum(size for _, size in asked)
    if number == of:
        return float(of)
    least = of * of / sum(size * size for _, size in asked)
    share = sum(right for right, _ in asked) / of
    spread = of * share * (1 - share)
    if not spread or number < 2:
        return least
    squares = fsum((right - share * size) ** 2 for right, size in asked)
    design = number / (number - 1) * squares / spread
    few = (_Z / _student(number - 1)) ** 2
    return max(least, min(of, of * few / design if design > 0 else of))


def _student(freedom: float) -> float:
    """Return the 97.5 % point of Student's t, accurate to 0.001 from 4 degrees of freedom on.

    M. Abramowitz and I. A. Stegun, Handbook of mathematical functions (1964) 26.7.5.
    """
    z = _Z
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92_160,
    )
    return z + sum(term / freedom**power for power, term in enumerate(terms, start=1))


Pair = tuple[int, int, int]
"""A cluster that was asked twice: (cells, right the first time, right the second time)."""


def paired_difference(pairs: Collection[Pair]) -> Interval:
    """Return the interval of a later share minus an earlier one of the same clusters, -1 to 1.

    There must be at least one cluster. With one cell in each, this is method 10 of R. G. Newcombe,
    Improved confidence intervals for the difference between binomial proportions based on paired
    data, Statistics in Medicine 17 (1998) 2635-2650. With more, the two shares' intervals, each at
    its effective size, are combined in the same way, with the correlation of the clusters'
    deviations: G. Y. Zou and A. Donner, Construction of confidence limits about effect measures: a
    general approach, Statistics in Medicine 27 (2008) 1693-1702. Unlike a t interval of the
    clusters' differences, it does not shrink to zero if all clusters changed alike.
    """
    cells = sum(of for of, _, _ in pairs)
    earlier = sum(before for _, before, _ in pairs) / cells
    later = sum(after for _, _, after in pairs) / cells
    deviations = [(before - of * earlier, after - of * later) for of, before, after in pairs]
    scale = sqrt(sum(a * a for a, _ in deviations) * sum(b * b for _, b in deviations))
    together = sum(a * b for a, b in deviations)
    if together > 0:  # Newcombe's correction for continuity: half a cluster
        together = max(0.0, together - sum(of * of for of, _, _ in pairs) / len(pairs) / 2)
    correlation = together / scale if scale else 0.0
    was = effective_size((before, of) for of, before, _ in pairs)
    became = effective_size((after, of) for of, _, after in pairs)
    low, high = wilson(earlier * was, was)
    later_low, later_high = wilson(later * became, became)

    def reach(one: float, other: float) -> float:
        return sqrt(max(0.0, one * one - 2 * correlation * one * other + other * other))

    least, most = reach(later - later_low, high - earlier), reach(later_high - later, earlier - low)
    return max(-1.0, later - earlier - least), min(1.0, later - earlier + most)


LEAST_VALUES = 10
"""Minimum number of values; with fewer, the interval of a mean would be misleadingly narrow."""
_DRAWS = 2_000
_SEED = 1


def mean_interval(values: Sequence[float]) -> Interval | None:
    """Return the 95 % interval of a mean; None if there are too few values, or all are equal.

    It is the percentile interval of B. Efron, Bootstrap methods: another look at the jackknife,
    The Annals of Statistics 7 (1979) 1-26, and so never exceeds the range of the values. A
    benchmark has too few conversations to resample these instead.
    """
    if len(values) < LEAST_VALUES or len(set(values)) == 1:
        return None
    import numpy as np  # noqa: PLC0415  80 ms, needed only for answers

    drawn = np.random.default_rng(_SEED)
    measured = np.array(values)
    size = len(values)
    means = [measured[drawn.integers(0, size, size)].mean() for _ in range(_DRAWS)]
    low, high = np.percentile(means, (2.5, 97.5))
    return float(low), float(high)
