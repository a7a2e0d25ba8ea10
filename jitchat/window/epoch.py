"""Epochs: a window goes on from the one that was sent for the message before.

What changes is paid at the full price, and what repeats at a tenth: so the window before is sent
again, byte for byte, then the reply to it, then what the new message needs and the window lacks,
then the message. What was recalled stays in its place. A new epoch begins, and the window is
composed anew, when it would exceed its size, when what it carries was changed or left out, and when
that costs nothing because the provider's cache has expired.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain

from jitchat.values import Form
from jitchat.window import reasons
from jitchat.window.budget import SHARES
from jitchat.window.files import Placing
from jitchat.window.other_conversations import with_others
from jitchat.window.parts import Choice, Parts
from jitchat.window.recall import Allowance, Recalling
from jitchat.window.render import tail_segments
from jitchat.window.statements import are_standing
from jitchat.window.window import (
    ContextWindow,
    Kind,
    Segment,
    pieces_in,
    segment_of_turns,
    tokens_of,
)
from jitchat.writing.pieces import Piece

_LEAST_RECALLED = 300
"""Tokens that a message may always have recalled: one turn of usual length."""
_OF_EXCHANGE = 2.0
"""What a message may have recalled, as a multiple of what an exchange of its conversation costs:
where turns are short, sending them all again from a cache costs hardly more."""


def extended(parts: Parts) -> Choice | None:
    """Extend the window before; None if a new one must be composed."""
    carried = _carried(parts)
    if carried is None:
        return None
    sources, history, price = parts.sources, parts.sources.history, parts.counter.count
    files = _files(parts, carried)
    room = parts.room - tokens_of((*carried, *files, *parts.bare_tail))

    required = parts.required | dict.fromkeys(sources.pinned, reasons.PINNED)
    known = segment_of_turns(carried)
    whole = frozenset(turn for turn, segment in known.items() if segment.is_whole)
    taken = whole | (known.keys() - required.keys())
    found = parts.additions(carried, room)
    additions = [segment for segment in found if not _is_in(segment, carried)]
    room -= sum(price(segment.text) for segment in additions)

    most = min(parts.budget.recalled_later, max(_LEAST_RECALLED, _usual_exchange(parts)))
    allowance = Allowance(room, most, required, parts.replaced, fills=True)
    recalled = Recalling(history, sources.retrieval, taken, allowance, price).recall()
    if room < most and recalled.refused:
        return None
    if any(turn in recalled.refused for turn in required):
        return None
    combined = with_others(recalled, sources.retrieval.elsewhere, allowance, price)
    others = [segment for segment in combined.noted if not _is_in(segment, carried)]

    turns = combined.recalled.in_order(parts.budget.recall_order)
    noted = (*additions, *reversed(others))
    tail = tail_segments((), turns, parts.draft, price, noted)
    segments = (*carried, *files, *tail)
    if tokens_of(segments) > parts.room:
        return None
    through = sources.before.distilled_through if sources.before is not None else 0
    return Choice(segments, combined.recalled, distilled_through=through, extends=True)


def _usual_exchange(parts: Parts) -> int:
    history = parts.sources.history
    return int(_OF_EXCHANGE * 2 * history.total / len(history.turns))


def _files(parts: Parts, carried: Sequence[Segment]) -> tuple[Segment, ...]:
    """Put the message's own files before it, and those that it is about and that are not there."""
    draft = parts.sources.draft.position
    most = parts.budget.share(SHARES.whole_file)
    placing = Placing(parts.sources.files, parts.counter, draft, most)
    refs = [segment.file for segment in carried if segment.file is not None]
    there = {ref.digest for ref in refs if ref.is_whole}
    made = placing.segments(parts.with_files, parts.room - parts.fixed)
    own = made.pop(draft, ())
    others = chain.from_iterable(made.values())
    missing = [segment for segment in others if segment.file and segment.file.digest not in there]
    return (*missing, *own)


def _is_in(noted: Segment, carried: Sequence[Segment]) -> bool:
    """Whether the window before has a fact, a part of a file or a turn of another conversation."""
    identity = noted.kind, noted.source, noted.file
    return any((segment.kind, segment.source, segment.file) == identity for segment in carried)


def _carried(parts: Parts) -> tuple[Segment, ...] | None:
    """Return the planned segments of the window before, and of what was said since.

    None if it cannot be carried.
    """
    sources, history = parts.sources, parts.sources.history
    before = sources.before
    if parts.is_small or parts.budget.is_tiny or before is None or not sources.is_cached:
        return None
    planned = planned_segments(before)
    opening = planned[: len(parts.opening)]
    if [_text(segment) for segment in opening] != [_text(segment) for segment in parts.opening]:
        return None
    said = history.find(before.draft.turn or 0)
    if said is None or not _are_kept(planned, parts):
        return None
    if not are_standing(planned, sources.distilled):
        return None
    kept = tuple(_kept(segment, parts) for segment in planned)
    positions = {segment.turn for segment in kept}
    since = parts.recent(said + 1, follows=True)
    return (*kept, *(segment for segment in since if segment.turn not in positions))


def _text(segment: Segment) -> tuple[Kind, str]:
    return segment.kind, segment.text


def _are_kept(planned: Sequence[Segment], parts: Parts) -> bool:
    """Whether no turn of the window before was left out since."""
    history = parts.sources.history
    unshown = {turn.position for turn in history.unshown}
    turns = {segment.turn for segment in planned if segment.turn is not None}
    return all(turn in unshown or history.find(turn) is not None for turn in turns)


def _kept(segment: Segment, parts: Parts) -> Segment:
    """Return a segment as it is planned in the windows after its own."""
    if segment.kind is Kind.DRAFT:
        tokens = parts.pricing(segment.text, segment.use)
        return replace(segment, kind=Kind.RECENT, tokens=tokens, reason=reasons.RECENT_BLOCK)
    if segment.carrier is None or segment.reason == reasons.KEPT:
        return segment
    return replace(segment, reason=reasons.CARRIED.format(turn=segment.carrier))


def planned_segments(window: ContextWindow) -> tuple[Segment, ...]:
    """Return the segments of a window before they were written, in the counter's tokens."""
    return window.planned or tuple(_unwritten(window))


def _unwritten(window: ContextWindow) -> Iterator[Segment]:
    for segment in window.segments:
        tokens = sum(piece.tokens for piece in segment.pieces)
        whole = segment.whole
        if segment.excerpt is not None:
            whole = segment.excerpt.whole
        elif segment.form is not Form.WHOLE and segment.tokens:
            whole = whole * tokens // segment.tokens
        text = segment.text if segment.unwritten is None else segment.unwritten
        reason = segment.reason.removeprefix(window.extent(segment))
        bare = replace(segment, text=text, tokens=tokens, whole=whole, reason=reason)
        yield replace(bare, pieces=(), unwritten=None)


def is_continued(segments: Sequence[Segment], before: ContextWindow) -> bool:
    """Whether written segments begin with the bytes of the window before."""
    old, new = pieces_in(before.segments), pieces_in(segments)
    same = zip(old, new, strict=False)
    return len(old) <= len(new) and all(_sent(one) == _sent(other) for one, other in same)


def _sent(piece: Piece) -> tuple[object, ...]:
    return piece.part, piece.role, piece.message, piece.text
