"""What `request_context` returns from other conversations, if recall includes them.

It follows the results of the open conversation, in the room that is left. Each turn is named by
its conversation, `chat-3#12`, and can be read by that name; turns without room are only named.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from jitchat.index.other_conversations import OtherConversations
from jitchat.statements import Source
from jitchat.tools.asking import TOOL, Asked
from jitchat.tools.reading_on import read_part
from jitchat.values import ElsewhereHit, Tool
from jitchat.window.render import Quoting, noted_segment, place_elsewhere
from jitchat.window.tokens import TokenCounter
from jitchat.window.window import ContextWindow, Kind, Segment

REACHING_TOOL: Tool = replace(
    TOOL,
    description=TOOL.description.replace(
        "Earlier turns of this conversation",
        "Earlier turns of this conversation, and of others, named like chat-3#12,",
    ),
)
"""The tool's definition when recall includes other conversations."""
_NAMED = 8
"""Maximum number of turns without room that are named."""


@dataclass(frozen=True, slots=True)
class Found:
    """Quoted turns of other conversations, and a sentence about the rest."""

    noted: tuple[Segment, ...] = ()
    foot: str = ""


def found_elsewhere(
    found: Sequence[ElsewhereHit],
    asked: Asked,
    window: ContextWindow,
    room: int,
    counter: TokenCounter,
) -> Found:
    """Quote the turns that were found and are not in the window, whole, while there is room."""
    there = {segment.source for segment in window.segments if segment.source is not None}
    hits = [hit for hit in found if _source(hit) not in there and _is_of_days(hit, asked)]
    quoting = Quoting([hit.turn for hit in hits])
    noted, named = list[Segment](), list[str]()
    for hit in hits:
        text = quoting.whole(hit.turn, _place(hit))
        cost = counter.count(text)
        if cost <= room:
            room -= cost
            noted.append(noted_segment(Kind.REQUESTED, text, hit.reason, _source(hit)))
        else:
            named.append(hit.name)
    also = " ".join(named[:_NAMED])
    return Found(tuple(noted), f" Also found: {also}; read one with turn." if named else "")


def turn_elsewhere(
    others: OtherConversations, asked: Asked, room: int, counter: TokenCounter
) -> Found:
    """Quote one turn of another conversation, whole or from an offset."""
    name = f"{asked.conversation}#{asked.turn}"
    hit = others.turn(asked.conversation, asked.turn or 0)
    if hit is None:
        return Found(foot=f"There is no turn {name} in reach. Look for its words with query.")
    place = _place(hit)
    text = Quoting([hit.turn]).whole(hit.turn, place)
    cost = counter.count(text)
    if not asked.offset and cost <= room:
        noted = noted_segment(Kind.REQUESTED, text, hit.reason, _source(hit))
        return Found((noted,), f"{name} is whole, {cost:,} tokens.")
    read = read_part(hit.turn, asked.offset, room, counter, place)
    if read.excerpt is None:
        return Found(foot=read.foot)
    quoted = noted_segment(Kind.REQUESTED, read.text, hit.reason, _source(hit), read.excerpt)
    return Found((quoted,), read.foot)


def names_of(noted: Sequence[Segment]) -> tuple[str, ...]:
    """List the names of turns: `chat-3#12`."""
    sources = (each.source for each in noted if each.source is not None)
    return tuple(f"{source.conversation}#{source.first}" for source in sources)


def _source(hit: ElsewhereHit) -> Source:
    return Source(hit.turn.position, hit.turn.position, hit.conversation)


def _place(hit: ElsewhereHit) -> str:
    return place_elsewhere(hit.conversation, hit.title, hit.turn.position)


def _is_of_days(hit: ElsewhereHit, asked: Asked) -> bool:
    said_on = hit.turn.created_at.date() if hit.turn.created_at else None
    return asked.days is None or (said_on is not None and said_on in asked.days)
