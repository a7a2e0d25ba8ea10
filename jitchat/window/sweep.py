"""One draft's windows over a range of budgets: where what is retrieved stops changing. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from jitchat.errors import WindowOverflow
from jitchat.turn import BY_USER
from jitchat.window.budget import Budget
from jitchat.window.window import ContextWindow, Kind

LEAST = 512
"""The smallest budget of a grid, in tokens."""
_LEAST_RESERVE = 128
_STEPS = 44
_ROUND = 16
"""Steps are multiples of it, in tokens."""


def retrieved_turns(window: ContextWindow) -> frozenset[int]:
    """Name the turns that were recalled at full text, by position."""
    turns = (each.turn for each in window.segments if each.kind is Kind.RETRIEVED)
    return frozenset(turn for turn in turns if turn is not None)


def budget_grid(present: Budget, most: int) -> tuple[Budget, ...]:
    """List budgets from `LEAST` to a limit of `most` tokens, in even ratios, 46 at most, ascending.

    The reserve is that of `present`, which is among them; each but that one is set by the user.
    """
    top = max(most - present.reserve, present.budget)
    sizes = _grid(min(LEAST, top), top, present.budget)
    return tuple(
        present
        if size == present.budget
        else replace(present, limit=size + present.reserve, limit_source=BY_USER)
        for size in sizes
    )


def reserve_grid(present: Budget) -> tuple[Budget, ...]:
    """List reserves within the limit of `present`, ascending; they leave a budget of `LEAST`."""
    top = max(present.limit - LEAST, present.reserve, 1)
    sizes = _grid(min(_LEAST_RESERVE, top), top, present.reserve)
    return tuple(replace(present, reserve=size) for size in sizes)


def settled(planned: Sequence[ContextWindow | WindowOverflow]) -> int | None:
    """Find the first window from which on the retrieved set stays that of the last one.

    They are in order of budget, the largest last. None where that one retrieves nothing, or is
    none.
    """
    last = planned[-1] if planned else None
    if not isinstance(last, ContextWindow) or not (wanted := retrieved_turns(last)):
        return None
    found = len(planned) - 1
    for place in range(found, -1, -1):
        window = planned[place]
        if not isinstance(window, ContextWindow) or retrieved_turns(window) != wanted:
            break
        found = place
    return found


def _grid(low: int, high: int, present: int) -> list[int]:
    """Step from `low` to `high` in even ratios; `present` is a step, wherever it is."""
    ratio = (high / low) ** (1 / _STEPS)
    steps = {round(low * ratio**step / _ROUND) * _ROUND for step in range(1, _STEPS)}
    return sorted({low, high, present, *(step for step in steps if low < step < high)})
