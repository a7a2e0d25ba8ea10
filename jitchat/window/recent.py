"""The recent block: the last turns, verbatim, in `recency` and in `jit` alike.

It grows until it is full and is then cut by half, at an exchange. The cut is a function of
the tokens that were ever said, not of the last cut, so it needs no memory; and its start
stands still for as long as half a block takes to fill, which keeps the prefix cacheable.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable

from jitchat.window.history import History
from jitchat.window.render import verbatim

FLOOR_EXCHANGES = 2


def recent_start(history: History, allowance: int) -> int:
    """Find the index of the first turn of the block; `allowance` in tokens."""
    if history.total <= allowance:
        return 0
    step = max(1, allowance // 2)
    dropped = -(-(history.total - allowance) // step) * step
    start = bisect_left(history.before, dropped)
    return min(history.exchange_at(start), history.exchanges_back(FLOOR_EXCHANGES))


def block_tokens(history: History, start: int, price: Callable[[str], int]) -> int:
    """Price the block from `start` on; its first turn always tells its day."""
    if start >= len(history.turns):
        return 0
    return price(verbatim(history.turns[start], None)) + history.total - history.before[start + 1]


def fitting_start(history: History, start: int, room: int, price: Callable[[str], int]) -> int:
    """Move `start` on by whole exchanges until the block costs at most `room` tokens."""
    room = max(0, room)
    while block_tokens(history, start, price) > room:
        fits = bisect_left(history.before, history.total - room)
        start = history.exchange_at(max(start + 1, fits))
    return start
