"""A part of one long turn, from some character on: as much of it as there is room for."""

from bisect import bisect_right

from jitchat.values import Turn
from jitchat.window.render import Quoting
from jitchat.window.tokens import TokenCounter
from jitchat.window.window import Excerpt, Passage

_LINE_WITHIN = 2
"""A part ends with a line, where one ends in its second half."""


def read_on(turn: Turn, start: int, room: int, counter: TokenCounter) -> tuple[Excerpt, int] | None:
    """Read a turn's text from character `start`, for `room` tokens with all markup.

    Gives what is read, and where to go on; None where the room is too small for any of it.
    """
    text, quoting = turn.content, Quoting([turn])

    def part(end: int) -> Excerpt:
        ahead, behind = counter.count(text[:start]), counter.count(text[end:])
        read = Passage(start, end, counter.count(text[start:end]), "as asked for")
        return Excerpt((read,), (ahead, behind))

    def cost(end: int) -> int:
        return counter.count(quoting.excerpt(turn, part(end)))

    most = start + bisect_right(range(start + 1, len(text) + 1), room, key=cost)
    while most > start and cost(most) > room:  # a longer text may count less: it is not monotone
        most -= 1
    if most == start:
        return None
    if most < len(text):
        line = text.rfind("\n", start + (most - start) // _LINE_WITHIN, most)
        most = line + 1 if line > start and cost(line + 1) <= room else most
    return part(most), most
