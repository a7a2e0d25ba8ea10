"""`jit`: pins, the recent block, what was retrieved; or everything, where that costs no more.

What is retrieved does not count there: it is made smaller until all of it costs no more than
everything. Else, from one draft to the next, a conversation would be passed through or not, and no
cache could keep its beginning.
"""

from collections.abc import Sequence
from math import ceil

from jitchat.window import reasons
from jitchat.window.parts import Choice, Parts
from jitchat.window.recall import Allowance, Recall, Recalling
from jitchat.window.render import pinned_segments, tail_segments
from jitchat.window.window import Segment, tokens_of


def choose(parts: Parts) -> Choice:
    pinned, start = _pins_and_start(parts)
    fixed = parts.fixed + tokens_of(pinned)
    if parts.is_small and (fixed > parts.room or not start):
        return parts.everything(reasons.PASSED_THROUGH, Recall())
    parts.require(fixed)
    head = (*parts.opening, *pinned, *parts.recent(start))
    recalled, segments = _recalled(parts, head)
    refused = parts.sources.wanted.intersection(recalled.not_whole)
    lacks_requested = any(parts.sources.history.find(turn) is not None for turn in refused)
    costs_more = parts.whole < tokens_of(segments) + parts.kept_line
    if parts.is_small and (costs_more or lacks_requested):
        return parts.everything(reasons.PASSED_THROUGH, Recall())
    return Choice(segments, recalled, parts.squeezed(start))


def _pins_and_start(parts: Parts) -> tuple[list[Segment], int]:
    """Find the pinned turns ahead of the recent block, and its start: each limits the other."""
    history, start = parts.sources.history, parts.wanted_start()
    indices = {history.find(position) for position in parts.sources.pinned}
    while True:
        ahead = sorted(index for index in indices if index is not None and index < start)
        pinned = pinned_segments([history.turns[index] for index in ahead], parts.counter.count)
        moved = parts.fitting_start(start, parts.fixed + tokens_of(pinned))
        if moved == start:
            return pinned, start
        start = moved


def _recalled(parts: Parts, head: Sequence[Segment]) -> tuple[Recall, tuple[Segment, ...]]:
    """Fill the tail behind `head` with as much as there is room for, and need."""
    sources, slope = parts.sources, parts.calibration.slope
    taken = frozenset(segment.turn for segment in head if segment.turn is not None)
    allowance = Allowance(
        parts.room - tokens_of(head) - tokens_of(parts.bare_tail),
        parts.budget.retrieved_of(sources.history.total),
        parts.budget.index,
        slope,
        sources.wanted,
    )
    price, history = parts.counter.count, sources.history
    recalled = Recalling(history, sources.retrieval, taken, allowance, price).recall()
    most = min(parts.room, parts.whole - parts.kept_line)
    while True:
        turns = recalled.in_order(parts.budget.order)
        tail = tail_segments(recalled.lines, turns, parts.draft, price)
        segments = (*head, *tail)
        missing = tokens_of(segments) - most
        if missing <= 0 or not (recalled.turns or recalled.lines):
            return recalled, segments
        recalled = recalled.smaller(ceil(missing * slope))
