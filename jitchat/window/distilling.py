"""What the distilling modes have in common: statements, pins, and the turns after them.

As in `jit`, every turn is sent if that takes no more tokens than the statements do. Statements
that were not distilled from these turns, or that the user wrote or pinned, are always sent. The
draft is not part of this comparison, so the beginning of a window does not change until the
statements do.
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from jitchat.window import reasons
from jitchat.window.parts import Choice, Parts
from jitchat.window.render import pinned_segments
from jitchat.window.window import Segment, tokens_of


@dataclass(frozen=True, slots=True)
class Replacement:
    """Statements that replace the turns up to a position."""

    segments: Sequence[Segment]
    through: int
    """The position of the last turn that they replace; 0 for none."""
    after: str
    """Why a turn after that position is sent."""
    replaced: str
    """Why a turn up to that position is not sent."""
    always: Sequence[Segment] = ()
    """The statements that are sent even if every turn is sent."""


def choose_distilled(parts: Parts, replacement: Replacement, what: str, choices: str) -> Choice:
    """Send statements and every later turn, or every turn if that is no larger.

    Raises:
        WindowOverflow: The window does not fit; `what` names its contents, `choices` the remedies.

    """
    history = parts.sources.history
    start = bisect_right(history.positions, replacement.through)
    indices = (history.find(position) for position in parts.sources.pinned)
    earlier = sorted(index for index in indices if index is not None and index < start)
    pinned = pinned_segments([history.turns[index] for index in earlier], parts.counter.count)
    turns = parts.recent(start, replacement.after)
    head = (*parts.opening, *replacement.segments, *pinned, *turns)
    needed = tokens_of(head) + tokens_of(parts.bare_tail)
    whole = parts.whole + tokens_of(replacement.always)
    if whole < needed + parts.kept_line and whole <= parts.room + parts.kept_line:
        return _everything(parts, replacement, parts.room + parts.kept_line - whole)
    if needed > parts.room:
        raise parts.overflow(what, needed, choices)
    facts = parts.fitting_facts((*pinned, *turns), parts.room - needed)
    segments = (*head, *parts.tail(facts))
    why, through = replacement.replaced, replacement.through
    return Choice(segments, not_recalled=why, distilled_through=through)


def _everything(parts: Parts, replacement: Replacement, room: int) -> Choice:
    reason = reasons.PASSED_THROUGH if replacement.through else replacement.after
    turns = parts.recent(0, reason)
    facts = parts.fitting_facts(turns, room)
    has_blocks = bool(replacement.always or parts.sources.may_note)
    opening = parts.opening_with(has_blocks=has_blocks)
    return Choice((*opening, *replacement.always, *turns, *parts.tail(facts)))
