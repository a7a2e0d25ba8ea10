"""A window that was sent, without one of its retrieved turns. Pure.

Nothing else changes: what stays is byte for byte the same, and the fence goes with its last turn.
"""

from __future__ import annotations

import re
from dataclasses import replace

from jitchat.turn import Message
from jitchat.window.window import ContextWindow, Kind, Segment

MOST = 6
"""Requests; each is a whole window."""
_OPENING = re.compile(r"\A<(recalled(?:-\d+)?)>\n")


def by_score(window: ContextWindow) -> tuple[Segment, ...]:
    """List the retrieved turns, the highest score first."""
    scores = {row.turn: row.score for row in window.ledger}
    found = [segment for segment in window.segments if segment.kind is Kind.RETRIEVED]
    return tuple(sorted(found, key=lambda segment: -scores.get(segment.turn or 0, 0.0)))


def without(window: ContextWindow, turn: int) -> tuple[Message, ...]:
    """Make the window's messages without a retrieved turn.

    Raises:
        LookupError: No such turn was retrieved.

    """
    places = [at for at, each in enumerate(window.segments) if each.kind is Kind.RETRIEVED]
    gone = next((at for at in places if window.segments[at].turn == turn), None)
    if gone is None:
        raise LookupError(turn)
    segments = list(window.segments)
    opening = _OPENING.match(segments[places[0]].text)
    if opening is not None and len(places) > 1:
        if gone == places[0]:
            segments[gone + 1] = _changed(segments[gone + 1], opening[0], "")
        elif gone == places[-1]:
            segments[gone - 1] = _changed(segments[gone - 1], "", f"</{opening[1]}>\n")
    del segments[gone]
    return replace(window, segments=tuple(segments)).messages()


def _changed(segment: Segment, ahead: str, behind: str) -> Segment:
    return replace(segment, text=f"{ahead}{segment.text}{behind}")
