"""`jit`: everything while it fits the window's size, then what the message needs.

Facts, parts of files and, if recall includes them, turns of other conversations are added in both
cases, since the whole conversation does not contain them.
"""

from bisect import bisect_left
from collections.abc import Sequence

from jitchat.window import reasons
from jitchat.window.budget import SHARES
from jitchat.window.facts import without_repeats
from jitchat.window.other_conversations import with_others
from jitchat.window.parts import Choice, Parts, block_tokens
from jitchat.window.recall import Allowance, Recall, Recalling
from jitchat.window.render import pinned_segments, tail_segments
from jitchat.window.window import Segment, tokens_of


def choose(parts: Parts) -> Choice:
    return _everything(parts) if parts.is_small else composed(parts)


def _everything(parts: Parts) -> Choice:
    """Send every turn, and what was found outside this conversation."""
    price, left = parts.counter.count, parts.room + parts.kept_line - parts.whole
    additions = parts.additions(parts.recent(0), left)
    room = left - sum(price(each.text) for each in additions)
    allowance = Allowance(room, room)
    noted = with_others(Recall(), parts.sources.retrieval.elsewhere, allowance, price).noted
    is_whole = not parts.sources.history.taken_out
    reason = reasons.PASSED_THROUGH if is_whole else reasons.PASSED_THROUGH_WITHOUT
    return parts.everything(reason, Recall(), (*additions, *reversed(noted)))


def composed(parts: Parts) -> Choice:
    """Fill the window in one order: what comes later gives way to what comes before.

    The message with its files, instructions, standing instructions and tools (`Parts.fixed`); the
    last exchange; the turns that are required; what is noted of facts and files; recalled turns by
    rank; the recent turns before the last exchange; index lines.
    """
    parts.require(parts.fixed)
    sources, history, price = parts.sources, parts.sources.history, parts.counter.count
    last = parts.fitting_start(parts.last_exchange, parts.fixed)
    room = parts.room - parts.fixed - block_tokens(history, last, parts.pricing)

    pinned, unfitting = _pinned(parts, last, room)
    required = _required(parts, last) | dict.fromkeys(unfitting, reasons.PINNED)
    room -= tokens_of(pinned)

    taken = frozenset((*history.positions[last:], *(each.turn for each in pinned if each.turn)))
    additions = parts.additions((*pinned, *parts.recent(last)), room)
    room -= sum(price(each.text) for each in additions)

    most = room if sources.before is None else min(room, parts.recalled)
    fills = not parts.budget.is_tiny
    allowance = Allowance(room, most, required, parts.replaced, fills=fills)
    recalled = Recalling(history, sources.retrieval, taken, allowance, price).recall()
    combined = with_others(recalled, sources.retrieval.elsewhere, allowance, price)
    recalled = combined.recalled
    room -= sum(price(each.text) for each in recalled.turns)
    room -= sum(price(each.text) for each in combined.noted)

    start = _recent_start(parts, last, pinned, min(room, parts.budget.share(SHARES.recent)))
    recalled = recalled.within(history.positions[start]) if start < last else recalled
    room -= history.before[last] - history.before[start]

    known = taken.union(history.positions[start:last])
    most = min(room, parts.budget.share(SHARES.digest))
    recalled = recalled.with_lines(history, sources.retrieval, known, most, price)

    turns = recalled.in_order(parts.budget.recall_order)
    whole = [piece.turn for piece in turns if piece.excerpt is None]
    noted = (*without_repeats(additions, whole), *reversed(combined.noted))
    tail = tail_segments(recalled.lines, turns, parts.draft, price, noted)
    segments = (*parts.opening, *pinned, *parts.recent(start), *tail)
    refused = {turn: recalled.refused[turn] for turn in required if turn in recalled.refused}
    return Choice(segments, recalled, refused)


def _required(parts: Parts, last: int) -> dict[int, str]:
    """Map the turns that are loaded before any that was found to the reasons, in their order."""
    unfitting = parts.sources.history.positions[parts.last_exchange : last]
    return dict.fromkeys(reversed(unfitting), reasons.LAST_EXCHANGE) | parts.required


def _pinned(parts: Parts, end: int, room: int) -> tuple[list[Segment], list[int]]:
    """Quote the pinned turns before index `end`; return also the positions of those without room.

    The longest ones have none.
    """
    history, unfitting = parts.sources.history, list[int]()
    indices = {history.find(position) for position in parts.sources.pinned}
    kept = sorted(index for index in indices if index is not None and index < end)
    while True:
        turns = [history.turns[index] for index in kept]
        segments = pinned_segments(turns, parts.counter.count)
        if tokens_of(segments) <= room:
            return segments, unfitting
        longest = max(kept, key=history.whole_cost)
        kept.remove(longest)
        unfitting.append(history.positions[longest])


def _recent_start(parts: Parts, last: int, pinned: Sequence[Segment], room: int) -> int:
    """Return where a block starts that has `room` tokens for turns before index `last`.

    It has no turn that is quoted as pinned.
    """
    history = parts.sources.history
    quoted = (history.find(segment.turn) for segment in pinned if segment.turn)
    first = max((index + 1 for index in quoted if index is not None), default=0)
    fits = bisect_left(history.before, history.before[last] - room)
    return min(history.exchange_at(max(first, fits)), last)
