"""What cells took: tokens, time and money, counted one result at a time.

Invariant: the same results give the same figures in whatever order they come.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from dataclasses import dataclass

from jitchat.rot.cells import Result, Verdict

_PARTS = 1_000_000_000_000
"""Money is added up in whole parts of a dollar: so the order does not matter."""


@dataclass(frozen=True, slots=True)
class Spent:
    """What cells took, of those that left. Medians; None where it is known of none."""

    sent: int = 0
    """Without those that a server refused because they do not fit: they cost nothing."""
    tokens: float | None = None
    """Of the window, as it was counted when it was sent."""
    to_first: float | None = None
    """Seconds from leaving to the first token."""
    seconds: float | None = None
    """From leaving to the end of the answer; of failed requests neither."""
    cached: float | None = None
    """The share of all their input that came from the provider's prompt cache; no median."""
    cost: float | None = None
    """Of all together, in US dollars, as far as it is known; None where none is."""
    unpriced: int = 0
    """Cells whose cost is not known, and not in `cost`."""


class Spending:
    """Adds up what results took; a result can be taken out again.

    A new one is put into its place among those before it, which moves a few kilobytes in a run
    of thousands: microseconds.
    """

    def __init__(self) -> None:
        self._sent = self._priced = self._parts = self._input = self._cached = 0
        self._tokens: list[float] = []
        self._to_first: list[float] = []
        self._seconds: list[float] = []

    def count(self, result: Result, by: int = 1) -> None:
        """Add a result; `by` -1 takes out one that was added."""
        if result.seconds is None or result.verdict is Verdict.UNFIT:
            return
        self._sent += by
        _keep(self._tokens, result.tokens, by)
        if result.verdict is not Verdict.FAILED:
            _keep(self._to_first, result.to_first, by)
            _keep(self._seconds, result.seconds, by)
        if result.cost is not None:
            self._priced += by
            self._parts += by * round(result.cost * _PARTS)
        if result.usage is not None and result.usage.input_tokens is not None:
            self._input += by * result.usage.input_tokens
            self._cached += by * result.usage.cached_tokens

    def spent(self) -> Spent:
        """Tell what it comes to; it costs the same however much was counted."""
        return Spent(
            sent=self._sent,
            tokens=_median(self._tokens),
            to_first=_median(self._to_first),
            seconds=_median(self._seconds),
            cached=min(1.0, self._cached / self._input) if self._input else None,
            cost=self._parts / _PARTS if self._priced else None,
            unpriced=self._sent - self._priced,
        )


def _keep(values: list[float], value: float | None, by: int) -> None:
    """Put a value in order, or take it out."""
    if value is None:
        return
    if by > 0:
        insort(values, value)
    else:
        del values[bisect_left(values, value)]


def _median(values: list[float]) -> float | None:
    """Give the middle of ordered values."""
    half, is_odd = divmod(len(values), 2)
    if not values:
        return None
    return values[half] if is_odd else (values[half - 1] + values[half]) / 2
