"""What the distilling modes have in common: statements, pins, and the turns behind them.

As in `jit`, every turn is sent where that takes no more tokens than the statements do. Statements
that are not made of these turns, or that the user wrote or pinned, are sent in any case. The draft
does not count there: the beginning of a window stands still until there are other statements.
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from jitchat.window import reasons
from jitchat.window.parts import Choice, Parts
from jitchat.window.render import pinned_segments
from jitchat.window.window import Segment, tokens_of


@dataclass(frozen=True, slots=True)
class StandIn:
    """Statements that stand for the turns up to a position."""

    segments: Sequence[Segment]
    through: int
    """The position of the last turn that they stand for; 0 for none."""
    behind: str
    """Why a turn behind it is sent."""
    ahead: str
    """Why a turn up to it is not."""
    beside: Sequence[Segment] = ()
    """Those of the statements that are sent beside all turns, too."""


def choose_behind(parts: Parts, stand_in: StandIn, what: str, choices: str) -> Choice:
    """Send statements and every turn behind them; or every turn, where that is no larger.

    Raises:
        WindowOverflow: That does not fit; `what` names it, `choices` tells what to do.

    """
    history = parts.sources.history
    start = bisect_right(history.positions, stand_in.through)
    indices = (history.find(position) for position in parts.sources.pinned)
    ahead = sorted(index for index in indices if index is not None and index < start)
    pinned = pinned_segments([history.turns[index] for index in ahead], parts.counter.count)
    turns = parts.recent(start, stand_in.behind)
    head = (*parts.opening, *stand_in.segments, *pinned, *turns)
    needed = tokens_of(head) + tokens_of(parts.bare_tail)
    whole = parts.whole + tokens_of(stand_in.beside)
    if whole < needed + parts.kept_line and whole <= parts.room + parts.kept_line:
        return _everything(parts, stand_in, parts.room + parts.kept_line - whole)
    if needed > parts.room:
        raise parts.overflow(what, needed, choices)
    facts = parts.fitting_facts((*pinned, *turns), parts.room - needed)
    segments = (*head, *parts.tail(facts))
    return Choice(segments, not_recalled=stand_in.ahead, distilled_through=stand_in.through)


def _everything(parts: Parts, stand_in: StandIn, room: int) -> Choice:
    reason = reasons.PASSED_THROUGH if stand_in.through else stand_in.behind
    turns = parts.recent(0, reason)
    facts = parts.fitting_facts(turns, room)
    return Choice((*parts.opening_of_everything, *stand_in.beside, *turns, *parts.tail(facts)))
