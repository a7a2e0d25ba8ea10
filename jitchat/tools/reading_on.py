"""A part of one long turn from a given character: as much of it as fits."""

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from jitchat.values import Turn
from jitchat.window.render import Quoting
from jitchat.window.tokens import TokenCounter
from jitchat.window.window import Excerpt, Passage
from jitchat.writing.calls import full_text, starts_of, texts_of

_LINE_WITHIN = 2
"""A part ends at the end of a line if there is one in the part's second half."""


def read_on(turn: Turn, start: int, room: int, counter: TokenCounter) -> tuple[Excerpt, int] | None:
    """Read a turn's full text from character `start`, in `room` tokens including the markup.

    Return the excerpt and the offset to continue from, or None if nothing fits.
    """
    text, quoting = full_text(turn), Quoting([turn])
    before, total = counter.count(text[:start]), counter.count(text)

    def part(end: int) -> Excerpt:
        read = tuple(_passages(turn, start, end, counter))
        spent = sum(passage.tokens for passage in read)
        after = max(0, total - before - spent) if end < len(text) else 0
        between = (0,) * (len(read) - 1)
        return Excerpt(read, (before, *between, after) if read else (before + after,))

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


@dataclass(frozen=True, slots=True)
class ReadPart:
    """A part of a turn as it is quoted, and a sentence about the rest."""

    foot: str
    text: str = ""
    excerpt: Excerpt | None = None


def read_part(
    turn: Turn, start: int, room: int, counter: TokenCounter, place: str = ""
) -> ReadPart:
    """Quote a part of a turn; `place` names the turn if it is of another conversation."""
    name = place.partition(" ")[0] or f"#{turn.position}"
    length = len(full_text(turn))
    if start >= length:
        return ReadPart(f"{name} has {length:,} characters; offset {start:,} is behind it.")
    read = read_on(turn, start, room - counter.count(place), counter)
    if read is None:
        return ReadPart(f"There is no room for a part of {name}. Answer without it.")
    excerpt, end = read
    on = f"go on with offset {end}" if end < length else "that is its end"
    foot = f"Characters {start:,} to {end:,} of {length:,} of {name}; {on}."
    return ReadPart(foot, Quoting([turn]).excerpt(turn, excerpt, place), excerpt)


def _passages(turn: Turn, start: int, end: int, counter: TokenCounter) -> Iterator[Passage]:
    """Yield a passage for each text that a stretch of the turn's full text is from."""
    for call, (text, at) in enumerate(zip(texts_of(turn), starts_of(turn), strict=True)):
        first, last = max(0, start - at), min(len(text), end - at)
        if text.strip() and first < last:
            tokens = counter.count(text[first:last])
            yield Passage(first, last, tokens, "as asked for", call)
