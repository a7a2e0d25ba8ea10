"""What a run is going to send, and what it has spent.

Invariant: the same results give the same figures in whatever order they come.
"""

from bisect import bisect_left, insort
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import product

from jitchat.lab.experiment import Cell, Experiment, Result, Verdict
from jitchat.lab.service import Answerer, Estimate
from jitchat.text.figures import about_cost, plural
from jitchat.text.sanitize import one_line
from jitchat.values import Mode
from jitchat.window.budget import Budget

ANSWER_TOKENS = 64
"""So many are assumed of an answer that has not come yet."""


def estimated(experiment: Experiment, answerer: Answerer) -> Estimate:
    """Estimate requests, tokens and money of a whole run; pure.

    Nothing is taken off for a prompt cache, and nothing added for what is sent a second time, or
    to a judge.
    """
    of_each = len(experiment.depths) * len(experiment.kinds) * experiment.repeats
    return _estimate(
        dict.fromkeys(product(experiment.modes, experiment.lengths), of_each), answerer
    )


def estimated_cells(cells: Iterable[Cell], answerer: Answerer) -> Estimate:
    """Estimate the same of these cells: what is left of a run."""
    return _estimate(Counter((cell.mode, cell.length) for cell in cells), answerer)


def window_tokens(mode: Mode, length: int, answerer: Answerer) -> int | None:
    """Say how large a window is, about, in a conversation of so many tokens; None: too large."""
    room = answerer.limit - answerer.reserve
    full = length + answerer.around
    recency = min(length, answerer.recent) + answerer.around
    if mode is Mode.FULL:
        return full if full <= room else None
    if mode is Mode.RECENCY:
        return min(recency, room)
    retrieved = Budget(retrieved=answerer.retrieved).retrieved_of(length)
    return min(full, recency + retrieved, room)


def sentence(estimate: Estimate) -> str:
    """Tell it: `420 requests, ~1,240,000 tokens in, ~26,880 out (64 an answer), ~$0.41`."""
    asked = plural(estimate.requests, "request")
    told = (
        f"{asked}, ~{estimate.input_tokens:,} tokens in, ~{estimate.output_tokens:,} out"
        f" ({ANSWER_TOKENS} an answer), {about_cost(estimate.cost)}."
    )
    if estimate.unfit:
        do = "does" if estimate.unfit == 1 else "do"
        told += f" {plural(estimate.unfit, 'cell')} {do} not fit: nothing is sent for them."
    if estimate.picked:
        picker = one_line(estimate.picker)
        told += f" Besides, up to {plural(estimate.picked, 'request')} to the picker {picker}."
    return told


def _estimate(cells: Mapping[tuple[Mode, int], int], answerer: Answerer) -> Estimate:
    """Estimate so many cells by mode and length."""
    requests = tokens = unfit = picked = 0
    for (mode, length), number in cells.items():
        size = window_tokens(mode, length, answerer)
        if size is None:
            unfit += number
            continue
        requests, tokens = requests + number, tokens + number * size
        picked += number if answerer.picker and mode is Mode.JIT else 0
    answers = ANSWER_TOKENS * requests
    cost = _cost(tokens, answers, answerer)
    return Estimate(requests, tokens, answers, cost, unfit, picked, answerer.picker)


def _cost(tokens: int, answers: int, answerer: Answerer) -> float | None:
    """Price them; what a picker that is elsewhere costs is not known, so it is never for free."""
    if answerer.is_here:
        return 0.0
    if answerer.input_price is None or answerer.output_price is None:
        return None
    cost = (tokens * answerer.input_price + answers * answerer.output_price) / 1e6
    return cost if cost or not answerer.picker else None


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
