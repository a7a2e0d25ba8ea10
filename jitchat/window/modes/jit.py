"""`jit`: pins, the recent block, what was retrieved; or everything, where that costs no more.

What is retrieved does not count there: it is made smaller until all of it costs no more than
everything. Else, from one draft to the next, a conversation would be passed through or not, and no
cache could keep its beginning. Facts come on top of either: everything that was said here has not
what was said elsewhere.
"""

from collections.abc import Sequence
from math import ceil

from jitchat.window import reasons
from jitchat.window.facts import without_repeats
from jitchat.window.parts import Choice, Parts
from jitchat.window.recall import Allowance, Recall, Recalling
from jitchat.window.render import pinned_segments, tail_segments
from jitchat.window.window import Kind, Segment, tokens_of


def choose(parts: Parts) -> Choice:
    pinned, start = _pins_and_start(parts)
    fixed = parts.fixed + tokens_of(pinned)
    if parts.is_small and (fixed > parts.room or not start):
        return parts.everything(reasons.PASSED_THROUGH, Recall(), facts=True)
    parts.require(fixed)
    head = (*parts.opening, *pinned, *parts.recent(start))
    recalled, segments = _recalled(parts, head)
    refused = parts.sources.wanted.intersection(recalled.not_whole)
    lacks_requested = any(parts.sources.history.find(turn) is not None for turn in refused)
    if parts.whole < _of_turns(segments) or (parts.is_small and lacks_requested):
        return parts.everything(reasons.PASSED_THROUGH, Recall(), facts=True)
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
    price, history = parts.counter.count, sources.history
    room = parts.room - tokens_of(head) - tokens_of(parts.bare_tail)
    facts = parts.fitting_facts(head, room)
    allowance = Allowance(
        room - sum(price(each.text) for each in facts),
        parts.budget.retrieved_of(sources.history.total),
        parts.budget.index,
        slope,
        sources.wanted,
    )
    recalled = Recalling(history, sources.retrieval, taken, allowance, price).recall()
    while True:
        turns = recalled.in_order(parts.budget.order)
        whole = [piece.turn for piece in turns if piece.excerpt is None]
        noted = without_repeats(facts, whole)
        segments = (*head, *tail_segments(recalled.lines, turns, parts.draft, price, noted))
        missing = max(tokens_of(segments) - parts.room, _of_turns(segments) - parts.whole)
        if missing <= 0 or not (recalled.turns or recalled.lines or facts):
            return recalled, segments
        if recalled.turns or recalled.lines:
            recalled = recalled.smaller(ceil(missing * slope))
        else:
            facts = facts[:-1]


def _of_turns(segments: Sequence[Segment]) -> int:
    """Sum up what is to cost no more than everything: all but the facts."""
    return tokens_of(segment for segment in segments if segment.kind is not Kind.FACTS)
