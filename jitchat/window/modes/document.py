"""`document`: the project's memory document, then what `jit` sends."""

from dataclasses import replace
from functools import partial

from jitchat.statements import Distilled, MemoryDocument
from jitchat.window.distilling import choose_with_head, fitting_head
from jitchat.window.parts import Choice, Parts
from jitchat.window.statements import document_segments


def choose(parts: Parts) -> Choice:
    distilled = parts.sources.distilled
    head = partial(fitting_head, parts, distilled.document, document_segments)
    always = fitting_head(parts, _from_elsewhere(distilled), document_segments)
    return choose_with_head(parts, head, distilled.in_document, always)


def _from_elsewhere(distilled: Distilled) -> MemoryDocument:
    """Leave out lines whose source is a turn of this conversation, unless the user kept them."""
    lines = [
        line
        for line in distilled.document.lines
        if line.is_kept or line.source is None or line.source.conversation != distilled.conversation
    ]
    return replace(distilled.document, lines=tuple(lines))
