"""`document`: the project's memory document, and every turn that is not in it yet."""

from dataclasses import replace

from jitchat.statements import Distilled, MemoryDocument
from jitchat.window import reasons
from jitchat.window.distilling import Replacement, choose_distilled
from jitchat.window.parts import Choice, Parts
from jitchat.window.statements import document_segments


def choose(parts: Parts) -> Choice:
    distilled = parts.sources.distilled
    through, count = distilled.in_document, parts.counter.count
    replacement = Replacement(
        document_segments(distilled.document, count),
        through,
        reasons.THIS_SESSION,
        reasons.IN_DOCUMENT,
        document_segments(_from_elsewhere(distilled), count),
    )
    what = "This session, with the memory document,"
    return choose_distilled(parts, replacement, what, "end the session (/end), switch to jit mode")


def _from_elsewhere(distilled: Distilled) -> MemoryDocument:
    """Leave out lines whose source is a turn of this conversation, unless the user kept them."""
    lines = [
        line
        for line in distilled.document.lines
        if line.is_kept or line.source is None or line.source.conversation != distilled.conversation
    ]
    return replace(distilled.document, lines=tuple(lines))
