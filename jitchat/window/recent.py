"""The recent block: the last turns, verbatim, in `recency` and in `jit` alike.

It grows until it is full and is then cut, at an exchange. The cut is a function of the tokens
that were ever said, not of the last cut, so it needs no memory; and its start stands still until
the block is full again, which keeps the prefix cacheable.

How much it holds goes by the length of the turns. Each time that the conversation doubles, the
mean is taken anew, and what was cut stays cut: so the start never moves back. Turns that the user
keeps out do not move it: they leave the block shorter by themselves alone.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable

from jitchat.window.budget import Budget
from jitchat.window.history import History
from jitchat.window.render import verbatim

FLOOR_EXCHANGES = 2
_FIRST_LOOK = 16
"""Tokens after which the mean length of a turn is taken first."""


def recent_start(history: History, budget: Budget) -> int:
    """Find the index of the first turn of the block."""
    whole = history.whole
    if whole is not None:
        at = whole.positions[recent_start(whole, budget)]
        start = bisect_left(history.positions, at)
        return min(start, history.exchanges_back(FLOOR_EXCHANGES))
    dropped, looked = 0, _FIRST_LOOK
    while looked < history.total:
        block = budget.recent_of(_mean_turn(history, looked))
        over = min(history.total, 2 * looked) - dropped - block.full
        if over > 0:
            dropped += -(-over // block.cut) * block.cut
        looked *= 2
    if not dropped:
        return 0
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


def _mean_turn(history: History, tokens: int) -> float:
    """Tell the mean cost of the turns that begin within the first `tokens`; they do not change."""
    size = bisect_right(history.before, tokens, hi=len(history.turns))
    return history.before[size] / size
