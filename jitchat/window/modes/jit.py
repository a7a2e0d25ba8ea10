"""`jit`: pins, the recent block, what was retrieved; or everything, if that costs no more.

What is retrieved does not affect that choice: it is reduced until the window costs no more than
everything. Otherwise a conversation would be sent whole for one draft and not for the next, and no
cache could keep its beginning. Facts, parts of files and, if recall includes them, turns of other
conversations are added in both cases, since the whole conversation does not contain them.
"""

from collections.abc import Sequence
from dataclasses import replace

from jitchat.window import reasons
from jitchat.window.facts import without_repeats
from jitchat.window.other_conversations import CombinedRecall, with_others
from jitchat.window.parts import Choice, Parts, of_conversation
from jitchat.window.recall import Allowance, Recall, Recalling
from jitchat.window.render import pinned_segments, tail_segments
from jitchat.window.window import Segment, tokens_of


def choose(parts: Parts) -> Choice:
    pinned, start = _pins_and_start(parts)
    fixed = parts.fixed + tokens_of(pinned)
    if parts.is_small and (fixed > parts.room or not start):
        return _everything(parts)
    parts.require(fixed)
    head = (*parts.opening, *pinned, *parts.recent(start))
    recalled, segments = _recalled(parts, head)
    refused = parts.sources.wanted.intersection(recalled.not_whole)
    lacks_requested = any(parts.sources.history.find(turn) is not None for turn in refused)
    costs_more = parts.whole < of_conversation(segments) + parts.kept_line
    if parts.is_small and (costs_more or lacks_requested):
        return _everything(parts)
    return Choice(segments, recalled, parts.squeezed(start, fixed))


def _everything(parts: Parts) -> Choice:
    """Send every turn, and what was found outside this conversation."""
    price, room = parts.counter.count, parts.room + parts.kept_line
    left = room - parts.whole
    additions = _additions(parts, parts.recent(0), left)
    allowance = _allowance(parts, left - sum(price(each.text) for each in additions))
    noted = with_others(Recall(), parts.sources.retrieval.elsewhere, allowance, price).noted
    is_whole = not parts.sources.history.taken_out
    reason = reasons.PASSED_THROUGH if is_whole else reasons.PASSED_THROUGH_WITHOUT
    while True:
        choice = parts.everything(reason, Recall(), (*additions, *reversed(noted)))
        if tokens_of(choice.segments) <= room or not (additions or noted):
            return choice
        additions, noted = (additions, noted[:-1]) if noted else (additions[:-1], noted)


def _additions(parts: Parts, sent: Sequence[Segment], room: int) -> tuple[Segment, ...]:
    """Choose what is noted in addition to turns, the least needed last: facts, parts of files."""
    facts = parts.fitting_facts(sent, room)
    left = room - sum(parts.counter.count(each.text) for each in facts)
    return (*facts, *parts.fitting_documents(left))


def _pins_and_start(parts: Parts) -> tuple[list[Segment], int]:
    """Find the pinned turns before the recent block, and its start: each limits the other."""
    history, start = parts.sources.history, parts.wanted_start()
    indices = {history.find(position) for position in parts.sources.pinned}
    while True:
        earlier = sorted(index for index in indices if index is not None and index < start)
        pinned = pinned_segments([history.turns[index] for index in earlier], parts.counter.count)
        moved = parts.fitting_start(start, parts.fixed + tokens_of(pinned))
        if moved == start:
            return pinned, start
        start = moved


def _allowance(parts: Parts, room: int) -> Allowance:
    sources, budget = parts.sources, parts.budget
    retrieved = budget.retrieved_of(sources.history.total)
    return Allowance(room, retrieved, budget.index, sources.wanted)


def _recalled(parts: Parts, head: Sequence[Segment]) -> tuple[Recall, tuple[Segment, ...]]:
    """Fill the tail after `head` with as much as fits and is needed."""
    sources = parts.sources
    taken = frozenset(segment.turn for segment in head if segment.turn is not None)
    price, history = parts.counter.count, sources.history
    room = parts.room - tokens_of(head) - tokens_of(parts.bare_tail)
    additions = _additions(parts, head, room)
    allowance = _allowance(parts, room - sum(price(each.text) for each in additions))
    recalled = Recalling(history, sources.retrieval, taken, allowance, price).recall()
    combined = with_others(recalled, sources.retrieval.elsewhere, allowance, price)
    while True:
        turns = combined.recalled.in_order(parts.budget.order)
        whole = [piece.turn for piece in turns if piece.excerpt is None]
        noted = (*without_repeats(additions, whole), *reversed(combined.noted))
        tail = tail_segments(combined.recalled.lines, turns, parts.draft, price, noted)
        segments = (*head, *tail)
        missing = _missing(parts, segments)
        if missing <= 0 or (combined.is_bare and not additions):
            return combined.recalled, segments
        if combined.is_bare:
            additions = additions[:-1]
        else:
            combined = _smaller(parts, combined, segments, missing)


def _missing(parts: Parts, segments: Sequence[Segment]) -> int:
    """Return the tokens over the room or over the cost of everything; 0 or less if none."""
    most = parts.whole - parts.kept_line
    return max(tokens_of(segments) - parts.room, of_conversation(segments) - most)


def _smaller(
    parts: Parts, combined: CombinedRecall, segments: Sequence[Segment], missing: int
) -> CombinedRecall:
    """Drop what is over: turns of other conversations only if the room itself is exceeded."""
    recalled = combined.recalled
    if tokens_of(segments) <= parts.room and (recalled.turns or recalled.lines):
        return replace(combined, recalled=recalled.smaller(missing, fits=True))
    return combined.smaller(missing)
