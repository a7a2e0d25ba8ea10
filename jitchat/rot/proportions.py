"""How sure a share is, and the difference of two shares. 95 % intervals throughout.

Both methods keep within the possible and stay honest where a few cells were asked, or all of
them were right: there the textbook's "share ± 2 standard errors" says that nothing is unsure.
"""

from __future__ import annotations

from math import hypot, sqrt

_Z = 1.959963984540054
"""The standard normal distribution has 95 % of itself within so much of its middle."""

Interval = tuple[float, float]
"""Its low and its high end."""


def wilson(right: int, of: int) -> Interval:
    """Give the score interval of a share, within 0 to 1; `of` is at least 1.

    E. B. Wilson, Probable inference, the law of succession, and statistical inference, Journal
    of the American Statistical Association 22 (1927) 209-212.
    """
    share, spread = right / of, _Z * _Z / of
    middle = (share + spread / 2) / (1 + spread)
    reach = sqrt(spread * (share * (1 - share) + spread / 4)) / (1 + spread)
    return max(0.0, min(share, middle - reach)), min(1.0, max(share, middle + reach))


def newcombe(before: tuple[int, int], after: tuple[int, int]) -> Interval:
    """Give the interval of a later share minus an earlier one, within -1 to 1.

    Each is right ones and of how many, at least 1. The two are taken as independent; for the
    same questions asked twice there is `newcombe_paired`.

    Method 10 of R. G. Newcombe, Interval estimation for the difference between independent
    proportions, Statistics in Medicine 17 (1998) 873-890.
    """
    earlier, later = before[0] / before[1], after[0] / after[1]
    (low, high), (later_low, later_high) = wilson(*before), wilson(*after)
    change = later - earlier
    least = change - hypot(later - later_low, high - earlier)
    most = change + hypot(later_high - later, earlier - low)
    return max(-1.0, least), min(1.0, most)


def newcombe_paired(both: int, lost: int, gained: int, neither: int) -> Interval:
    """Give the interval of a later share minus an earlier one, within -1 to 1, both of one set.

    The four count questions, at least one together: right both times, the first time only, the
    second time only, neither time.

    Method 10 of R. G. Newcombe, Improved confidence intervals for the difference between
    binomial proportions based on paired data, Statistics in Medicine 17 (1998) 2635-2650.
    """
    of = both + lost + gained + neither
    before, after = both + lost, both + gained
    earlier, later = before / of, after / of
    (low, high), (later_low, later_high) = wilson(before, of), wilson(after, of)
    together = _correlation(both, lost, gained, neither)
    least = _reach(later - later_low, high - earlier, together)
    most = _reach(later_high - later, earlier - low, together)
    return max(-1.0, later - earlier - least), min(1.0, later - earlier + most)


def _correlation(both: int, lost: int, gained: int, neither: int) -> float:
    """Give phi of the four counts, corrected for continuity; 0 where a margin is empty."""
    margins = (both + lost) * (gained + neither) * (both + gained) * (lost + neither)
    if not margins:
        return 0.0
    product = both * neither - lost * gained
    corrected = max(0.0, product - (both + lost + gained + neither) / 2) if product > 0 else product
    return corrected / sqrt(margins)


def _reach(one: float, other: float, together: float) -> float:
    return sqrt(max(0.0, one * one - 2 * together * one * other + other * other))
