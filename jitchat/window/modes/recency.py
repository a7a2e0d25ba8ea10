"""`recency`: system, the recent block and the draft, and nothing else, for a fair comparison."""

from jitchat.window import reasons
from jitchat.window.parts import Choice, Parts


def choose(parts: Parts) -> Choice:
    parts.require(parts.fixed)
    start = parts.fitting_start(parts.wanted_start(), parts.fixed)
    opening = parts.opening_with(has_blocks=False, start=start)
    segments = (*opening, *parts.recent(start), *parts.bare_tail)
    squeezed = parts.squeezed(start, parts.fixed)
    return Choice(segments, squeezed=squeezed, not_recalled=reasons.BEFORE_RECENT)
