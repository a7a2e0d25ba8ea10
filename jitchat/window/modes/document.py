"""`document`: the project's memory document, and every turn that is not in it yet."""

from jitchat.window import reasons
from jitchat.window.distilling import StandIn, choose_behind
from jitchat.window.parts import Choice, Parts
from jitchat.window.statements import document_segments


def choose(parts: Parts) -> Choice:
    distilled = parts.sources.distilled
    segments = document_segments(distilled.document, parts.counter.count)
    stand_in = StandIn(segments, distilled.in_document, reasons.THIS_SESSION, reasons.IN_DOCUMENT)
    what = "This session, with the memory document,"
    return choose_behind(parts, stand_in, what, "end the session (/end), switch the mode to jit")
