"""A part of one long turn from a given character: as much of it as fits."""

from bisect import bisect_right

from jitchat.values import Turn
from jitchat.window.render import Quoting
from jitchat.window.tokens import TokenCounter
from jitchat.window.window import Excerpt, Passage

_LINE_WITHIN = 2
"""A part ends at the end of a line if there is one in the part's second half."""


def read_on(turn: Turn, start: int, room: int, counter: TokenCounter) -> tuple[Excerpt, int] | None:
    """Read a turn's text from character `start`, in `room` tokens including the markup.

    Return the excerpt and the offset to continue from, or None if nothing fits.
    """
    text, quoting = turn.content, Quoting([turn])
    before, total = counter.count(text[:start]), counter.count(text)

    def part(end: int) -> Excerpt:
        read = Passage(start, end, counter.count(text[start:end]), "as asked for")
        after = max(0, total - before - read.tokens) if end < len(text) else 0
        return Excerpt((read,), (before, after))

    def cost(end: int) -> int:
        return counter.count(quoting.excerpt(turn, part(end)))

    reach = start + room
    while reach < len(text) and cost(reach) <= room:  # a token is mostly several characters
        reach = start + 2 * (reach - start)
    ends = range(start + 1, min(reach, len(text)) + 1)
    most = start + bisect_right(ends, room, key=cost)
    while most > start and cost(most) > room:  # a longer text may count less: it is not monotone
        most -= 1
    if most == start:
        return None
    if most < len(text):
        line = text.rfind("\n", start + (most - start) // _LINE_WITHIN, most)
        most = line + 1 if line > start and cost(line + 1) <= room else most
    return part(most), most
