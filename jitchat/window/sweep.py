"""One draft's windows over a range of budgets: where what is retrieved stops changing. Pure.

Nothing else changes: what stays is byte for byte the same, and the fence goes with its last turn.
"""

import re
from collections.abc import Sequence
from dataclasses import replace

from jitchat.errors import WindowOverflow
from jitchat.values import BY_USER, Message
from jitchat.window.budget import Budget
from jitchat.window.window import ContextWindow, Kind, Segment, Verdict

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


def sends_all(window: ContextWindow) -> bool:
    """Tell whether every turn is there as it was said: nothing is out, or just an index line."""
    out = (Verdict.LEFT_OUT, Verdict.INDEX)
    return window.never_candidates is None and all(row.verdict not in out for row in window.ledger)


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


def settles_at(planned: Sequence[ContextWindow | WindowOverflow]) -> int | None:
    """Find the first window from which on the retrieved set stays that of the last one.

    They are in order of budget, the largest last, which may retrieve nothing because it sends
    everything. None where no window retrieves anything, or the last one is none.
    """
    sets = [retrieved_turns(each) if isinstance(each, ContextWindow) else None for each in planned]
    if not any(sets) or sets[-1] is None:
        return None
    others = (place for place in range(len(sets) - 1, -1, -1) if sets[place] != sets[-1])
    return next(others, -1) + 1


def _grid(low: int, high: int, present: int) -> list[int]:
    """Step from `low` to `high` in even ratios; `present` is a step, wherever it is."""
    ratio = (high / low) ** (1 / _STEPS)
    steps = {round(low * ratio**step / _ROUND) * _ROUND for step in range(1, _STEPS)}
    return sorted({low, high, present, *(step for step in steps if low < step < high)})


MOST = 6
"""Requests; each is a whole window."""
_OPENING = re.compile(r"\A<(recalled(?:-\d+)?)>\n")


def by_score(window: ContextWindow) -> tuple[Segment, ...]:
    """List the retrieved turns, the highest score first."""
    scores = {row.turn: row.score for row in window.ledger}
    found = [segment for segment in window.segments if segment.kind is Kind.RETRIEVED]
    return tuple(sorted(found, key=lambda segment: -scores.get(segment.turn or 0, 0.0)))


def without(window: ContextWindow, turn: int) -> tuple[Message, ...]:
    """Make the window's messages without a retrieved turn.

    Raises:
        LookupError: No such turn was retrieved.

    """
    places = [at for at, each in enumerate(window.segments) if each.kind is Kind.RETRIEVED]
    gone = next((at for at in places if window.segments[at].turn == turn), None)
    if gone is None:
        raise LookupError(turn)
    segments = list(window.segments)
    opening = _OPENING.match(segments[places[0]].text)
    if opening is not None and len(places) > 1:
        if gone == places[0]:
            segments[gone + 1] = _changed(segments[gone + 1], opening[0], "")
        elif gone == places[-1]:
            segments[gone - 1] = _changed(segments[gone - 1], "", f"</{opening[1]}>\n")
    del segments[gone]
    return replace(window, segments=tuple(segments)).messages()


def _changed(segment: Segment, ahead: str, behind: str) -> Segment:
    return replace(segment, text=f"{ahead}{segment.text}{behind}")
