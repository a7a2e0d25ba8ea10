"""`recency`: system, the last turns and the draft, and nothing else, for a fair comparison.

The block of turns grows until it is full and is then cut, at an exchange. The cut is a function of
the conversation's total tokens, so no state is needed; and the start does not move until the block
is full again, which keeps the prefix cacheable. Turns that the user keeps out do not move the
start: they only shorten the block.
"""

from bisect import bisect_left

from jitchat.window import reasons
from jitchat.window.history import History
from jitchat.window.parts import Choice, Parts

_FULL, _CUT = 7 / 8, 3 / 8
"""Shares of the window's size: the most that the block holds, and what is cut off then."""


def choose(parts: Parts) -> Choice:
    parts.require(parts.fixed)
    wanted = recent_start(
        parts.sources.history, parts.budget.share(_FULL), parts.budget.share(_CUT)
    )
    start = parts.fitting_start(wanted, parts.fixed)
    opening = parts.opening_with(has_blocks=False, start=start)
    segments = (*opening, *parts.recent(start), *parts.bare_tail)
    squeezed = parts.squeezed(wanted, start, parts.fixed)
    return Choice(segments, squeezed=squeezed, not_recalled=reasons.BEFORE_RECENT)


def recent_start(history: History, full: int, cut: int) -> int:
    """Return the index at which a block starts that is cut by `cut` tokens once it has `full`."""
    last = history.exchanges_back(1)
    whole = history.whole
    if whole is not None:
        at = whole.positions[recent_start(whole, full, cut)]
        return min(bisect_left(history.positions, at), last)
    over = history.total - full
    if over <= 0:
        return 0
    dropped = -(-over // cut) * cut
    start = bisect_left(history.before, dropped)
    return min(history.exchange_at(start), last)
