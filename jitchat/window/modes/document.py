"""`document`: the project's memory document, and every turn that is not in it yet."""

from dataclasses import replace

from jitchat.statements import Distilled, MemoryDocument
from jitchat.window import reasons
from jitchat.window.distilling import StandIn, choose_behind
from jitchat.window.parts import Choice, Parts
from jitchat.window.statements import document_segments


def choose(parts: Parts) -> Choice:
    distilled = parts.sources.distilled
    through, count = distilled.in_document, parts.counter.count
    stand_in = StandIn(
        document_segments(distilled.document, count),
        through,
        reasons.THIS_SESSION,
        reasons.IN_DOCUMENT,
        document_segments(_beside_turns(distilled), count),
    )
    what = "This session, with the memory document,"
    return choose_behind(parts, stand_in, what, "end the session (/end), switch the mode to jit")


def _beside_turns(distilled: Distilled) -> MemoryDocument:
    """Leave out what the turns of this conversation say themselves."""
    lines = [
        line
        for line in distilled.document.lines
        if line.is_kept or line.source is None or line.source.conversation != distilled.conversation
    ]
    return replace(distilled.document, lines=tuple(lines))
